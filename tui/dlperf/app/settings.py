"""What one window of dlperf-tui is started with, and what it keeps when it is drawn anew in another language."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dlperf.app.model.choice import Choice
from dlperf.messages import Code
from dlperf.runs.clock import utc_now
from dlperf.runs.paths import Workspace

LOCAL_FRAMES = 10
REMOTE_FRAMES = 5
"""Frames per second: each costs bytes, and over ssh they cross a network."""


@dataclass
class Settings:
    """A window's settings."""

    workspace: Workspace
    language: Code = "en"
    dark: bool = True
    plain: bool = False
    """Draw with ASCII alone."""
    frames_per_second: int = LOCAL_FRAMES
    now: Callable[[], str] = utc_now
    start_screen: str = "campaigns"
    choice: Choice = field(default_factory=Choice)
    """What is marked on the Choose screen."""


def frames_per_second(environment: Mapping[str, str] = os.environ) -> int:
    """How often to look and draw."""
    return REMOTE_FRAMES if "SSH_CONNECTION" in environment else LOCAL_FRAMES
