"""Render a launch into the exact files and commands of each node. Pure."""

from dlperf.render.trial import RenderedNode, Runtime, render_trial

__all__ = ["RenderedNode", "Runtime", "render_trial"]
