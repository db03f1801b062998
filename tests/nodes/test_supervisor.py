"""How a supervisor tells what happened, and what it refuses: the parts that are data in, data out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from dlperf.nodes import supervisor
from dlperf.nodes.supervisor.endings import Moment, cancelled, ending_of, exit_record, limit_reached
from dlperf.nodes.supervisor.files import confined
from dlperf.sentences import recognised


def causes_in_code() -> Iterator[str]:
    """Second argument of every ``Ending``, a digit for each of its values."""
    for path in Path(supervisor.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Ending":
                parts = node.args[1].values if isinstance(node.args[1], ast.JoinedStr) else [node.args[1]]
                if not any(isinstance(part, ast.Call) for part in parts):
                    yield "".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in parts)


def test_every_cause_of_an_end_is_a_sentence_that_others_can_translate(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    causes = [*causes_in_code(), cancelled().cause]
    assert len(causes) > 5
    assert [cause for cause in causes if not recognised(cause)] == []


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../../b", "a//b", "a/./b", "a/.."])
def test_a_path_outside_the_folder_is_refused(path):
    with pytest.raises(ValueError, match="does not stay below"):
        confined(path)


@pytest.mark.parametrize(
    ("code", "state", "cause"),
    [
        (0, "succeeded", "exit code 0"),
        (3, "failed", "exit code 3"),
        (-11, "failed", "signal 11 (SIGSEGV)"),
        (139, "failed", "signal 11 (SIGSEGV)"),
        (128, "failed", "exit code 128"),
        (255, "failed", "exit code 255"),
    ],
)
def test_an_exit_status_is_told_in_words(code, state, cause):
    assert ending_of(code) == (state, cause)


def test_a_jump_of_the_wall_clock_changes_no_duration():
    started = Moment(wall=1_000_000.0, monotonic=50.0)
    ended = Moment(wall=996_400.0, monotonic=62.5)
    record = exit_record(ending_of(0), 0, started, ended, [])
    assert record["duration_seconds"] == 12.5


@pytest.mark.parametrize(
    ("running", "silent", "cause"),
    [
        (9.9, 1.9, None),
        (10.0, 0.0, "deadline of 10 s"),
        (5.0, 2.0, "no output for 2 s (stall limit)"),
    ],
)
def test_a_limit_is_reached_by_elapsed_seconds(running, silent, cause):
    reached = limit_reached({"deadline_seconds": 10.0, "stall_seconds": 2.0}, running, silent)
    assert (reached.cause if reached else None) == cause
