"""What the digits with which values were printed hide of their difference."""

from __future__ import annotations

import random

import pytest

from dlperf.verdicts.inference.rounding import rounding


@pytest.mark.parametrize(
    ("a", "b", "units"),
    [
        ([12.3] * 5, [12.2] * 5, (0.1, 0.1)),
        ([12] * 5, [13] * 5, (1, 1)),
        ([8] * 5, [8] * 5, (0.1, 0.1)),
        ([14_200] * 5, [14_100] * 5, (100, 100)),
        ([12.3] * 5, [12.2512, 12.2514, 12.2513], (0.1, 0)),
        ([12.3] * 5, [13.0] * 5, (0.1, 0.1)),
        ([100, 101] * 3, [90] * 5, (1, 1)),
        ([12.1, 12.3, 12.5], [12.2] * 5, (0, 0.1)),
        ([12.34567, 12.34568], [12.34561] * 5, (0, 0)),
        ([], [12.3], (0, 0)),
        ([0.0, 1.0], [12.3], (0, 0)),
    ],
    ids=[
        *(
            "one decimal",
            "whole numbers",
            "one whole number",
            "three digits of thousands",
            "one side with fewer",
            "a zero by chance",
        ),
        *("two zeros by chance", "varied", "computed", "no trial", "no ratio"),
    ],
)
def test_half_a_unit_of_each_side_may_be_rounding(a, b, units):
    hidden = sum(unit / 2 / min(side) for side, unit in zip((a, b), units, strict=True) if unit)
    assert rounding(a, b) == pytest.approx(hidden)
    assert rounding(b, a) == pytest.approx(hidden)


@pytest.mark.parametrize(
    ("a", "b", "sides"), [([100.0] * 5, [103.4] * 5, 2), ([100.0, 103.4], [103.4, 106.6, 100.0], 1), ([], [100.0], 0)]
)
def test_a_window_may_be_a_unit_of_its_times_longer(a, b, sides):
    assert rounding(a, b, clock=1 / 30) == pytest.approx(sides / 30)


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.05, 0.1])
def test_what_is_printed_is_never_further_from_the_truth_than_rounding_and_noise_explain(noise: float):
    draw = random.Random(5)
    for _ in range(200):
        levels = [draw.uniform(12, 13) for _ in "ab"]
        sides = [[round(level + draw.gauss(0, noise), 1) for _ in range(7)] for level in levels]
        shown, true = (sum(side) / len(side) for side in sides), levels
        left, right = shown
        error = abs((right / left) / (true[1] / true[0]) - 1)
        assert error <= rounding(*sides) + 4 * noise * (2 / 7) ** 0.5 / 12 + 1e-3 * bool(noise) + 1e-6
