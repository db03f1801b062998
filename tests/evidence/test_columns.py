"""Sums of columns."""

from __future__ import annotations

from math import inf, isfinite, nan

import pytest

from dlperf.evidence.columns import total


def test_a_sum_is_rounded_once_whatever_python_adds():
    assert total([0.1] * 10) == 1.0
    assert total([]) == 0.0


@pytest.mark.parametrize("numbers", [[1.0, nan], [1.0, inf], [inf, -inf], [1e308, 1e308]])
def test_a_sum_that_is_no_number_is_not_finite(numbers: list[float]):
    assert not isfinite(total(numbers))
