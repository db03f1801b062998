"""Causes that version 0.1 wrote in English are read as messages."""

from __future__ import annotations

import pytest

from dlperf.messages import message, quoted
from dlperf.runs.upgrades import stored_message

EXIT_1 = message("exit_code", code_value=1)

OLD = {
    "exit code 1": EXIT_1,
    "signal 9 (SIGKILL)": message("ended_by_signal", number=9, name="SIGKILL"),
    "deadline of 3600 s": message("deadline", seconds=3600.0),
    "cancelled": message("cancelled"),
    "the node knows nothing of the trial": message("unknown_trial"),
    "exit code 1: out of memory": message("and_more", subject=EXIT_1, more=message("out_of_memory")),
    "node n1: exit code 1; last output: a: b | c": message(
        "last_output", cause=message("of_node", node="n1", cause=EXIT_1), lines="a: b | c"
    ),
    "unreachable: n1: connection lost": message("unreachable", cause=quoted("n1: connection lost")),
    "not ready: n1: gpu_idle: in use by x (pid 1, y)": message(
        "not_ready", node="n1", check=message("check_gpu_idle"), message=quoted("in use by x (pid 1, y)")
    ),
    "node n1: left out, failed 2 times in a row: unreachable: gone": message(
        "machine_left_out",
        node="n1",
        cause=message("failed_in_a_row", count=2, why=message("unreachable", cause=quoted("gone"))),
    ),
}

REWORDED = {
    "the node knows nothing of the trial": "the node has no record of the trial",
    "node n1: left out, failed 2 times in a row: unreachable: gone": (
        "node n1 is excluded: failed 2 times in a row: unreachable: gone"
    ),
}
"""Causes whose English text has changed since version 0.1."""


@pytest.mark.parametrize("text", OLD)
def test_a_known_cause_becomes_its_message_and_has_its_present_text(text: str) -> None:
    assert stored_message(text) == OLD[text]
    assert str(stored_message(text)) == REWORDED.get(text, text)


@pytest.mark.parametrize("text", ["", "x", "RuntimeError: rank 3 cannot be reached (timeout)", "node: " * 2000])
def test_any_other_text_is_shown_as_it_was_written(text: str) -> None:
    assert str(stored_message(text)) == text


def test_a_message_is_read_in_its_flat_form() -> None:
    assert stored_message({"code": "exit_code", "code_value": 1}) == EXIT_1
