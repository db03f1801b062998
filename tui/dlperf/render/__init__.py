"""A launch → the exact files and commands of each node. Pure: it starts nothing and reads nothing."""

from dlperf.render.trial import RenderedNode, Runtime, render_trial

__all__ = ["RenderedNode", "Runtime", "render_trial"]
