"""What trials can show: the exact test against scipy, and the rate of false verdicts."""

from __future__ import annotations

import random
from itertools import combinations
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dlperf.verdicts.inference.permutation import permutation_p
from dlperf.verdicts.inference.verdict import LEVEL, detectable_difference

VALUES = st.integers(1, 10**6).map(float)
"""Whole numbers: scipy tells apart permutations that give the same difference but for rounding."""


def trials(least: int, most: int) -> st.SearchStrategy[tuple[float, ...]]:
    return st.lists(VALUES, min_size=least, max_size=most).map(tuple)


def difference_of_means(a, b, axis):
    """A whole multiple of it."""
    return np.abs(np.sum(a, axis=axis) * b.shape[axis] - np.sum(b, axis=axis) * a.shape[axis])


@settings(max_examples=25, deadline=None)
@given(trials(2, 5), trials(2, 5))
def test_the_permutation_test_agrees_with_scipy(a: tuple[float, ...], b: tuple[float, ...]) -> None:
    theirs = stats.permutation_test((a, b), difference_of_means, vectorized=True, alternative="greater")
    assert permutation_p(a, b) == pytest.approx(theirs.pvalue)


@given(trials(2, 5), trials(2, 5))
def test_the_order_of_the_sides_and_the_unit_do_not_change_p(a: tuple[float, ...], b: tuple[float, ...]) -> None:
    scaled = [tuple(value * 8 for value in side) for side in (a, b)]
    assert permutation_p(a, b) == permutation_p(b, a) == permutation_p(*scaled)


def test_at_most_one_of_a_hundred_equal_configurations_is_claimed_to_differ() -> None:
    draw = random.Random(7)
    pairs = [[tuple(draw.gauss(7000, 20) for _ in range(5)) for _ in range(2)] for _ in range(4000)]
    false = sum(permutation_p(a, b) <= LEVEL for a, b in pairs)
    assert 0 < false <= LEVEL * len(pairs)


def test_turns_in_a_drawn_order_make_trials_exchangeable_although_the_machine_drifts() -> None:
    """Of ten trials the last is 1 % slower than the first, and noise is 0.35 %; one side after the other shows it."""
    draw, false = random.Random(7), {"in turns": 0, "apart": 0}
    for _ in range(1000):
        times = [(1 - 0.001 * moment) * draw.gauss(1, 0.0035) for moment in range(10)]
        swapped = [draw.random() < 0.5 for _ in range(5)]
        a, b = (tuple(times[2 * turn + (swap == side)] for turn, swap in enumerate(swapped)) for side in (True, False))
        false["in turns"] += permutation_p(a, b) <= LEVEL
        false["apart"] += permutation_p(tuple(times[:5]), tuple(times[5:])) <= LEVEL
    assert false["in turns"] <= 10
    assert false["apart"] >= 60


def test_under_five_trials_each_no_difference_however_large_is_significant() -> None:
    reached = {n: permutation_p(tuple(range(n)), tuple(range(1000, 1000 + n))) for n in (2, 3, 4, 5)}
    assert [n for n, p in reached.items() if p <= LEVEL] == [5]
    assert [n for n in reached if detectable_difference(n, 0.003)] == [5]


def test_a_difference_of_medians_could_not_be_significant_with_five_trials() -> None:
    """The reason why means are tested."""
    found = [abs(median(a) - median(set(range(10)) - set(a))) for a in combinations(range(10), 5)]
    assert sum(each >= 5 for each in found) / len(found) > 0.04


def test_many_trials_are_tested_with_random_permutations() -> None:
    low, high = tuple(range(20)), tuple(range(100, 120))
    assert permutation_p(low, high) == pytest.approx(1e-4)
    assert permutation_p(low, low) == 1


@pytest.mark.parametrize("count", [5, 6])
def test_the_detectable_difference_is_found_in_more_than_four_of_five_cases(count: int) -> None:
    expected, draw = detectable_difference(count, 0.003), random.Random(3)
    assert expected is not None
    found = 0
    for _ in range(400):
        a, b = (tuple(draw.gauss(mean, 0.003) for _ in range(count)) for mean in (1, 1 + expected))
        found += permutation_p(a, b) <= LEVEL
    assert 0.78 < found / 400 < 0.95


def test_the_detectable_difference_is_that_of_a_t_test_of_the_same_level_and_power() -> None:
    expected = (stats.t.ppf(1 - 1 / 252, 8) + stats.t.ppf(0.9, 8)) * 0.003 * (2 / 5) ** 0.5
    assert detectable_difference(5, 0.003) == pytest.approx(expected, rel=1e-6)
