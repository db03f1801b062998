"""What DLPerf computed from single runs, computed again from the same runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlperf.measured.findings.trials import findings_of_scaling, findings_of_trials
from dlperf.measured.statistics import Aggregate, aggregate, speedup
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.published import PublishedFigure, load_reports

REPOSITORY = WorkspacePaths(Path(__file__).parents[2])
GPUS = (1, 4, 8, 16, 32)


@pytest.fixture(scope="module")
def figures() -> tuple[PublishedFigure, ...]:
    return next(report for report in load_reports(REPOSITORY) if report.id == "plsc-arcface").figures


def trials(figures: tuple[PublishedFigure, ...], gpus: int) -> list[float]:
    return [f.value for f in figures if f.gpus == gpus and f.metric.startswith("throughput_run_") and f.value]


def printed(figures: tuple[PublishedFigure, ...], gpus: int, metric: str) -> float:
    (figure,) = [figure for figure in figures if (figure.gpus, figure.metric) == (gpus, metric)]
    return float(figure.printed)


def median_of(figures: tuple[PublishedFigure, ...], gpus: int) -> Aggregate:
    return aggregate(trials(figures, gpus))


@pytest.mark.parametrize("gpus", GPUS)
def test_median_mean_and_speedup_of_five_runs_are_the_published_ones(figures, gpus: int) -> None:
    median = median_of(figures, gpus)

    assert median.n == 5
    assert round(median.value, 2) == printed(figures, gpus, "throughput_median")
    assert aggregate(trials(figures, gpus), "mean").value == pytest.approx(
        printed(figures, gpus, "throughput_average"), abs=0.01
    )
    assert speedup(median.value, median_of(figures, 1).value) == pytest.approx(
        printed(figures, gpus, "speedup"), abs=0.005
    )


@pytest.mark.parametrize("gpus", GPUS)
def test_the_published_runs_agree_among_themselves(figures, gpus: int) -> None:
    assert findings_of_trials(trials(figures, gpus), repeats=5) == ()


def test_the_published_series_does_not_scale_as_it_could(figures) -> None:
    found = findings_of_scaling({gpus: median_of(figures, gpus).value for gpus in GPUS})

    assert [gpus for gpus in GPUS if found[gpus]] == [16]
