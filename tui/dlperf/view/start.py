"""Start campaigns and their engines in the background."""

from __future__ import annotations

from dlperf.campaign.create import create_campaign, refuse_examples
from dlperf.campaign.detach import start_detached
from dlperf.errors import RequestError
from dlperf.plan import Plan
from dlperf.runs.control import ask
from dlperf.runs.journal import campaign_status
from dlperf.runs.lock import engine_pid
from dlperf.runs.paths import CampaignPaths, Workspace


def start_campaign(workspace: Workspace, plan: Plan, name: str | None = None) -> tuple[CampaignPaths, int]:
    """Create a campaign and start its engine; return its paths and the engine's process id.

    Raises:
        DlperfError: the plan cannot run, the name is taken, or the engine did not start.
    """
    refuse_examples(plan)
    paths = create_campaign(workspace, plan, name)
    return paths, start_detached(workspace, paths)


def resume_campaign(workspace: Workspace, paths: CampaignPaths) -> int | None:
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
