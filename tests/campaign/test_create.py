"""Campaigns that several processes create at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from scripted import planned

from dlperf.campaign.create import create_campaign
from dlperf.errors import RequestError
from dlperf.plan import Plan, Selection
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
