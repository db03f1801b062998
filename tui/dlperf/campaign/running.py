"""Running trials, and the watch that polls and tails many of them together."""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dlperf.campaign.journal import faults_of_nodes
from dlperf.campaign.live import LiveLog
from dlperf.campaign.machines import Demand
from dlperf.errors import DlperfError, StorageError
from dlperf.executors.base import Executor, Observation, Trial
from dlperf.messages import Message
from dlperf.plan import PlannedConfiguration, TrialKey
from dlperf.runs.records import State, seconds_between, utc_now

T = TypeVar("T")

FULL_RATE_TRIALS = 16
"""Up to this many trials are polled ten times a second, more of them less often."""


async def run_in_background(work: Callable[[], T]) -> T:
    """Do work in a daemon thread and return its result.

    Unlike the threads of ``asyncio.to_thread``, it does not keep a cancelled loop or the process from ending, however
    large the log that it reads: the work is then given up, as if the engine had been killed.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(note: Callable[[Any], None], outcome: object) -> None:
        if not done.cancelled():
            note(outcome)

    def run() -> None:
        note: Callable[[Any], None]
        outcome: object
        try:
            note, outcome = done.set_result, work()
        except Exception as error:
            note, outcome = done.set_exception, error
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, note, outcome)

    threading.Thread(target=run, daemon=True).start()
    return await done


@dataclass(frozen=True)
class TrialEnd:
    """How a trial ended, before its log was read."""

    state: State
    cause: Message | None = None
    source: str = "engine"
    collectable: bool = True
    """Whether files can be collected from its nodes."""
    blamed: Mapping[str, Message] = field(default_factory=dict)
    """Node → its fault, where machines failed and not the program."""


@dataclass
class RunningTrial:
    """A trial from the moment it takes its machines until it is archived."""

    key: TrialKey
    trial: Trial
    planned: PlannedConfiguration
    demands: tuple[Demand, ...]
    """What it occupies now."""
    live: LiveLog
    cancel_wanted: bool = False
    late_at: float | None = None
    """When it was first seen to run long after its deadline (monotonic)."""
    timing_out: asyncio.Task[None] | None = None
    """Asks its machines to end it."""
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the machines hold the trial, or when it ended before."""
    ended: asyncio.Future[TrialEnd] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    observation: Observation | None = None
    silent_at: float | None = None
    """When a machine of it stopped answering (monotonic)."""
    awaited: frozenset[str] = frozenset()
    """Nodes that do not answer or are in use, for which it waits while others may use the rest of its machines."""
    noted: bool = False
    """Whether the journal already notes that its machines are waited for."""
    begun: tuple[str, float] = ("", 0.0)
    """When it began: the record's time, and monotonic."""
    aged: bool = False
    """Whether ``begun`` is by the clocks of its machines."""

    def seconds_since(self, begun: str) -> float:
        """Return how long ago it began, whatever the clock is set to meanwhile."""
        if self.begun[0] != begun:
            self.begun = begun, time.monotonic() - seconds_between(begun, utc_now())
        return time.monotonic() - self.begun[1]

    def note_age(self, begun: str, seconds: Sequence[float]) -> None:
        """Note how long it has run by the clocks of its machines: once, for they could let it run without end.

        The clock here may have been set since an earlier engine wrote when it began.
        """
        if seconds and not self.aged:
            self.aged, self.begun = True, (begun, time.monotonic() - max(seconds))

    def note_silence(self, silent: bool) -> float:
        """Note whether a machine of it is silent now; return for how many seconds it was."""
        self.silent_at = (self.silent_at or time.monotonic()) if silent else None
        return time.monotonic() - self.silent_at if self.silent_at else 0.0

    def end(self, ending: TrialEnd) -> None:
        """Set the ending; only the first one counts."""
        if not self.ended.done():
            self.ended.set_result(ending)
            self.settled.set()

    def fail(self, error: BaseException) -> None:
        if not self.ended.done():
            self.ended.set_exception(error)


class Watch:
    """Poll the states and new log bytes of the trials on one set of machines.

    Unreachable machines delay only their own watch.
    """

    def __init__(
        self, executor: Executor, observed: Callable[[RunningTrial, Observation], None], running: Sized
    ) -> None:
        """
        Args:
            executor: reaches the machines.
            observed: called with each observation.
            running: all trials of the engine: the more there are, the less often each watch polls.
        """
        self._executor = executor
        self._observed = observed
        self._running = running
        self._trials: dict[str, RunningTrial] = {}
        self._task: asyncio.Task[None] | None = None

    def add(self, running: RunningTrial) -> None:
        """Poll this trial until it has ended."""
        self._trials[running.trial.trial_id] = running
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._loop())

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _loop(self) -> None:
        try:
            while self._trials:
                await self._poll()
                if self._trials:
                    seconds = poll_interval(max(len(self._trials), len(self._running)))
                    await self._executor.wait(self._polled, seconds)
        except Exception as error:
            for running in self._trials.values():
                running.fail(error)
            self._trials.clear()

    @property
    def _polled(self) -> list[Trial]:
        return [running.trial for running in self._trials.values()]

    async def _poll(self) -> None:
        try:
            self._report(await self._executor.poll(self._polled))
            if self._trials:  # what ended is collected, its log included
                await self._executor.tail(self._polled)
        except StorageError:
            raise
        except DlperfError:
            return
        logs = [running.live for running in self._trials.values()]
        await run_in_background(lambda: [log.read() for log in logs])

    def _report(self, observations: Sequence[Observation]) -> None:
        for observation in observations:
            running = self._trials.get(observation.trial_id)
            if running is None:
                continue
            running.observation = observation
            self._observed(running, observation)
            if observation.state.finished:
                running.end(ending_of(observation))
        self._trials = {name: running for name, running in self._trials.items() if not running.ended.done()}


def ending_of(observation: Observation) -> TrialEnd:
    """Return the ending of a trial that was seen to have ended."""
    blamed = faults_of_nodes(observation.nodes)
    return TrialEnd(observation.state, observation.cause, observation.source, blamed=blamed)


def poll_interval(trials: int) -> float:
    """Return the seconds between two polls: 0.1 for a few trials, up to 2 for many."""
    return min(2.0, 0.1 * max(1, trials / FULL_RATE_TRIALS))
