"""Changes of level in series of values."""

from __future__ import annotations

import random
from statistics import fmean

import pytest

from dlperf.verdicts.history import last_change

DRAW = random.Random(4)


def level(mean: float, count: int) -> list[float]:
    return [DRAW.gauss(mean, 1.0) for _ in range(count)]


def between(values: list[float], index: int) -> float:
    """The sum of squares between the two sides of a split."""
    sides = values[:index], values[index:]
    return sum(len(side) * (fmean(side) - fmean(values)) ** 2 for side in sides)


def test_a_change_is_where_the_two_sides_differ_most():
    values = [*level(100, 12), *level(97, 6)]
    found = last_change(values)
    assert found is not None
    assert found.index == max(range(1, len(values)), key=lambda index: between(values, index))
    assert (found.start, found.p <= 0.01) == (0, True)


def test_the_last_of_several_changes_counts():
    found = last_change([*level(100, 12), *level(120, 12), *level(110, 12)])
    assert found is not None
    assert (found.start, found.index) == (12, 24)


def test_five_values_of_each_level_show_the_smallest_change_exactly():
    found = last_change([1.0] * 5 + [0.999] * 5)
    assert found is not None
    assert found.p == pytest.approx(2 / 252, abs=2e-3)
    assert last_change([1.0] * 5 + [0.999] * 4) is None


@pytest.mark.parametrize("values", [[], [1.0] * 30, [*[1.0] * 29, 0.5]], ids=["nothing", "constant", "one outlier"])
def test_a_series_without_two_levels_has_no_change(values: list[float]):
    assert last_change(values) is None


def test_chance_alone_shows_a_change_in_about_one_of_a_hundred_series():
    assert sum(last_change(level(100, 12)) is not None for _ in range(100)) <= 5
