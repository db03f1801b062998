"""Placeholders: what is replaced, what is plain text, and what a value may hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlperf.catalog.placeholders import fill, finish, names_in, unknown_names

PLAIN = ['{"a": 1}', "awk '{print $1}'", "${HOME}", "{}", "{ steps }", "{A}", "{{", "}}", '{"a": {"b": 1}}']


@pytest.mark.parametrize("text", PLAIN)
def test_other_braces_are_plain_text(text):
    assert list(names_in(text)) == []
    assert finish(fill(text, {"a": "x"}), {}) == text


def test_what_is_not_known_yet_stays_for_the_start_of_the_trial():
    planned = fill("{batch_size} of {master_port}", {"batch_size": "8"})
    assert planned == "8 of {master_port}"
    assert finish(planned, {"master_port": "2345"}) == "8 of 2345"


def test_doubled_braces_stand_for_the_text_itself():
    assert finish(fill("{{steps}} {steps}", {"steps": "3"}), {}) == "{steps} 3"


def test_names_that_nobody_fills_are_found():
    assert unknown_names("{steps} {data.imagenet} {step} {{step}}") == ["step"]


@given(st.lists(st.sampled_from(["{", "}", "{{", "}}", "a", "{a}", "steps", " "])).map("".join))
def test_a_value_arrives_as_it_is_whatever_braces_it_holds(value):
    assert finish(fill("<{steps}>", {"steps": value}), {}) == f"<{value}>"
