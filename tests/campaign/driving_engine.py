"""Running an engine to its end, and what its journal says then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from scripted import QUICK, ScriptedExecutor

from dlperf.campaign.dependencies import Timeouts
from dlperf.campaign.engine import run_campaign
from dlperf.runs.journal import campaign_status
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.records import Event
from dlperf.runs.store import read_records
from waiting import PATIENCE_SECONDS, until_async

A, B = "on-m1_a_case_fp32_bs32_1n1g", "on-m1_b_case_fp32_bs32_1n1g"


async def run(paths: CampaignPaths, executor: ScriptedExecutor, timeouts: Timeouts = QUICK) -> str | None:
    return await asyncio.wait_for(run_campaign(paths, executor.dependencies, timeouts), PATIENCE_SECONDS)


async def until(condition: Callable[[], object]) -> None:
    await until_async(condition, "it never came")


def states(paths: CampaignPaths) -> dict[str, str]:
    """``a.1`` → state."""
    trials = campaign_status(paths).trials
    return {f"{key.configuration.split('_')[1]}.{key.number}": str(trial.state) for key, trial in trials.items()}


def events(paths: CampaignPaths, name: str) -> list[Event]:
    return [event for event in read_records(paths.journal, Event)[0] if event.event == name]
