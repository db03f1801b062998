"""What the engine makes of an observation of a running trial: it begins, a machine is silent, it is overdue."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from dlperf.campaign.dependencies import Timeouts
from dlperf.campaign.journal import EngineJournal
from dlperf.campaign.running import RunningTrial, TrialEnd, ending_of
from dlperf.executors.base import Executor, Observation
from dlperf.executors.verdict import (
    begun_at,
    has_silent_machine,
    is_overdue,
    overdue,
    seconds_late,
    silence,
    why_overdue,
)
from dlperf.runs.records import Event, State, utc_now


@dataclass(frozen=True)
class Observer:
    """Journals what is seen of trials on one executor, and ends those that are overdue."""

    executor: Executor
    journal: EngineJournal
    timeouts: Timeouts
    spawn: Callable[[Coroutine[None, None, None]], asyncio.Task[None]]
    """Runs a task of the engine."""

    def take(self, running: RunningTrial, observation: Observation) -> None:
        """Journal what is new, and end the trial where nobody else does."""
        known = self.journal.trials[running.key]
        begun = None if known.state is State.RUNNING else begun_at(observation, known.since, utc_now())
        if begun is not None:
            started = Event(begun, "state", str(running.key), State.RUNNING, source=observation.source)
            self.journal.write(started, durable=False)
        ages = [node.age for node in observation.nodes if node.age is not None]
        running.note_age(self.journal.trials[running.key].started or "", ages)
        patience = self.timeouts.silence
        for node in observation.nodes:
            self.journal.note_silence(running.key, node.node, silence(node, patience))
        seconds = running.note_silence(has_silent_machine(observation))
        launch = running.planned.launch
        late = seconds_late(launch, self.journal.trials[running.key], running.seconds_since)
        if is_overdue(late, seconds, patience):
            ended = overdue(observation, patience)
            if ended.state.finished:
                running.end(ending_of(ended))
        elif seconds == 0 and not (launch.queued or observation.state.finished or observation.stale):
            self._end_late(running, late)

    def _end_late(self, running: RunningTrial, late: float) -> None:
        """End a trial past its deadline whose machines answer: its supervisor was stopped, or is not ours.

        It has time from when this is first seen: the engine itself may have been stopped meanwhile.
        """
        if late < self.timeouts.late:
            return
        running.late_at = running.late_at or time.monotonic()
        if time.monotonic() - running.late_at >= self.timeouts.late:
            running.end(TrialEnd(State.TIMED_OUT, why_overdue(running.trial.deadline, 2 * self.timeouts.late)))
        elif running.timing_out is None or running.timing_out.done():
            running.timing_out = self.spawn(self.executor.time_out(running.trial))
