"""An engine goes on whatever the agents of a machine answer, and measures on the others."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripted import QUICK, campaign, planned

from dlperf.campaign.dependencies import EngineDependencies
from dlperf.campaign.engine import run_campaign
from dlperf.executors import direct
from dlperf.executors.direct import DirectExecutor
from dlperf.nodes import connection
from dlperf.plan import PlannedConfiguration, TrialKey
from dlperf.runs.journal import campaign_status
from dlperf.runs.paths import CampaignPaths
from hostile_agent import FakeAgent, ReadyAgent, SoundAgent
from waiting import PATIENCE_SECONDS

EXAMPLES = 40
SOUND = TrialKey("on-m2_b_case_fp32_bs32_1n1g", 1)
IMPATIENT = replace(QUICK, silence=0.05, first_answer=0.05, late=0.05, collect=0.05)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "FIRST_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(connection, "LONGEST_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(direct, "SHORTEST_WAIT_SECONDS", 0.0)


def of_a_second(framework: str, host: str) -> PlannedConfiguration:
    """A configuration whose trials have a deadline of a tenth of a second."""
    item = planned(framework, host, repeats=1)
    return replace(item, launch=replace(item.launch, deadline_seconds=0.1))


async def ended(paths: CampaignPaths, dependencies: EngineDependencies) -> None:
    """Run an engine to its end."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        await run_campaign(paths, dependencies, IMPATIENT)


@settings(
    max_examples=EXAMPLES, database=None, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.sampled_from((FakeAgent, ReadyAgent)), st.integers(0, 2**64))
def test_trials_of_a_hostile_machine_end_and_others_are_not_disturbed(
    tmp_path: Path, kind: type[FakeAgent], seed: int
) -> None:
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    paths = campaign(folder, of_a_second("a", "m1"), of_a_second("b", "m2"))
    agents = {"m1": kind(seed), "m2": SoundAgent(seed)}
    executor = DirectExecutor(transport=lambda machine: agents[machine.host])
    asyncio.run(ended(paths, EngineDependencies(lambda _: executor)))
    assert agents["m1"].answers > 0
    trials = campaign_status(paths).trials
    assert all(trial.state.finished for trial in trials.values())
    assert str(trials[SOUND].cause) == "exit code 1; last output: started"
    assert paths.trial(SOUND).node("m2").log.read_bytes() == SoundAgent.LOG
    assert {path.relative_to(folder).parts[0] for path in folder.rglob("*")} == {"mkdocs.yml", "runs"}
