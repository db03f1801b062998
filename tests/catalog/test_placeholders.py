"""Placeholders: what is replaced, what is plain text, and what a value may hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlperf.catalog.placeholders import unknown_names
from dlperf.substitution import GIVEN, SECRET, PlaceholderError, fill, names_in

PLAIN = ['{"a": 1}', "awk '{print $1}'", "${HOME}", "{}", "{ steps }", "{A}", "{{", "}}", '{"a": {"b": 1}}']


@pytest.mark.parametrize("text", PLAIN)
def test_other_braces_are_plain_text(text):
    assert list(names_in(text)) == []
    assert fill(fill(text, {"a": "x"}, is_last=False), {}) == text


def test_what_is_not_known_yet_stays_for_the_start_of_the_trial():
    planned = fill("{batch_size} of {master_port}", {"batch_size": "8"}, is_last=False)
    assert planned == "8 of {master_port}"
    assert fill(planned, {"master_port": "2345"}) == "8 of 2345"


def test_doubled_braces_stand_for_the_text_itself():
    assert fill(fill("{{steps}} {steps}", {"steps": "3"}, is_last=False), {}) == "{steps} 3"


def test_names_that_nobody_fills_are_found():
    assert unknown_names("{steps} {data.imagenet} {step} {{step}}") == ["step"]


@given(st.lists(st.sampled_from(["{", "}", "{{", "}}", "a", "{a}", "steps", " "])).map("".join))
def test_a_value_arrives_as_it_is_whatever_braces_it_holds(value):
    assert fill(fill("<{steps}>", {"steps": value}, is_last=False), {}) == f"<{value}>"


def test_what_has_no_value_in_the_last_call_is_named():
    with pytest.raises(PlaceholderError, match="steps has no value"):
        fill("<{steps}>", {})
    with pytest.raises(PlaceholderError, match="secret:TOKEN"):
        fill("export TOKEN=[secret:TOKEN]", {}, SECRET)


def test_a_mark_is_replaced_in_a_script_whose_braces_are_its_own():
    script = "f() { echo {print} ${port} {{x}} [secret:A] port.dlperf.invalid; }"
    assert fill(script, {"[secret:A]": "{b}"}, SECRET) == script.replace("[secret:A]", "{b}")
    assert fill(script, {"port.dlperf.invalid": "99"}, GIVEN, is_last=False) == script.replace(
        "port.dlperf.invalid", "99"
    )
