"""How a supervisor tells what happened, and what it refuses: the parts that are data in, data out."""

from __future__ import annotations

import ast
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from string import Formatter

import pytest

from dlperf.messages import Message
from dlperf.messages.texts import texts
from dlperf.nodes import supervisor
from dlperf.nodes.supervisor import detached, files, operations, processes
from dlperf.nodes.supervisor.files import confined, write_json
from dlperf.nodes.supervisor.trial.endings import Moment, cancel_request, ending_of, exit_record, limit_reached
from dlperf.nodes.supervisor.trial.report import report
from dlperf.nodes.supervisor.trial.run import claim, supervise


def causes_in_code() -> Iterator[tuple[str, set[str]]]:
    """The code and the names of the parameters of every message that the supervisor makes."""
    for path in Path(supervisor.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "message":
                yield ast.literal_eval(node.args[0]), {keyword.arg or "" for keyword in node.keywords}


def test_every_cause_of_an_end_has_a_text_with_its_parameters():
    causes = list(causes_in_code())
    assert len(causes) > 5
    for code, parameters in causes:
        assert {name for _, name, _, _ in Formatter().parse(texts()[code]) if name} == parameters


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
    ending = ending_of(code)
    assert (ending.state, str(Message.from_json(ending.cause))) == (state, cause)


def test_a_jump_of_the_wall_clock_changes_no_duration():
    started = Moment(wall=1_000_000.0, monotonic=50.0)
    ended = Moment(wall=996_400.0, monotonic=62.5)
    record = exit_record(ending_of(0), 0, started, ended, [])
    assert record["duration_seconds"] == 12.5


@pytest.mark.parametrize(
    ("running", "silent", "size", "cause"),
    [
        (9.9, 1.9, 10**6, None),
        (10.0, 0.0, 0, "deadline of 10 s"),
        (5.0, 2.0, 0, "no output for 2 s (stall limit)"),
        (5.0, 0.0, 10**6 + 1, "more than 0.001 GB of logs (log_limit_gb of the hardware); the rest is not archived"),
    ],
)
def test_a_limit_is_reached_by_elapsed_seconds_or_bytes(running, silent, size, cause):
    job = {"deadline_seconds": 10.0, "stall_seconds": 2.0, "log_bytes": 10**6}
    reached = limit_reached(job, running, silent, size)
    assert (str(Message.from_json(reached.cause)) if reached else None) == cause


@pytest.mark.parametrize(("grace", "counts"), [("10.0", True), ("NaN", False), ("Infinity", False), ("1e9", False)])
def test_a_payload_gives_itself_no_endless_time_to_end(grace, counts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("cancel.json").write_text(f'{{"grace_seconds": {grace}, "state": "cancelled", "cause": {{}}}}')
    assert bool(cancel_request()) is counts


def test_a_trial_is_claimed_once_where_files_have_no_hard_links(tmp_path, monkeypatch):
    def refuse(*_: str) -> None:
        raise PermissionError

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "link", refuse)
    record = processes.identity_of(os.getpid())
    assert [claim(record), claim(record)] == [True, False]
    assert [path.name for path in tmp_path.iterdir()] == ["supervisor.json"]
    assert processes.claimed(str(tmp_path)) == record


def test_a_supervisor_that_died_before_it_claimed_its_trial_is_started_again(tmp_path, monkeypatch):
    record = {"pid": 1, "start_ticks": 2, "boot_id": "boot"}
    starts = []

    def start_detached(work: Callable[[str], None], directory: str) -> None:
        starts.append((work, directory))
        if len(starts) == 2:
            write_json(f"{directory}/supervisor.json", record)

    monkeypatch.setattr(files, "ROOT", str(tmp_path))
    monkeypatch.setattr(detached, "START_SECONDS", 0.01)
    monkeypatch.setattr(operations, "start_detached", start_detached)
    answer, _ = operations.start({"directory": "trial/here", "files": []}, b"")
    assert answer == record
    assert starts == [(supervise, f"{tmp_path}/trial/here")] * 2


@pytest.mark.parametrize("spoiled", ['{"pid": "1", "start_ticks": "2", "boot_id": 3}', "[]", "garbage"])
def test_a_trial_whose_payload_spoiled_the_record_of_its_supervisor_has_started(spoiled, tmp_path, monkeypatch):
    (tmp_path / "trial").mkdir()
    (tmp_path / "trial/supervisor.json").write_text(spoiled)
    running = {"pid": 1, "start_ticks": 2, "boot_id": "boot"}
    monkeypatch.setattr(files, "ROOT", str(tmp_path))
    monkeypatch.setattr(processes, "running_process", lambda directory, name="": running)
    assert operations.start({"directory": "trial", "files": []}, b"") == (running, b"")
    monkeypatch.setattr(processes, "running_process", lambda directory, name="": None)
    with pytest.raises(OSError, match="supervisor"):
        operations.start({"directory": "trial", "files": []}, b"")


@pytest.mark.parametrize("silent", [0.0, 60.0])
def test_a_trial_goes_on_whose_supervisor_runs_on_another_machine_with_this_home_folder(silent, tmp_path):
    (tmp_path / "heartbeat").touch()
    os.utime(tmp_path / "heartbeat", (time.time() - silent,) * 2)
    (tmp_path / "supervisor.json").write_text('{"pid": 1, "start_ticks": 2, "boot_id": "of the other machine"}')
    found = report(str(tmp_path))
    assert (found["alive"], found["rebooted"]) == (not silent, bool(silent))


def test_a_pipe_in_the_place_of_a_record_is_not_waited_for(tmp_path: Path):
    pipe = tmp_path / "supervisor.json"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)  # without one, opening the pipe to read would hang where it may block
    with pytest.raises(OSError, match="not a regular file"):
        files.flush(str(pipe))
    os.close(writer)


def test_a_log_that_appears_while_streams_are_listed_is_no_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    log = tmp_path / "out.log"

    def missed(path: str) -> None:
        log.write_text("step=1\n")

    monkeypatch.setattr(files, "regular_size", missed)
    problems: list[files.Json] = []
    assert files.log_streams(str(tmp_path), problems) == {}
    assert problems == []
