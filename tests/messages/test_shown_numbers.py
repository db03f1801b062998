"""Numbers for people have one form on pages, in the terminal, in commands and in messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlperf.messages import ENGLISH, message
from dlperf.messages.numbers import change, four_digits, spread
from dlperf.report import figures
from dlperf.view import text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *((400.123456, "400.1"), (39972.131, "39,972"), (1234567.8, "1,234,568"), (0.0123456, "0.01235")),
        *((672.0, "672"), (0.0, "0"), (1.5e-7, "1.5e-07"), (float("nan"), "nan"), (float("inf"), "inf")),
    ],
)
def test_a_number_has_four_significant_digits_and_thousands_separators(value: float, shown: str) -> None:
    assert four_digits(value) == shown


@pytest.mark.parametrize(("ratio", "shown"), [(0.0123, "1.2 %"), (0.0005, "0.1 %"), (0.00042, "0.04 %")])
def test_a_small_spread_is_not_said_to_be_none(ratio: float, shown: str) -> None:
    assert spread(ratio) == shown


@pytest.mark.parametrize(("ratio", "shown"), [(0.0123, "+1.2 %"), (-0.0123, "-1.2 %"), (-0.0001, "0.0 %")])
def test_a_change_has_a_sign_unless_it_rounds_to_zero(ratio: float, shown: str) -> None:
    assert change(ratio) == shown


@given(st.floats(min_value=-1e12, max_value=1e12))
def test_page_terminal_and_message_show_one_number(value: float) -> None:
    aligned = four_digits(value, aligned=True)
    assert figures.optional(value) == four_digits(value)
    assert text.number(value) == aligned
    assert ENGLISH.render(message("end_stall", last=value, without=1.0, mean=1.0)).startswith(
        f"the last record ({aligned})"
    )
    assert float(aligned.replace(",", "")) == float(four_digits(value).replace(",", ""))


@given(st.floats(min_value=0, max_value=10))
def test_page_and_terminal_show_one_spread_and_one_share(ratio: float) -> None:
    assert text.spread(ratio) == figures.spread(ratio)
    assert text.percent(ratio) == figures.percent(ratio)


def test_a_missing_number_is_a_dash_in_the_terminal_and_nothing_on_a_page() -> None:
    assert {text.number(None), text.percent(None), text.spread(None)} == {"-"}
    assert {figures.optional(None), figures.percent(None), figures.spread(None)} == {""}
