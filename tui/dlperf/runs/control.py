"""Requests of viewers to an engine: lines of ``control.jsonl``."""

import getpass
import json
import os
from contextlib import suppress
from typing import Any, Literal

from dlperf.plan import TrialKey
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.records import Request, utc_now
from dlperf.runs.store import append_lines, read_lines

Action = Literal["cancel", "retry", "pause", "resume", "add"]


def ask(paths: CampaignPaths, action: Action, trial: TrialKey | None = None) -> None:
    """Ask the campaign's engine, now or when the next one starts, to act on a trial or on the whole campaign.

    Raises:
        DlperfError: the campaign is gone, or its file cannot be written.
    """
    request = Request(utc_now(), action, str(trial) if trial else None, _requester())
    append_lines(paths.existing().control, [vars(request)])


def read_answers(paths: CampaignPaths, offset: int) -> tuple[list[dict[str, Any]], int]:
    """Return the ``data`` of the engine's answers from a byte offset on, and the offset to continue from.

    It does not load the schema of events, which takes longer than the engine needs to answer.
    """
    lines, offset = read_lines(paths.journal, offset)
    found = []
    for line in lines:
        with suppress(ValueError, RecursionError):  # a damaged line
            event = json.loads(line) if b'"request"' in line else None
            if isinstance(event, dict) and event.get("event") == "request" and isinstance(event.get("data"), dict):
                found.append(event["data"])
    return found, offset


def _requester() -> str:
    try:
        return f"{getpass.getuser()} ({os.getpid()})"
    except (KeyError, OSError):
        return f"user {os.getuid()} ({os.getpid()})"
