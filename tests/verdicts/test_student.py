"""Student's t and the F distribution against scipy."""

from __future__ import annotations

import pytest
import scipy

from dlperf.verdicts.inference.student import f_tail, tail, two_sided


@pytest.mark.parametrize("freedom", [1, 2, 3.7, 12, 100, 1e7])
@pytest.mark.parametrize("t", [0.0, 0.1, 1.0, 4.3, 12.0])
def test_the_tail_of_student_agrees_with_scipy(t: float, freedom: float) -> None:
    assert tail(t, freedom) == pytest.approx(2 * scipy.stats.t.sf(t, freedom), rel=1e-5, abs=1e-30)


@pytest.mark.parametrize("freedom", [1, 2, 3.7, 12, 100, float("inf")])
def test_the_quantile_is_the_inverse_of_the_tail(freedom: float) -> None:
    assert two_sided(0.001, freedom) == pytest.approx(scipy.stats.t.isf(0.0005, freedom), rel=1e-6)


@pytest.mark.parametrize("f", [0.0, 0.5, 3.0, 40.0])
def test_the_tail_of_the_f_distribution_agrees_with_scipy(f: float) -> None:
    assert f_tail(f, 4, 11) == pytest.approx(scipy.stats.f.sf(f, 4, 11))
