"""When two programs are shown to train alike."""

from __future__ import annotations

import random

import pytest

from dlperf.verdicts.losses import alike_losses, unlike_losses

SEEDS = (2.00, 2.03, 1.98, 2.01, 1.99)


def losses(*last: float) -> list[tuple[tuple[int, float], ...]]:
    return [((10, 5.0 + loss / 100), (100, loss)) for loss in last]


@pytest.mark.parametrize(
    ("other", "code"),
    [
        (SEEDS[::-1], ""),
        ((2.01, 2.04, 1.99, 2.02, 2.00), ""),
        ((2.06, 2.09, 2.04, 2.07, 2.05), "losses_differ"),
        ((1.0, 3.9, 2.0, 2.8, 1.2), "losses_unclear"),
    ],
    ids=["equal", "within what seeds differ by", "3 % apart", "too varied"],
)
def test_losses_are_alike_where_they_are_shown_to_be(other, code):
    there, back = (
        list(unlike_losses(*sides, "a", "b"))
        for sides in ((losses(*SEEDS), losses(*other)), (losses(*other), losses(*SEEDS)))
    )
    assert [why.code for why in there] == [why.code for why in back] == ([code] if code else [])


def test_the_latest_step_at_which_they_differ_is_named():
    (why,) = unlike_losses(losses(*SEEDS), losses(*(loss * 2 for loss in SEEDS)), "a", "b")
    assert str(why) == "different loss at step 100: 2 with a, 4 with b"


NONE = [()] * 5
SILENT = " prints no loss at step 10, 20, 50, 100 …, so equal training is not shown"
APART = "no loss at a step 10, 20, 50, 100 … that all trials print, so equal training is not shown"


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        (losses(*SEEDS), NONE, [f"b{SILENT}"]),
        (NONE, losses(*SEEDS), [f"a{SILENT}"]),
        (NONE, NONE, [f"a{SILENT}", f"b{SILENT}"]),
        (losses(*SEEDS), [((200, 9.0),)] * 5, [APART]),
        (losses(*SEEDS), [*losses(*SEEDS), ()], [APART]),
    ],
    ids=["not of B", "not of A", "of neither", "no common step", "a trial without"],
)
def test_losses_that_are_not_printed_show_nothing(a, b, why):
    assert list(map(str, unlike_losses(a, b, "a", "b"))) == why


@pytest.mark.parametrize("loss", [0.0, -1.0])
def test_a_loss_of_nothing_is_none_of_something(loss):
    (why,) = unlike_losses(losses(*SEEDS), [((100, loss),)] * 5, "a", "b")
    assert why.code == "losses_differ"
    assert list(unlike_losses([((100, loss),)] * 5, [((100, loss),)] * 5, "a", "b")) == []
    assert alike_losses([((100, loss),)] * 5, [((100, loss),)] * 5) is None, "nothing is a share of it"


def test_programs_that_train_alike_are_refused_in_one_of_a_hundred_cases():
    draw, refused = random.Random(3), 0
    for _ in range(300):
        sides = [[tuple((step, draw.gauss(3, 0.03)) for step in (10, 20, 50, 100)) for _ in range(5)] for _ in "ab"]
        refused += bool(list(unlike_losses(*sides, "a", "b")))
    assert refused <= 9
