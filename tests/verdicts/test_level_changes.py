"""Changes of level in series of values."""

from __future__ import annotations

import random
from statistics import fmean

import pytest

from dlperf.verdicts.inference.level_change import last_change

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
    assert (found.start, found.p <= 0.001, found.fell) == (0, True, True)


def test_the_last_of_several_changes_counts():
    found = last_change([*level(100, 12), *level(120, 12), *level(110, 12)])
    assert found is not None
    assert (found.start, found.index) == (12, 24)


def test_seven_values_of_each_level_show_the_smallest_change_exactly():
    found = last_change([1.0] * 7 + [0.999] * 7)
    assert found is not None
    assert found.p == pytest.approx(2 / 3432, abs=4e-4)
    assert found.fell
    assert last_change([1.0] * 7 + [0.999] * 6) is None


@pytest.mark.parametrize("values", [[], [1.0] * 30, [*[1.0] * 29, 0.5]], ids=["nothing", "constant", "one outlier"])
def test_a_series_without_two_levels_has_no_change(values: list[float]):
    assert last_change(values) is None


def test_chance_alone_shows_a_change_in_at_most_one_of_a_hundred_series():
    assert sum(last_change(level(100, 16)) is not None for _ in range(200)) <= 2


def test_machines_have_levels_of_their_own():
    machines = ["a"] * 12 + ["b"] * 12
    assert last_change([*level(100, 12), *level(90, 12)]) is not None
    assert last_change([*level(100, 12), *level(90, 12)], machines) is None, "the machine changed with it"
    turns = ["a", "b"] * 12
    values = [value + 10 * (name == "b") for value, name in zip([*level(100, 12), *level(95, 12)], turns, strict=True)]
    found = last_change(values, turns)
    assert found is not None
    assert (found.index, found.fell) == (12, True)
