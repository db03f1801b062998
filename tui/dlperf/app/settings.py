"""The settings of one dlperf-tui, kept when it starts anew in another language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dlperf.app.model.choice import Choice
from dlperf.messages import Code
from dlperf.runs.paths import Workspace
from dlperf.runs.records import utc_now

LOCAL_FRAMES, REMOTE_FRAMES = 10, 5
"""Frames per second: over ssh each costs bytes."""


@dataclass
class Settings:
    workspace: Workspace
    language: Code = "en"
    dark: bool = True
    plain: bool = False
    frames_per_second: int = LOCAL_FRAMES
    now: Callable[[], str] = utc_now
    start_screen: str = "campaigns"
    choice: Choice = field(default_factory=Choice)
    watched: str | None = None
    """The campaign on the Watch screen."""
    memories: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What each screen showed when it was left."""
