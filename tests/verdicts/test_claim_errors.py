"""How often claims are wrong, and what their trials can show."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from operator import mul

import pytest
import scipy

from dlperf.verdicts.inference.policies import CLAIM, LEVEL, level_divisor
from dlperf.verdicts.inference.power import detectable_difference, smallest_drawn_p
from dlperf.verdicts.inference.verdict import Sides, Verdict, judge

FIRST = replace(CLAIM, divisor=level_divisor(1))


def first_campaign(a: Sequence[float], b: Sequence[float]) -> Verdict:
    found = judge(Sides(a, b), FIRST)
    assert found is not None
    return found


def test_the_shares_of_all_campaigns_of_two_programs_add_up_to_the_level() -> None:
    assert sum(1 / level_divisor(number) for number in range(1, 10_000)) == pytest.approx(1, abs=1e-3)


def test_p_is_that_of_the_t_test_of_logarithms_times_the_tests_that_share_the_level() -> None:
    a, b = (100, 101, 99, 100, 102), (103, 104, 102, 101, 105)
    theirs = scipy.stats.ttest_ind(*([math.log(value) for value in side] for side in (a, b)), equal_var=False)
    assert first_campaign(a, b).p == pytest.approx(2 * theirs.pvalue, rel=1e-3), "degrees of freedom have two decimals"


@pytest.mark.parametrize("counts", [(5, 5), (5, 10), (10, 5)])
def test_programs_that_vary_differently_are_called_different_as_rarely_as_others(counts: tuple[int, int]) -> None:
    draw = random.Random(11)
    sides = (
        [
            [draw.lognormvariate(0, noise) for _ in range(count)]
            for count, noise in zip(counts, (0.03, 0.003), strict=True)
        ]
        for _ in range(1000)
    )
    assert sum(first_campaign(*pair).p <= LEVEL for pair in sides) <= 10


def test_an_interval_leaves_out_equality_exactly_where_p_is_small_enough() -> None:
    draw = random.Random(3)
    for _ in range(300):
        a, b = ([draw.lognormvariate(level, 0.01) for _ in range(5)] for level in (0.0, 0.03))
        found = first_campaign(a, b)
        assert (found.low > 0 or found.high < 0) == (found.p <= LEVEL)


def test_turns_in_a_drawn_order_make_trials_exchangeable_although_the_machine_drifts() -> None:
    """Of ten trials the last is 1 % slower than the first, and noise is 0.35 %; one side after the other shows it."""
    draw, false = random.Random(7), {"in turns": 0, "apart": 0}
    for _ in range(1000):
        times = [(1 - 0.001 * moment) * draw.gauss(1, 0.0035) for moment in range(10)]
        swapped = [draw.random() < 0.5 for _ in range(5)]
        a, b = (tuple(times[2 * turn + (swap == side)] for turn, swap in enumerate(swapped)) for side in (True, False))
        false["in turns"] += first_campaign(a, b).p <= LEVEL
        false["apart"] += first_campaign(times[:5], times[5:]).p <= LEVEL
    assert false["in turns"] <= 10
    assert false["apart"] >= 50


@pytest.mark.parametrize("pairs", [5, 7])
def test_the_drawn_order_alone_reaches_no_smaller_p(pairs: int) -> None:
    """Of all orders that could have been drawn, two show as much: this one, and its opposite."""
    gains = [0.05 + number / 1000 for number in range(pairs)]
    drawn = [abs(sum(map(mul, signs, gains))) for signs in product((-1, 1), repeat=pairs)]
    assert sum(each >= sum(gains) - 1e-12 for each in drawn) / len(drawn) == smallest_drawn_p(pairs)


@pytest.mark.parametrize("count", [5, 7])
def test_the_detectable_difference_is_found_in_nine_of_ten_cases(count: int) -> None:
    expected, draw = detectable_difference(count, 0.003), random.Random(3)
    pairs = ([[draw.lognormvariate(mean, 0.003) for _ in range(count)] for mean in (0, expected)] for _ in range(400))
    assert 0.85 < sum(first_campaign(a, b).p <= LEVEL for a, b in pairs) / 400 < 0.95
