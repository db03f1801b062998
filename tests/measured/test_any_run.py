"""Whatever a log holds: a figure is a speed, or there is a reason for none."""

from __future__ import annotations

from array import array
from math import inf, isfinite, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlperf.formats.samples import Run
from dlperf.measured.findings.runs import checked_run, findings_of_run
from dlperf.measured.throughput.figure import Figure, figure_of
from dlperf.measured.throughput.lost import lost_time
from dlperf.measured.throughput.reading import NotEstimable, Reading
from handmade_runs import COLUMNS, run_of

NUMBERS = st.sampled_from([nan, inf, -inf, -1.0, 0.0, 1e-300, 0.5, 1.0, 2.0, 10.0, 20.0, 1e300])
COUNTS = st.sampled_from([None, 1, 8])


@st.composite
def runs(draw: st.DrawFn) -> Run:
    length = draw(st.integers(0, 14))
    columns = {name: draw(st.lists(NUMBERS, min_size=length, max_size=length)) for name in COLUMNS}
    run = run_of(
        scope=draw(st.sampled_from(["global", "per_gpu", "per_node"])),
        window=draw(st.sampled_from(["step", "interval", "cumulative"])),
        unit=draw(st.sampled_from(["images/s", "tokens/s"])),
        summaries=draw(st.lists(NUMBERS, max_size=2)),
        epochs=draw(st.lists(NUMBERS, max_size=3)),
        metadata={"gpus": draw(COUNTS), "batch_size": draw(COUNTS), "global_batch_size": draw(COUNTS)},
        **columns,
    )
    run.samples.line = array("q", range(2, 2 * length + 2, 2))
    run.pauses = {"evaluation": array("q", draw(st.lists(st.integers(0, 30), max_size=4)))}
    return run


@pytest.mark.parametrize(
    "rule",
    [
        None,
        "mean()",
        "tailmean(2)",
        "window(0, 2)",
        "tipc(skip=0)",
        "rate(skip=0)",
        "rate(skip=1, take=1)",
        "batch_over_time(skip=1)",
        "summary()",
        "hmean_epochs(1)",
    ],
)
@settings(max_examples=40)
@given(run=runs(), gpus=COUNTS, batch_size=COUNTS)
def test_every_figure_is_a_finite_speed_or_has_a_reason(
    rule: str | None, run: Run, gpus: int | None, batch_size: int | None
) -> None:
    reading = Reading(run, gpus, None, batch_size)
    try:
        result = figure_of(reading, rule)
    except NotEstimable:
        result = None
    found = findings_of_run(checked_run(reading, result))
    lost = lost_time(reading, 0)

    assert all(isfinite(value) and value > 0 for value in all_values(result))
    assert lost is None or 0 <= lost.share < inf
    assert all("nan" not in str(finding.message).split() for finding in found)


def all_values(result: Figure | None) -> list[float]:
    if result is None:
        return []
    sources = [result.value, result.value_from_timestamps, result.value_printed, *result.estimates.values()]
    return [value for value in sources if value is not None]
