"""The screens of campaigns show the values, the best result, its caveats and the scaling of ``dlperf results``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from builder import POINTS, PROTOCOL, CampaignBuilder, clock, make_workspace, planned
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dlperf.app.model.trials import by_configuration
from dlperf.app.watching import WatchedCampaign
from dlperf.catalog.units import Aggregation
from dlperf.evidence.logs import log_reader
from dlperf.messages.finding import error, warning
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import Event
from dlperf.runs.store import read_campaign
from dlperf.table import load
from dlperf.table.load import load_campaign, load_results
from dlperf.view.campaigns import CampaignSummary, read_summary
from dlperf.view.text import value_text

VALUES = st.lists(st.floats(100, 1e5), min_size=1, max_size=6)
Excluded = frozenset[tuple[int, int]]
"""Configuration and trial whose value stays out."""


def ended_campaign(
    workspace: WorkspacePaths, sides: tuple[list[float], ...], how: Aggregation, uncounted: int, excluded: Excluded
) -> None:
    """Write a campaign whose first trial has a caveat."""
    protocol = replace(PROTOCOL, aggregate=how)
    plans = [
        replace(planned(point, len(values)), protocol=protocol, uncounted=uncounted)
        for point, values in zip(POINTS, sides, strict=False)
    ]
    builder = CampaignBuilder(workspace, "one", plans)
    names = [item.configuration.id for item in plans]
    for key in builder.trials:
        at = names.index(key.configuration), key.number - 1
        findings = [error("mixed_programs", count=3)] * (at in excluded) + [warning("contended_cpu", share=0.5)] * (
            at == (0, 0)
        )
        builder.succeeded(key, sides[at[0]][at[1]], findings=tuple(findings))
    builder.event(Event(clock(9000), "campaign_finished"))


@settings(max_examples=40, deadline=None)
@given(
    st.tuples(VALUES, VALUES),
    st.sampled_from(["median", "mean", "olympic"]),
    st.integers(0, 1),
    st.frozensets(st.tuples(st.integers(0, 1), st.integers(0, 5)), max_size=3),
)
@example(([900.0, 100.0, 110.0], [50.0]), "median", 1, frozenset())
@example(([900.0, 100.0, 110.0], [50.0]), "median", 0, frozenset({(0, 0)}))
@example(([900.0, 100.0, 110.0], [50.0]), "mean", 0, frozenset())
def test_the_best_result_and_the_scaling_of_a_campaign_are_those_of_its_rows(
    sides: tuple[list[float], ...], how: Aggregation, uncounted: int, excluded: Excluded
) -> None:
    with TemporaryDirectory() as folder:
        workspace = make_workspace(Path(folder))
        ended_campaign(workspace, sides, how, uncounted, excluded)
        found = read_summary(workspace.campaign("one"), None, lambda: log_reader(workspace))
        watched = WatchedCampaign(workspace.campaign("one"))
        rows = [row for row in load_results(workspace) if row.value is not None]
    best = max(rows, key=lambda row: row.score, default=None)
    assert found.best == (best and (best.value, value_text(best, best.unit)))
    assert found.is_marked == bool(best and best.caveats)
    shown = {name: watched.value_of(name, trials) for name, trials in by_configuration(watched.status).items()}
    assert {name: value for name, value in shown.items() if value is not None} == {row.id: row.value for row in rows}
    assert found.scaling == max(((row.speedup, 8) for row in rows if row.speedup and row.gpus_total == 8), default=None)


def test_results_are_read_again_only_when_a_trial_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = make_workspace(tmp_path)
    ended_campaign(workspace, ([900.0], [50.0]), "median", 0, frozenset())
    read = []
    monkeypatch.setattr(load, "load_campaign", lambda *given: read.append(given) or load_campaign(*given))
    paths = workspace.campaign("one")
    first = read_summary(paths, None, lambda: log_reader(workspace))
    assert read_summary(paths, None, lambda: log_reader(workspace), first) == first
    assert len(read) == 1
    read_summary(paths, None, lambda: log_reader(workspace), CampaignSummary("one"))
    assert len(read) == 2


def test_a_missing_result_is_measured_again_for_the_best_result_too(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    ended_campaign(workspace, ([900.0, 500.0, 505.0], [50.0]), "median", 0, frozenset())
    paths = workspace.campaign("one")
    key = next(key for key in read_campaign(paths).trials if key.number == 2)
    paths.trial(key).result.unlink()
    rows = [row for row in load_results(workspace) if row.value is not None]
    best = max(rows, key=lambda row: row.score)
    found = read_summary(paths, None, lambda: log_reader(workspace))
    assert found.best == (best.value, value_text(best, best.unit))
