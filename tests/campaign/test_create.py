"""Campaigns that several processes create at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier

from scripted import planned

from dlperf.campaign.create import create_campaign
from dlperf.errors import RequestError
from dlperf.plan import Plan, Selection, TrialKey
from dlperf.plan.model import interleaved
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.store import read_campaign

AT_ONCE = 8


def create_at_once(folder: Path, name: str | None) -> list[str | None]:
    """Return the token of each campaign that was created; None for one that was refused."""
    (folder / "runs").mkdir()
    together = Barrier(AT_ONCE)

    def create(number: int) -> str | None:
        plan = Plan(Selection(), (planned("a", repeats=number + 1),))
        together.wait()
        try:
            return read_campaign(create_campaign(WorkspacePaths(folder), plan, name)).token
        except RequestError:
            return None

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(create, range(AT_ONCE)))


def test_only_one_campaign_gets_a_name(tmp_path: Path):
    assert sum(token is not None for token in create_at_once(tmp_path, "try")) == 1


def test_campaigns_without_a_name_get_folders_of_their_own(tmp_path: Path):
    tokens = create_at_once(tmp_path, None)
    assert None not in tokens
    assert len(set(tokens)) == AT_ONCE


def test_the_order_of_those_compared_is_drawn_in_each_round_and_can_be_drawn_again_from_the_record(tmp_path: Path):
    (tmp_path / "runs").mkdir()
    own_axis = replace(planned("b", repeats=20).configuration, axes=(("compile", "yes"),))
    compared = (planned("a", repeats=20), replace(planned("b", repeats=20), configuration=own_axis))
    plan = Plan(Selection(), (*compared, planned("c", "m2", repeats=20)))
    record = read_campaign(create_campaign(WorkspacePaths(tmp_path), plan, "try"))
    assert record.trials == interleaved(record.configurations, record.seed)
    a, b, c = (item.configuration.id for item in plan.configurations)
    rounds = [record.trials[start : start + 3] for start in range(0, 60, 3)]
    for number, trials in enumerate(rounds, 1):
        assert set(trials[:2]) == {TrialKey(a, number), TrialKey(b, number)}
        assert trials[2] == TrialKey(c, number), "compared with none: its place is that of the plan"
    assert {trials[0].configuration for trials in rounds} == {a, b}, "that one is always first: 1 in 524288"
