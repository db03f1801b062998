"""Order statistics are those of the sorted list, however few numbers are sorted at a time."""

from __future__ import annotations

import statistics

import pytest
from handmade_runs import run_of
from hypothesis import given
from hypothesis import strategies as st

from dlperf.measure import order
from dlperf.measure.figure import figure
from dlperf.measure.order import at_rank, median

FLOATS = st.floats(-1e9, 1e9) | st.sampled_from([0.0, -0.0, 1.0, 390.25])


@pytest.fixture(autouse=True, scope="module")
def few_at_a_time():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order, "HELD", 4)
        patch.setattr(order, "SAMPLE", 3)
        patch.setattr(order, "MARGIN", 1)
        yield


@given(st.lists(FLOATS, min_size=1, max_size=60), st.data())
def test_the_number_at_a_rank_is_that_of_the_sorted_list(numbers: list[float], data: st.DataObject) -> None:
    rank = data.draw(st.integers(0, len(numbers) - 1))
    number = sorted(numbers)[rank]
    below, up_to = sum(other < number for other in numbers), sum(other <= number for other in numbers)
    assert at_rank(numbers, rank) == (number, below, up_to)


@given(st.lists(FLOATS, min_size=1, max_size=60))
def test_the_median_is_that_of_the_sorted_list(numbers: list[float]) -> None:
    assert median(numbers) == statistics.median(numbers)


@given(st.lists(st.sampled_from([1.0, 2.0, 2.5, 3.0, float("nan")]) | st.floats(1, 9), min_size=14, max_size=60))
def test_trimming_leaves_what_sorting_leaves(values: list[float]) -> None:
    usable = [(value, place) for place, value in enumerate(values) if value == value]
    trim = max(int(len(usable) * 0.05), 5)
    kept = sorted(place for _, place in sorted(usable)[trim:-trim])
    if len(usable) <= 10:
        return
    estimate = figure(run_of(value=values), "tipc(skip=0)").estimate
    assert estimate.value == statistics.fmean(values[place] for place in kept)
    assert (estimate.first, estimate.last, estimate.samples) == (kept[0], kept[-1], len(kept))
