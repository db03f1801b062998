"""Run the trials of a campaign; the engine may be killed at any point.

A decision is in the journal before it is carried out, running payloads belong to the nodes, and every step is
idempotent: the next engine reads the journal and adopts what runs.
"""

import asyncio
import os
import platform
import signal
import time
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace

from dlperf.campaign.create import trial_record
from dlperf.campaign.dependencies import EngineDependencies, Timeouts
from dlperf.campaign.journal import EngineJournal, abandoned_trials
from dlperf.campaign.live import LiveLog
from dlperf.campaign.machines import Demand, Machines, array_numbers, demands_of
from dlperf.campaign.observing import Observer
from dlperf.campaign.progress import ProgressFile
from dlperf.campaign.rules import events_after_end, events_of_request, is_infrastructure, is_repeat
from dlperf.campaign.running import RunningTrial, TrialEnd, Watch
from dlperf.campaign.stages import Stages
from dlperf.errors import RequestError, StorageError
from dlperf.evidence.logs import LogReader
from dlperf.executors.base import Executor, Trial
from dlperf.measured.findings.telemetry import disturbance
from dlperf.measured.model import TrialResult
from dlperf.messages import quoted
from dlperf.opening import size_of
from dlperf.plan import TrialKey
from dlperf.runs.journal import figure_data
from dlperf.runs.lock import engine_lock, held_folder
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.records import CampaignRecord, Event, Request, State, utc_now
from dlperf.runs.store import read_campaign, write_record
from dlperf.verification.remembered import RightTrials
from dlperf.version import version

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


async def run_campaign(
    paths: CampaignPaths, dependencies: EngineDependencies, timeouts: Timeouts | None = None
) -> str | None:
    """Run the unfinished trials of a campaign; return the signal that ended it early, or None when all have ended.

    Raises:
        RequestError: another engine runs this campaign.
        StorageError: the run directory cannot be written. Running trials continue on their nodes.
    """
    record = read_campaign(paths)
    with engine_lock(paths):
        try:
            return await Engine(paths, record, dependencies, timeouts or Timeouts()).run()
        except OSError as error:
            raise StorageError(
                f"{error.filename or paths.directory}: {error.strerror}: fix it, then run `dlperf resume`"
            ) from error


