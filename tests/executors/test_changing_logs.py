"""Logs that a payload floods, truncates, replaces or renames: what was seen is archived, and it is said."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest
from trials import finished, local_nodes, printed, run_to_end, shell_trial

from dlperf.executors.base import Executor, Trial
from dlperf.executors.logs import tail_machine
from dlperf.executors.tasks import node_tasks
from dlperf.nodes.messages import ByteRange, Unreadable
from dlperf.runs.paths import NodePaths
from dlperf.runs.records import State

LIMIT = 10**6


def parts(node: NodePaths) -> dict[str, bytes]:
    found = [node.log, *node.replaced_logs(), *node.ranks.rglob("*")]
    return {path.relative_to(node.directory).as_posix(): path.read_bytes() for path in found if path.is_file()}


async def run_in_two_parts(executor: Executor, trial: Trial, home: os.PathLike[str]) -> dict[str, bytes]:
    """Run a trial that goes on after its first part is archived; return what is archived in the end."""
    await executor.submit(trial)
    await printed(executor, trial, b"first\n")
    (home / "go").touch()
    await finished(executor, trial)
    await executor.collect(trial)
    return parts(trial.paths.node("here"))


def in_two_parts(change: str) -> str:
    return f"echo first; while ! test -e $HOME/go; do sleep 0.02; done; {change}; sleep 0.2"


@pytest.mark.parametrize("limited", ["out.log", "ranks/0"])
async def test_a_payload_that_floods_its_logs_is_ended_and_no_more_than_the_limit_is_archived(
    executor, tmp_path, limited
):
    flood = shell_trial(tmp_path, f"yes >> {limited}")
    trial = replace(flood, launch=replace(flood.launch, log_limit_bytes=LIMIT))
    observation = await run_to_end(executor, trial)
    assert (observation.state, observation.cause and observation.cause.code) == (State.FAILED, "log_limit")
    assert sum(map(len, parts(trial.paths.node("here")).values())) <= LIMIT


def test_nodes_that_start_share_the_limit_of_their_trial(tmp_path):
    trial = shell_trial(tmp_path, ":", local_nodes(4))
    assert {task.log_bytes for task in node_tasks(trial)} == {500_000_000}


@pytest.mark.parametrize("later", ["short", "second and longer than what was there before"])
async def test_a_log_that_was_truncated_is_kept_in_two_parts(executor, home, tmp_path, later):
    trial = shell_trial(tmp_path, in_two_parts(f": > out.log; echo {later}"))
    kept = await run_in_two_parts(executor, trial, home)
    assert kept == {"out.log": f"{later}\n".encode(), "out.log.replaced-1": b"first\n"}


async def test_a_log_that_was_rotated_is_kept_whole(executor, home, tmp_path):
    trial = shell_trial(tmp_path, in_two_parts("mv out.log out.log.1; echo more; echo last"))
    kept = await run_in_two_parts(executor, trial, home)
    assert kept == {"out.log.1": b"first\nmore\nlast\n", "out.log.replaced-1": b"first\n"}


async def test_a_log_that_was_removed_leaves_what_was_seen_of_it(executor, home, tmp_path):
    trial = shell_trial(tmp_path, in_two_parts("rm out.log; echo unseen"))
    kept = await run_in_two_parts(executor, trial, home)
    assert kept == {"out.log.replaced-1": b"first\n"}


async def test_a_log_that_is_rewritten_again_and_again_keeps_few_parts(executor, tmp_path):
    trial = shell_trial(tmp_path, "exec sleep 95")
    await executor.submit(trial)
    log = tmp_path / "home" / ".dlperf" / trial.trial_id / "here" / "out.log"
    for number in range(12):
        log.write_text(f"{'part' * (number % 2)} {number}\n")
        await executor.tail([trial])
        await executor.tail([trial])
    await executor.cancel(trial, 0.1)
    await finished(executor, trial)
    kept = parts(trial.paths.node("here"))
    assert len(kept) == 10
    assert kept["out.log"] == b"part 11\n"
    assert kept["out.log.replaced-9"] == b" 10\n"


class LateAnswers:
    """A machine whose first answer comes after those to later requests."""

    read_bytes = 1 << 20

    def __init__(self, log: bytes) -> None:
        self.log, self.requests, self.late = log, 0, asyncio.Event()

    async def read(self, ranges: Sequence[ByteRange]) -> list[bytes]:
        self.requests += 1
        if self.requests == 1:
            await self.late.wait()
        return [self.log[part.offset : part.offset + part.limit] for part in ranges]


async def test_an_answer_that_comes_after_that_to_a_later_request_adds_no_line_twice(tmp_path):
    trial = shell_trial(tmp_path, ":")
    tasks, machine = node_tasks(trial), LateAnswers(b"first\nsecond\n")
    report = SimpleNamespace(telemetry=None, arrivals=None, streams={"out.log": len(machine.log)})
    early = asyncio.create_task(tail_machine(machine, tasks, [report]))
    await asyncio.sleep(0)
    await tail_machine(machine, tasks, [report])
    machine.late.set()
    await early
    assert machine.requests == 2
    assert parts(trial.paths.node("here")) == {"out.log": machine.log}


class Replaced:
    """A machine on which a file that it reported is a link when it is read."""

    read_bytes = 1 << 20

    async def read(self, ranges: Sequence[ByteRange]) -> list[Unreadable]:
        return [Unreadable("Too many levels of symbolic links") for _ in ranges]


@pytest.mark.parametrize(("stream", "fails"), [("telemetry.csv", False), ("out.times", False), ("out.log", True)])
async def test_only_a_log_that_becomes_unreadable_after_the_report_fails_its_trial(tmp_path, stream, fails):
    tasks = node_tasks(shell_trial(tmp_path, ":"))
    sizes = {"telemetry.csv": None, "out.times": None, stream: 5}
    streams = {stream: 5} if fails else {}
    report = SimpleNamespace(telemetry=sizes["telemetry.csv"], arrivals=sizes["out.times"], streams=streams)
    assert bool(await tail_machine(Replaced(), tasks, [report])) is fails
