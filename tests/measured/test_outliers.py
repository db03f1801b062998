"""Samples that lie far from the others are found, and nothing else."""

from __future__ import annotations

import pytest

from dlperf.measured.statistics import outliers


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([400, 401, 399, 400, 300, 402], (4,)),
        ([400, 401, 399, 400, 402, 398], ()),
        ([400, 400, 400, 400, 401], ()),
        ([400, 400, 400, 400, 450], (4,)),
        ([400, 1, 400], ()),
        ([], ()),
    ],
)
def test_outliers_lie_far_from_the_median(values: list[float], expected: tuple[int, ...]) -> None:
    assert outliers(values) == expected
