"""Trials → one value; scaling; what the hardware could do."""

import pytest

from dlperf.errors import RequestError
from dlperf.measured.statistics import (
    aggregate,
    bandwidth_limit,
    efficiency,
    flop_limit,
    mfu,
    roofline_share,
    samples_per_joule,
    speedup,
)

FIVE = (397.44, 397.64, 398.05, 398.98, 397.78)
"""PLSC ArcFace on one GPU, as printed by DLPerf."""


@pytest.mark.parametrize(
    ("how", "value"),
    [("median", 397.78), ("mean", 397.978), ("olympic", (397.64 + 398.05 + 397.78) / 3)],
)
def test_trials_become_one_value(how: str, value: float) -> None:
    assert aggregate(FIVE, how).value == pytest.approx(value)


def test_a_value_carries_its_spread() -> None:
    result = aggregate(FIVE)

    assert result.n == 5
    assert result.spread == pytest.approx((398.98 - 397.44) / 397.78)


def test_one_trial_has_no_spread() -> None:
    result = aggregate([400.0])

    assert (result.value, result.n) == (400.0, 1)
    assert result.spread is None


def test_an_olympic_mean_drops_as_many_as_its_protocol_says_and_counts_those_without_a_value_among_them() -> None:
    minutes = [float(number) for number in range(1, 41)]
    assert aggregate(minutes, "olympic", "lower", drop=4).value == sum(range(5, 37)) / 32
    assert aggregate(minutes[:37], "olympic", "lower", without=3, drop=4).value == sum(range(5, 37)) / 32
    assert aggregate([1.0, 3.0], "olympic", "lower", without=1).value == 3.0


def test_an_olympic_mean_of_which_nothing_is_left_is_the_median() -> None:
    assert aggregate([1.0, 2.0], "olympic").value == 1.5
    assert aggregate([1.0, 2.0, 9.0], "olympic", drop=4).value == 2.0


@pytest.mark.parametrize(("values", "how"), [([], "median"), ([], "mean"), ([], "olympic")])
def test_no_trial_is_refused(values: list[float], how: str) -> None:
    with pytest.raises(RequestError):
        aggregate(values, how)


def test_speedup_and_efficiency_are_over_one_gpu() -> None:
    assert speedup(11084.53, 397.78) == pytest.approx(27.87, abs=0.005)
    assert efficiency(11084.53, 397.78, 32) == pytest.approx(0.8708, abs=1e-4)


def test_without_one_gpu_there_is_no_speedup() -> None:
    assert speedup(11084.53, None) is None
    assert efficiency(11084.53, None, 32) is None


def test_mfu_is_over_the_dense_peak_of_all_gpus() -> None:
    """MLPerf v4.0, 8 H200: 7950 images/s for each GPU at 24.6 GFLOP and 989.4 TFLOP/s are 19.8 %."""
    assert mfu(24.6, 8 * 7950, 8, 989.4) == pytest.approx(0.198, abs=0.0005)
    assert flop_limit(24.6, 1, 989.4) == pytest.approx(40220, abs=1)


def test_what_is_unknown_gives_no_share() -> None:
    assert mfu(None, 100.0, 1, 125.0) is None
    assert mfu(24.6, 100.0, 1, None) is None
    assert bandwidth_limit(None, 1, 900.0) is None
    assert roofline_share(100.0, None, None) is None
    assert samples_per_joule(100.0, None) is None


def test_the_roofline_is_the_lower_of_the_limits() -> None:
    memory = bandwidth_limit(367e6, 2, 900.0)

    assert memory == pytest.approx(2 * 2452.3, abs=0.1)
    assert roofline_share(1000.0, flop_limit(24.6, 2, 125.0), memory) == pytest.approx(1000.0 / memory)
    assert roofline_share(1000.0, flop_limit(24.6, 2, 125.0), None) == pytest.approx(1000.0 / 10162.6, rel=1e-4)


def test_samples_per_joule_is_throughput_over_power() -> None:
    assert samples_per_joule(3000.0, 1500.0) == 2.0
