"""Requests of viewers to an engine: lines of ``control.jsonl``."""

from __future__ import annotations

import getpass
import os
from typing import Literal

from dlperf.plan import TrialKey
from dlperf.runs.clock import utc_now
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.records import Request
from dlperf.runs.store import append_records

Action = Literal["cancel", "retry", "pause", "resume"]


def ask(paths: CampaignPaths, action: Action, trial: TrialKey | None = None) -> None:
    """Ask the campaign's engine, now or when the next one starts, to act on a trial or on the whole campaign."""
    append_records(paths.control, [Request(utc_now(), action, str(trial) if trial else None, _who())])


def _who() -> str:
    try:
        return f"{getpass.getuser()} ({os.getpid()})"
    except (KeyError, OSError):
        return f"user {os.getuid()} ({os.getpid()})"
