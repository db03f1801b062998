"""Start an engine without a terminal, which outlives the shell that started it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import dlperf
from dlperf.errors import DlperfError
from dlperf.runs.lock import engine_pid
from dlperf.runs.paths import CampaignPaths, Workspace
from dlperf.runs.records import Event
from dlperf.runs.store import open_private, read_records

START_SECONDS = 30.0


def start_detached(workspace: Workspace, paths: CampaignPaths) -> int:
    """Start an engine in its own session, wait until it works, and return its process id.

    Raises:
        DlperfError: it ended at once, or did not begin in time; the error quotes the last line of ``engine.log``.
    """
    begun = paths.journal.stat().st_size if paths.journal.exists() else 0
    process = _spawn(workspace, paths)
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if _has_started(paths, begun):
            return process.pid
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise DlperfError(f"the engine did not start: {_last_line(paths.engine_log)}")


def _spawn(workspace: Workspace, paths: CampaignPaths) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dlperf", "--workspace", str(workspace.root), "resume", "--", paths.name]
    package = Path(dlperf.__file__).parents[1]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (str(package), os.getenv("PYTHONPATH"))))}
    with open(paths.engine_log, "ab", opener=open_private) as log:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=environment
        )


def _has_started(paths: CampaignPaths, begun: int) -> bool:
    events, _ = read_records(paths.journal, Event, begun)
    started = any(event.event == "campaign_started" for event in events)
    finished = any(event.event == "campaign_finished" for event in events)
    return started and (finished or engine_pid(paths) is not None)


def _last_line(path: Path) -> str:
    lines = path.read_text(errors="replace").strip().splitlines() if path.exists() else []
    return lines[-1] if lines else "no output"
