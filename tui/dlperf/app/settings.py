"""The settings of one dlperf-tui, kept when it starts anew in another language."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlperf.app.model.choice import Choice
from dlperf.messages import Code
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import utc_now

REMEMBERED = Path(".dlperf") / "tui.json"
"""File of a user's settings, in the home folder."""
LOCAL_FRAMES, REMOTE_FRAMES = 10, 5
"""Frames per second: over ssh each costs bytes."""


@dataclass
class TerminalSettings:
    workspace: WorkspacePaths
    language: Code = "en"
    dark: bool = True
    plain: bool = False
    frames_per_second: int = LOCAL_FRAMES
    now: Callable[[], str] = utc_now
    start_screen: str = "campaigns"
    choice: Choice = field(default_factory=Choice)
    watched: str | None = None
    """The campaign on the Watch screen."""
    remembered: Path | None = None
    """File that keeps language and theme for the next start."""
    memories: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What each screen showed when it was left."""

    def remember(self) -> None:
        """Keep language and theme for the next start, where the file can be written."""
        if self.remembered is not None:
            with suppress(OSError):
                self.remembered.parent.mkdir(parents=True, exist_ok=True)
                self.remembered.write_text(json.dumps({"language": self.language, "dark": self.dark}) + "\n")


def recall(path: Path) -> dict[str, Any]:
    """Return what was remembered; nothing of a file that is missing or damaged."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
