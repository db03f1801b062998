"""Try whether programs start on machines, by short trials outside of any campaign."""

import asyncio
import itertools
import os
import platform
import shlex
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from dlperf.derived.timeline import measure_trial
from dlperf.errors import DlperfError
from dlperf.executors.base import CheckItem, Executor, Observation, Trial
from dlperf.executors.cleaning import clean
from dlperf.executors.verdict import first_failure
from dlperf.messages import message
from dlperf.plan import Launch, Plan, PlannedConfiguration, TrialKey
from dlperf.plan.launch import INSTALLER
from dlperf.runs.archive import seal
from dlperf.runs.paths import TrialPaths
from dlperf.runs.records import State, TrialStatus

START_SECONDS = 120.0
"""Deadline of a trial that shows whether a program starts; importing a framework takes a few seconds."""
QUEUE_SECONDS = 60.0
"""How long its job may wait in Slurm's queue before it is cancelled."""
STOP_SECONDS = 10.0
"""How long its end is waited for where nobody waits for its result any more."""

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

    Only of frameworks that were asked for: no machine has all of the catalogue's. Of what is built first, only whether
    its module and its locked requirements are there is tried.
    """
    largest: dict[tuple[str, tuple[object, ...]], Start] = {}
    chosen = plan.configurations if plan.selection.frameworks else ()
    tried = [item for item in chosen if not item.launch.build or item.launch.requirements]
    for item in sorted(tried, key=lambda item: (len(item.launch.nodes), item.launch.gpus)):
        for start in _starts_of(item):
            launch = start.planned.launch
            words = (launch.launcher, launch.launcher_options, launch.interpreter, launch.command)
            prepared = (launch.node_preparation, launch.program_preparation)
            same = (*words, tuple(launch.env.items()), repr(launch.container), launch.workdir, *prepared)
            largest[item.configuration.hardware, same] = start
    found: dict[str, list[Start]] = defaultdict(list)
    for (hardware, _), start in largest.items():
        found[hardware].append(start)
    return found


def _starts_of(planned: PlannedConfiguration) -> Iterator[Start]:
    if not planned.launch.requirements:
        yield start_of(planned)
        return
    if planned.launch.module:
        yield module_start(planned)
    yield requirements_start(planned)


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


def requirements_start(planned: PlannedConfiguration) -> Start:
    """Return the start that looks for the packages of a lock."""
    return Start(
        replace(planned, launch=locked_launch(planned.launch, "check"), format="dlperf"), planned.launch.requirements
    )


def module_start(planned: PlannedConfiguration) -> Start:
    """Return the start that imports the module of a framework in the Python that its packages are installed for."""
    launch = planned.launch
    lines = [f"import {launch.module}"]
    if launch.python and not _keeps_packages(launch):
        oldest = tuple(map(int, launch.python.split(".")))
        reason = f"its packages need Python {launch.python} or newer: name one by `prologue:`, in place of "
        lines.insert(0, f"import sys; sys.version_info >= {oldest} or sys.exit({reason!r} + sys.version.split()[0])")
    alone = replace(_alone(launch, "-c", "\n".join(lines)), files=(), requirements="")
    return Start(replace(planned, launch=alone, format="dlperf"), f"module {launch.module}")


def _keeps_packages(launch: Launch) -> bool:
    """Whether packages of the node's Python take the place of locked ones, perhaps of those with no wheel for it."""
    return any("--keep" in line for line in launch.build if INSTALLER in line)


def locked_launch(launch: Launch, action: str) -> Launch:
    """Return a launch that runs ``locked.py`` instead of the program, where that is built or would be."""
    install = next(shlex.split(line) for line in launch.build if INSTALLER in line)
    options = install[install.index("--keep") :] if "--keep" in install else []
    return _alone(launch, f"{{files}}/{INSTALLER}", action, f"{{files}}/{launch.requirements}", *options)


def _alone(launch: Launch, *program: str) -> Launch:
    """Return a launch of a short program by the Python of another one, with the machine's variables alone."""
    return replace(
        launch,
        launcher="plain",
        launcher_options=(),
        interpreter=launch.interpreter[:1] or ("python3",),
        command=program,
        env={name: launch.env[name] for name in launch.runtime_env},
        setup=(),
        build=(),
        deadline_seconds=START_SECONDS,
        stall_seconds=START_SECONDS,
    )


async def start_items(executor: Executor, starts: Sequence[Start]) -> list[CheckItem]:
    """Start each, one after the other, and return an item for each."""
    return [await _start_item(executor, start) for start in starts]


@asynccontextmanager
async def short_trial(executor: Executor, launch: Launch) -> AsyncIterator[tuple[Trial, Observation]]:
    """Run a launch outside of any campaign; its files are here as long as the context.

    Raises:
        DlperfError: it cannot be started, or its machine does not answer.
    """
    name = f"check.{platform.node()}-{os.getpid()}-{next(_numbers)}"
    with TemporaryDirectory(prefix="dlperf-check-") as folder:
        trial = Trial(name, launch, TrialPaths(Path(folder) / "runs" / "check" / "start" / "1"))
        try:
            await executor.submit(trial)
            ended = await _ended(executor, trial)
        except asyncio.CancelledError:
            await _stop(executor, trial)
            await _collect_and_clean(executor, trial)
            raise
        await _collect_and_clean(executor, trial)
        yield trial, ended


async def _collect_and_clean(executor: Executor, trial: Trial) -> None:
    """Collect and seal its files, and leave nothing of it on its nodes."""
    await executor.collect(trial)
    await asyncio.to_thread(seal, trial.paths)
    await clean([trial], discarded=("*",))


async def _start_item(executor: Executor, start: Start) -> CheckItem:
    launch = start.planned.launch
    parameters = {"launcher": launch.launcher, "found": start.found}
    try:
        async with short_trial(executor, launch) as (trial, ended):
            return await asyncio.to_thread(_item, start, trial, ended, parameters)
    except DlperfError as error:
        cause = error.message
        return CheckItem(launch.nodes[0].name, "start", False, message("does_not_start", **parameters, cause=cause))


async def _ended(executor: Executor, trial: Trial) -> Observation:
    """Wait for the end; a job that waits in a queue, or runs, for too long is cancelled."""
    begun, state = time.monotonic(), State.RUNNING
    while True:
        await executor.tail([trial])
        (seen,) = await executor.poll([trial])
        if seen.state.finished:
            return seen
        if seen.state is not state:
            begun, state = time.monotonic(), seen.state
        seconds = QUEUE_SECONDS if state is State.SUBMITTED else START_SECONDS
        if time.monotonic() > begun + seconds:
            await _stop(executor, trial)
            return replace(seen, cause=seen.pending_reason or message("no_answer_within", seconds=seconds))
        await executor.wait([trial], 0.1)


async def _stop(executor: Executor, trial: Trial) -> None:
    """End it and wait until it has ended, as nothing is removed of what runs; a silent machine is given up."""
    await executor.cancel(trial, 0.0)
    give_up = time.monotonic() + STOP_SECONDS
    while not (await executor.poll([trial]))[0].state.finished and time.monotonic() < give_up:
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
    point = start.planned.configuration
    fetching = message("fetch_advice", hardware=point.hardware, framework=point.framework)
    advice = fetching if launch.requirements else None
    return CheckItem(name, "start", False, message("does_not_start", **parameters, cause=cause), advice=advice)
