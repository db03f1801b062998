"""The rules that turn samples into one figure."""

import statistics
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dlperf.errors import RequestError
from dlperf.formats.samples import Run
from dlperf.measured.throughput.estimators import estimate, parse_estimator
from dlperf.measured.throughput.reading import NotEstimable, Reading
from dlperf.measured.throughput.rules import ESTIMATORS
from handmade_runs import run_of

CASES = yaml.safe_load((Path(__file__).parent.parent / "data" / "estimators" / "cases.yaml").read_text())


def estimate_of(case: dict[str, Any]) -> Any:
    known = {key: case.get(key) for key in ("gpus", "gpus_per_node", "batch_size")}
    return estimate(Reading(run_of(**case["run"]), **known), case["estimator"])


@pytest.mark.parametrize("case", [case for case in CASES if "gives" in case], ids=lambda case: case["name"])
def test_an_estimator_gives_the_figure_worked_out_by_hand(case: dict[str, Any]) -> None:
    result = estimate_of(case)

    expected = dict(case["gives"])
    assert result.value == pytest.approx(expected.pop("value"), rel=1e-12)
    assert {key: getattr(result, key) for key in expected} == expected


@pytest.mark.parametrize("case", [case for case in CASES if "reason" in case], ids=lambda case: case["name"])
def test_an_estimator_says_why_there_is_no_figure(case: dict[str, Any]) -> None:
    with pytest.raises(NotEstimable) as refusal:
        estimate_of(case)

    assert str(refusal.value) == case["reason"]


def test_every_estimator_has_a_case() -> None:
    assert {parse_estimator(case["estimator"]).name for case in CASES} == set(ESTIMATORS)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("mean", "mean()"),
        ("skipmean(k=10)", "skipmean(10)"),
        (" tipc( ) ", "tipc(skip=10)"),
        ("rate(20,100)", "rate(skip=20, take=100)"),
        ("rate(take=100, skip=20)", "rate(skip=20, take=100)"),
        ("rate()", "rate(skip=0)"),
        ("window(20,120)", "window(20, 120)"),
    ],
)
def test_an_estimator_has_one_canonical_text(text: str, canonical: str) -> None:
    assert str(parse_estimator(text)) == canonical
    assert str(parse_estimator(canonical)) == canonical


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("median()", "choose mean(), skipmean(k)"),
        ("skipmean()", "missing a required argument"),
        ("skipmean(-1)", "'-1' is not a whole number"),
        ("skipmean(ten)", "'ten' is not a whole number"),
        ("tailmean(0)", "n must be at least 1"),
        ("window(120, 20)", "b must be more than a"),
        ("mean(1)", "too many positional arguments"),
        ("rate(1, skip=2)", "multiple values for argument 'skip'"),
        ("rate(skip=1, skip=2)", "skip is given twice"),
        ("mean(); import os", "is unknown"),
        ("", "is unknown"),
    ],
)
def test_a_wrong_estimator_is_refused_with_what_would_be_right(text: str, words: str) -> None:
    with pytest.raises(RequestError, match="estimator") as refusal:
        parse_estimator(text)

    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_the_order_of_records_is_that_of_the_file() -> None:
    """Paddle logs copied by a launcher hold later steps before earlier lines of others: nothing is sorted."""
    run: Run = run_of(value=[5, 1, 9], step=[3, 1, 2], epoch=[0, 0, 0])

    assert estimate(Reading(run), "skipmean(1)").value == 5.0


@given(st.lists(st.sampled_from([1.0, 2.0, 2.5, 3.0, float("nan")]) | st.floats(1, 9), min_size=14, max_size=60))
def test_tipc_leaves_out_the_lowest_and_the_highest(values: list[float]) -> None:
    usable = [(value, place) for place, value in enumerate(values) if value == value]
    trim = max(int(len(usable) * 0.05), 5)
    kept = sorted(place for _, place in sorted(usable)[trim:-trim])
    if len(usable) <= 10:
        return
    result = estimate(Reading(run_of(value=values)), "tipc(skip=0)")
    assert result.value == statistics.fmean(values[place] for place in kept)
    assert (result.first, result.last, result.samples) == (kept[0], kept[-1], len(kept))


@pytest.mark.parametrize(("warm_up", "start"), [(0, 0), (7, 7), (15, 15), (40, 20)])
def test_the_warm_up_ends_where_the_rate_is_steady_and_after_its_cap_at_the_latest(warm_up: int, start: int):
    rates = [100 * 0.9 ** max(0, warm_up - second) for second in range(60)]
    run = run_of(time={"from": 0, "to": 60}, samples=[sum(rates[:second]) for second in range(61)])
    found = estimate(Reading(run), "settled(cap=20)")
    assert found.last == 60
    assert found.first is not None
    assert start - 1 <= found.first <= start + 1
