"""Start campaigns and their engines in the background."""

import os
import subprocess
import sys
import time
from pathlib import Path

import dlperf
from dlperf.campaign.create import create_campaign, refuse_examples
from dlperf.errors import DlperfError, RequestError
from dlperf.opening import last_line, private_writer, size_of
from dlperf.plan import Plan
from dlperf.runs.control import ask
from dlperf.runs.journal import campaign_status
from dlperf.runs.lock import engine_pid
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.records import Event
from dlperf.runs.store import read_records

START_SECONDS = 30.0
"""For an engine to work."""


def start_campaign(workspace: WorkspacePaths, plan: Plan, name: str | None = None) -> tuple[CampaignPaths, int]:
    """Create a campaign and start its engine; return its paths and the engine's process id.

    Raises:
        DlperfError: the plan cannot run, the name is taken, or the engine did not start.
    """
    refuse_examples(plan)
    paths = create_campaign(workspace, plan, name)
    return paths, start_detached(workspace, paths)


def resume_campaign(workspace: WorkspacePaths, paths: CampaignPaths) -> int | None:
    """Lift a pause, or start an engine if none runs; return the process id of an engine that was started.

    Raises:
        DlperfError: an engine runs already, or did not start.
    """
    pid = lift_pause(paths)
    return start_detached(workspace, paths) if pid is None else None


def lift_pause(paths: CampaignPaths) -> int | None:
    """Request the end of a pause; return the engine's process id, None if none runs.

    Raises:
        RequestError: an engine runs and is not paused.
    """
    pid = engine_pid(paths)
    if campaign_status(paths).paused:
        ask(paths, "resume")
    elif pid is not None:
        raise RequestError(f"campaign {paths.name!r}: its engine is running (process {pid}) and is not paused")
    return pid


def start_detached(workspace: WorkspacePaths, paths: CampaignPaths) -> int:
    """Start an engine in its own session, wait until it works, and return its process id.

    Raises:
        DlperfError: it ended at once, or did not begin in time; the error quotes the last line of ``engine.log``.
    """
    begun = size_of(paths.journal)
    process = _spawn(workspace, paths)
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if _has_started(paths, begun):
            return process.pid
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise DlperfError(f"the engine did not start: {last_line(paths.engine_log) or 'no output'}")


def _spawn(workspace: WorkspacePaths, paths: CampaignPaths) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dlperf", "--workspace", str(workspace.root), "resume", "--", paths.name]
    package = Path(dlperf.__file__).parents[1]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (str(package), os.getenv("PYTHONPATH"))))}
    with open(paths.engine_log, "ab", opener=private_writer) as log:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=environment
        )


def _has_started(paths: CampaignPaths, begun: int) -> bool:
    events, _ = read_records(paths.journal, Event, begun)
    started = any(event.event == "campaign_started" for event in events)
    finished = any(event.event == "campaign_finished" for event in events)
    return started and (finished or engine_pid(paths) is not None)