class Engine:
    """One execution of ``run_campaign``."""

    def __init__(
        self, paths: CampaignPaths, record: CampaignRecord, dependencies: EngineDependencies, timeouts: Timeouts
    ) -> None:
        self._paths = paths
        self._record = record
        self._planned = {item.configuration.id: item for item in record.configurations}
        self._demands = {name: demands_of(item) for name, item in self._planned.items()}
        self._dependencies = dependencies
        self._timeouts = timeouts
        self._executors: dict[str, Executor] = {}
        self._stages_of: dict[str, Stages] = {}
        """By id of hardware."""
        self._machines = Machines()
        self._journal = EngineJournal(paths, record)
        self._right = RightTrials(WorkspacePaths(paths.directory.parents[1]), paths)
        self._progress = ProgressFile(paths, self._journal, self._demands, timeouts.progress)
        self._running: dict[TrialKey, RunningTrial] = {}
        self._abandoned = abandoned_trials(paths, self._journal.trials)
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._signal: str | None = None

    async def run(self) -> str | None:
        data = {"pid": os.getpid(), "host": platform.node(), "dlperf_version": version()}
        self._journal.write(Event(utc_now(), "campaign_started", data=data))
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._interrupt, number)
        self._spawn(self._watch_requests())
        try:
            await self._until_finished()
        finally:
            await self._close()
        self._journal.write(Event(utc_now(), "engine_stopped" if self._signal else "campaign_finished"))
        self._progress.write(self._running)
        return self._signal

    async def _until_finished(self) -> None:
        while self._signal is None:
            self._wake.clear()
            self._raise_failures()
            held_folder(self._paths.directory)
            self._handle_requests()
            self._begin_submitted()
            self._archive_abandoned()
            self._start_due()
            if not self._running and all(status.state.finished for status in self._journal.trials.values()):
                return
            self._progress.write_if_due(self._running)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), self._timeouts.tick)

    def _start_due(self) -> None:
        """Start every planned trial whose machines are free and rested, in the order of the plan.

        A repeat goes first: among the last ones, the trials of one side would stand in a row.
        """
        if self._journal.paused:
            return
        now, trials = time.monotonic(), self._journal.trials
        due = [status for status in trials.values() if status.state is State.PLANNED]
        for key in (status.key for status in sorted(due, key=lambda status: not is_repeat(trials, status))):
            demands = self._demands[key.configuration]
            if key not in self._running and self._machines.free(demands) and self._machines.rested_at(demands) <= now:
                self._begin(key)

    def _begin_submitted(self) -> None:
        """Begin trials that an earlier engine submitted, or that are in the job array of another trial."""
        for key, status in self._journal.trials.items():
            if status.state in (State.SUBMITTED, State.RUNNING) and key not in self._running:
                self._begin(key)

    def _archive_abandoned(self) -> None:
        """Archive what an earlier engine left of trials that were cancelled before they were submitted."""
        trials = self._journal.trials
        for key in [key for key in self._abandoned if trials[key].state is State.CANCELLED]:
            ending = TrialEnd(State.CANCELLED, trials[key].cause, collectable=False)
            self._spawn(self._finish(self._take_up(key, ()), ending))

    def _begin(self, key: TrialKey) -> None:
        running = self._take_up(key, self._demands[key.configuration])
        self._machines.take(running.demands)
        self._spawn(self._run_trial(running))
        if running.cancel_wanted:
            self._spawn(self._stages(running).cancel(running))

    def _take_up(self, key: TrialKey, demands: tuple[Demand, ...]) -> RunningTrial:
        planned = self._planned[key.configuration]
        trial_paths = self._paths.trial(key)
        record = trial_record(self._record, key, self._journal.trials[key].retry_of)
        write_record(trial_paths.trial, record, durable=False)  # the next engine would write it again
        together = array_numbers(planned, key, self._journal.trials)
        trial = Trial(record.trial_id, planned.launch, trial_paths, together)
        live = LiveLog(trial_paths.node(planned.launch.nodes[0].name).log, planned, self._dependencies.formats)
        running = RunningTrial(key, trial, planned, demands, live, key in self._journal.cancelling)
        self._running[key] = running
        self._abandoned.discard(key)
        return running

    async def _run_trial(self, running: RunningTrial) -> None:
        await self._finish(running, await self._stages(running).run(running))

    async def _finish(self, running: RunningTrial, ending: TrialEnd) -> None:
        result = await self._stages(running).archive(running, ending)
        self._end(running, replace(ending, cause=result.cause), result)

    def _end(self, running: RunningTrial, ending: TrialEnd, result: TrialResult) -> None:
        blamed = {node: why.to_json() for node, why in ending.blamed.items()}
        data = figure_data(result.value, result.unit) | ({"blamed": blamed} if blamed else {})
        state = Event(utc_now(), "state", str(running.key), ending.state, ending.cause, ending.source, data)
        ended = replace(self._journal.trials[running.key], state=ending.state, cause=ending.cause)
        known = self._journal.trials | {running.key: ended}
        follow = self._journal.reliability.leave_out(known, state)
        if not follow and not running.cancel_wanted:
            follow = events_after_end(known, ended, state.time, disturbance(result.findings))
        self._journal.write(state, *follow)
        self._release(running, self._timeouts.machine_rest if is_infrastructure(ended) else None)
        del self._running[running.key]

    def _hand_over(self, running: RunningTrial) -> None:
        """Let the next trial have the machines of one that succeeded, whose files are collected and measured meanwhile.

        This machine is kept until that is done: a measured trial needs its processors.
        """
        self._journal.reliability.note_success(running.key)
        launch = running.trial.launch
        if launch.queued or all(node.transport != "local" for node in launch.nodes):
            self._release(running)

    def _release(self, running: RunningTrial, rest: float | None = None) -> None:
        rest = running.planned.protocol.pause_seconds if rest is None else rest
        self._machines.release(running.demands, time.monotonic() + rest)
        running.demands = ()
        self._wake.set()

    def _stages(self, running: RunningTrial) -> Stages:
        hardware = running.planned.configuration.hardware
        if hardware not in self._stages_of:
            name = running.planned.launch.executor
            if name not in self._executors:
                self._executors[name] = self._dependencies.open_executor(name)
            executor = self._executors[name]
            observer = Observer(executor, self._journal, self._timeouts, self._spawn)
            watch = Watch(executor, observer.take, self._running)
            logs = LogReader(self._dependencies.formats)
            self._stages_of[hardware] = Stages(
                executor, watch, self._journal, self._machines, logs, self._right, self._timeouts, self._hand_over
            )
        return self._stages_of[hardware]

    async def _watch_requests(self) -> None:
        """Wake the engine when somebody asks for something: a pass over all trials is too slow to be made often."""
        size = 0
        while True:
            with suppress(OSError):
                before, size = size, size_of(self._paths.control)
                if size != before:
                    self._wake.set()
            await asyncio.sleep(self._timeouts.requests)

    def _handle_requests(self) -> None:
        for request, offset in self._journal.new_requests():
            self._handle(request, offset)

    def _handle(self, request: Request, offset: int) -> None:
        now = utc_now()
        data = {"action": request.action, "by": request.by, "offset": offset}
        cause = None
        try:
            follow = events_of_request(request, self._journal.trials, now)
            follow += self._journal.reliability.restore_machines(follow)
        except RequestError as error:
            follow, cause, data["refused"] = [], quoted(str(error)), str(error)
        self._journal.write(Event(now, "request", request.trial, cause=cause, source="viewer", data=data), *follow)
        for key in self._journal.cancelling & self._running.keys():
            self._cancel(self._running[key])

    def _cancel(self, running: RunningTrial) -> None:
        if not running.cancel_wanted:
            running.cancel_wanted = True
            self._spawn(self._stages(running).cancel(running))

    def _spawn(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(lambda _: self._wake.set())
        return task

    def _raise_failures(self) -> None:
        """Raise what no trial's state can express: a full disk, a bug in dlperf."""
        done = {task for task in self._tasks if task.done()}
        self._tasks -= done
        for task in done:
            task.result()

    def _interrupt(self, number: signal.Signals) -> None:
        """Stop the engine; a second signal has no handler and ends the process at once."""
        self._signal = number.name
        self._wake.set()
        asyncio.get_running_loop().remove_signal_handler(number)

    async def _close(self) -> None:
        """Close all connections; payloads continue on the nodes."""
        for number in SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)
        for stages in self._stages_of.values():
            stages.watch.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for executor in self._executors.values():
            with suppress(Exception):
                await asyncio.wait_for(executor.close(), 5.0)
