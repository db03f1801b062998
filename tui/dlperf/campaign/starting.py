"""Check whether the programs of a plan start: a trial of each that ends before it computes."""

from __future__ import annotations

import asyncio
import itertools
import os
import platform
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from dlperf.errors import DlperfError
from dlperf.executors.base import CheckItem, Executor, Observation, Trial
from dlperf.executors.cleaning import clean
from dlperf.executors.verdict import first_failure
from dlperf.messages import message
from dlperf.plan import Plan, PlannedConfiguration, TrialKey
from dlperf.results.trial import measure_trial
from dlperf.runs.archive import seal
from dlperf.runs.paths import TrialPaths
from dlperf.runs.records import State, TrialStatus

START_SECONDS = 120.0
"""Deadline of such a trial; importing a framework takes a few seconds."""
QUEUE_SECONDS = 60.0
"""How long its job may wait in Slurm's queue before it is cancelled."""

_SCRIPT_ONLY = frozenset({"multiproc", "paddle", "paddle-ips", "paddle-cluster"})
"""Launchers that take the path of a script: only their interpreter is tried."""
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Start:
    """A configuration whose program is replaced by one that ends at once."""

    planned: PlannedConfiguration
    found: str
    """What it must find on the machines: a module of Python, or a program."""


def starts_of(plan: Plan) -> dict[str, list[Start]]:
    """Return hardware → a start for every launcher, interpreter, environment, container and module, the largest.

    Only of frameworks that were asked for: no machine has all of the catalogue's. What is built first is left out.
    """
    largest: dict[tuple[str, tuple[object, ...]], Start] = {}
    chosen = plan.configurations if plan.selection.frameworks else ()
    for item in sorted(
        (item for item in chosen if not item.launch.build), key=lambda item: (len(item.launch.nodes), item.launch.gpus)
    ):
        start = start_of(item)
        launch = start.planned.launch
        words = (launch.launcher, launch.launcher_options, launch.interpreter, launch.command)
        prepared = (launch.node_preparation, launch.program_preparation)
        same = (*words, tuple(launch.env.items()), repr(launch.container), launch.workdir, *prepared)
        largest[item.configuration.hardware, same] = start
    found: dict[str, list[Start]] = defaultdict(list)
    for (hardware, _), start in largest.items():
        found[hardware].append(start)
    return found


def start_of(planned: PlannedConfiguration) -> Start:
    launch = planned.launch
    launcher = "plain" if launch.launcher in _SCRIPT_ONLY else launch.launcher
    program = (launch.interpreter or launch.command)[0]
    interpreter: tuple[str, ...] = ()
    command: tuple[str, ...] = ("sh", "-c", 'command -v "$0"', program)
    found = program
    if launcher == "torchrun":
        found, command = launcher, ("-m", "platform")  # torchrun and its ranks have imported torch by then
    elif launch.module and launch.interpreter:
        found, interpreter, command = f"module {launch.module}", launch.interpreter, ("-c", f"import {launch.module}")
    launch = replace(launch, launcher=launcher, interpreter=interpreter, command=command)
    launch = replace(launch, deadline_seconds=START_SECONDS, stall_seconds=START_SECONDS)
    return Start(replace(planned, launch=launch, format="dlperf"), found)


async def start_items(executor: Executor, starts: Sequence[Start]) -> list[CheckItem]:
    """Start each, one after the other, and return an item for each."""
    return [await _start_item(executor, start) for start in starts]


async def _start_item(executor: Executor, start: Start) -> CheckItem:
    launch, name = start.planned.launch, f"check.{platform.node()}-{os.getpid()}-{next(_numbers)}"
    parameters = {"launcher": launch.launcher, "found": start.found}
    with TemporaryDirectory(prefix="dlperf-check-") as folder:
        trial = Trial(name, launch, TrialPaths(Path(folder) / "runs" / "check" / "start" / "1"))
        try:
            await executor.submit(trial)
            ended = await _ended(executor, trial)
            await executor.collect(trial)
            await asyncio.to_thread(seal, trial.paths)
            await clean([trial], discarded=("*",))
        except DlperfError as error:
            cause = error.message
            return CheckItem(launch.nodes[0].name, "start", False, message("does_not_start", **parameters, cause=cause))
        return await asyncio.to_thread(_item, start, trial, ended, parameters)


async def _ended(executor: Executor, trial: Trial) -> Observation:
    """Wait for the end; a job that waits in a queue is cancelled after a while."""
    begun, seconds = time.monotonic(), START_SECONDS
    while True:
        await executor.tail([trial])
        (seen,) = await executor.poll([trial])
        if seen.state.finished:
            return seen
        if seen.state is State.SUBMITTED:
            seconds = QUEUE_SECONDS
        if time.monotonic() > begun + seconds:
            await executor.cancel(trial)
            return replace(seen, cause=seen.pending_reason or message("no_answer_within", seconds=seconds))
        await executor.wait([trial], 0.1)


def _item(start: Start, trial: Trial, ended: Observation, parameters: dict[str, str]) -> CheckItem:
    launch = start.planned.launch
    if ended.state is State.SUCCEEDED:
        return CheckItem(launch.nodes[0].name, "start", True, message("starts", **parameters))
    status = TrialStatus(TrialKey(start.planned.configuration.id, 1), ended.state, ended.cause)
    cause = measure_trial(trial.paths, start.planned, status).cause or message("waiting")
    if ended.state is State.SUBMITTED:
        return CheckItem(launch.nodes[0].name, "start", True, message("start_not_tried", **parameters, cause=cause))
    failed = first_failure(ended.nodes)
    name = failed.node if failed else launch.nodes[0].name
    return CheckItem(name, "start", False, message("does_not_start", **parameters, cause=cause))
