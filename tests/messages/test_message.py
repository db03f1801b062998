"""Messages: codes with parameters, their JSON and their texts."""

from __future__ import annotations

import string
from math import inf

import pytest

from dlperf.messages import CHINESE, ENGLISH, Message, message, quoted
from dlperf.messages.texts import texts

FAILED = message("of_node", node="n1", cause=message("exit_code", code_value=1))


def test_a_message_gives_its_english_text() -> None:
    assert str(FAILED) == "node n1: exit code 1"


def test_a_message_gives_its_chinese_text_with_the_messages_inside_it() -> None:
    assert CHINESE.render(FAILED) == "节点 n1：退出码 1"


def test_a_message_survives_json() -> None:
    assert FAILED.to_json() == {"code": "of_node", "node": "n1", "cause": {"code": "exit_code", "code_value": 1}}
    assert Message.from_json(FAILED.to_json()) == FAILED


def test_several_messages_are_joined_in_one_parameter() -> None:
    trials = (message("excluded_trial", number=1, why="slow"), message("excluded_trial", number=2, why="slow"))
    both = message("trial_excluded", trials=trials)
    assert str(both) == "excluded trials: trial 1 (slow); trial 2 (slow)"
    assert Message.from_json(both.to_json()) == both


def test_quoted_text_is_neither_translated_nor_matched() -> None:
    said = message("last_output", cause=message("exit_code", code_value=1), lines="out of memory")
    assert CHINESE.render(quoted("exit code 1")) == "exit code 1"
    assert not said.mentions("out_of_memory")
    assert said.mentions("exit_code")


def test_an_unknown_code_is_shown_with_its_parameters() -> None:
    assert ENGLISH.render(message("from_the_future", speed=3)) == "from_the_future speed=3"


def test_a_message_that_lacks_a_parameter_is_still_shown() -> None:
    assert ENGLISH.render(message("exit_code")) == "exit_code"


@pytest.mark.parametrize("data", [None, [], "exit code 1", {}, {"code": 1}, {"code": "a", "cause": {"b": 1}}])
def test_what_is_no_message_is_refused(data: object) -> None:
    with pytest.raises(ValueError, match="not a message"):
        Message.from_json(data)


def test_a_message_that_nests_without_end_is_refused() -> None:
    data: dict[str, object] = {"code": "a"}
    for _ in range(100):
        data = {"code": "a", "cause": data}
    with pytest.raises(ValueError, match="nested"):
        Message.from_json(data)


def test_every_text_is_translated_with_the_same_parameters() -> None:
    assert [code for code, text in texts().items() if _places(CHINESE.gettext(text)) != _places(text)] == []


def _places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_large_amounts_have_thousands_separators() -> None:
    stall = message("end_stall", last=12.3456, without=2840.4, mean=123456.7)
    assert "(12.35)" in str(stall)
    assert "the mean is 2,840, not 123,457" in str(stall)


def test_a_number_that_is_not_finite_becomes_text() -> None:
    assert Message.from_json({"code": "deadline", "seconds": inf}).to_json() == {"code": "deadline", "seconds": "inf"}
