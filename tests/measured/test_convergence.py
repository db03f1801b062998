"""Loss at fixed steps, and when trials do not learn alike."""

from __future__ import annotations

from math import nan

import pytest

from dlperf.measured.losses import common_steps, losses_apart, losses_at_steps


def test_losses_are_kept_at_steps_of_1_2_and_5_times_a_power_of_ten() -> None:
    assert losses_at_steps([10, 15, 20, 50, 50, 100], [5.0, 4.5, 4.0, 3.0, 9.0, nan]) == (
        (10, 5.0),
        (20, 4.0),
        (50, 3.0),
    )


def test_only_steps_that_all_trials_have_are_compared() -> None:
    assert common_steps([((10, 1.0), (20, 1.0)), ((10, 1.0),)]) == [10]
    assert common_steps([]) == []


@pytest.mark.parametrize(
    ("last", "apart"),
    [
        ((8.152, 0.007, 8.235), True),
        ((2.4, 8.2), True),
        ((3.23, 3.53), False),
        ((0.0208, 0.0522), False),
        ((8.2,), False),
    ],
)
def test_trials_of_which_only_some_learned_are_told_from_those_that_learned_alike(
    last: tuple[float, ...], apart: bool
) -> None:
    found = losses_apart([((10, 10.8), (1000, loss)) for loss in last])
    assert found == ({"step": 1000, "lowest": min(last), "highest": max(last)} if apart else {})


def test_nothing_is_known_of_trials_without_losses() -> None:
    assert losses_apart([]) == losses_apart([(), ()]) == {}
    assert losses_apart([((10, -0.1), (100, -0.9))] * 3) == {}, "of a similarity, which is negative"
