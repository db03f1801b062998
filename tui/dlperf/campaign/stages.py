"""The stages of one trial: check, submit, wait, cancel, collect, seal, measure."""

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from dlperf.campaign.dependencies import Timeouts
from dlperf.campaign.journal import EngineJournal, faults_in_checks
from dlperf.campaign.machines import Machines, array_numbers, demands_of, demands_on
from dlperf.campaign.rules import BUSY, LEASED
from dlperf.campaign.running import RunningTrial, TrialEnd, Watch, run_in_background
from dlperf.derived.timeline import derive, write_derived
from dlperf.errors import DlperfError, StorageError, UnreachableError
from dlperf.evidence.logs import LogReader
from dlperf.executors.base import UNREACHABLE, CheckItem, Executor, Observation
from dlperf.executors.verdict import is_overdue, seconds_late, why_overdue
from dlperf.measured.model import TrialResult
from dlperf.messages import Message, message
from dlperf.plan import Launch, TrialKey
from dlperf.plan.hiding import revealed
from dlperf.runs.archive import seal
from dlperf.runs.records import Event, State, TrialStatus, utc_now
from dlperf.runs.secrets import secrets_of
from dlperf.verification.remembered import RightTrials


@dataclass(frozen=True)
class Stages:
    """Run the stages of a trial on one executor. Each stage may be repeated by the next engine after a crash."""

    executor: Executor
    watch: Watch
    journal: EngineJournal
    machines: Machines
    logs: LogReader
    right: RightTrials
    """Remembers what is measured."""
    timeouts: Timeouts
    hand_over: Callable[[RunningTrial], None]
    """Called with a trial that has succeeded on its machines, before its files are collected."""

    async def run(self, running: RunningTrial) -> TrialEnd:
        """Check the machines, submit or adopt the trial, wait for its end and collect its files.

        The machines of a trial that succeeded are handed over before its files are collected.
        """
        is_new = self.journal.trials[running.key].state is State.PLANNED
        if is_new:
            unfit = await self._not_ready(running)
            now = self.journal.trials[running.key]
            if now.state is not State.PLANNED:
                return TrialEnd(now.state, now.cause, "viewer", collectable=False)
            if unfit is not None:
                return unfit
            self._note_submitted(running)
        await self._reach(running, is_new)
        if not running.ended.done():
            running.settled.set()
            self.watch.add(running)
        ending = await running.ended
        if ending.state is State.SUCCEEDED:
            self.hand_over(running)
        return await self._collected(running, ending)

    def _note_submitted(self, running: RunningTrial) -> None:
        """Journal all trials of a job array in one append."""
        together = array_numbers(running.planned, running.key, self.journal.trials)
        running.trial = replace(running.trial, repeats=together)
        keys = [TrialKey(running.key.configuration, number) for number in together] or [running.key]
        self.journal.write(*(Event(utc_now(), "state", str(key), State.SUBMITTED) for key in keys))

    async def _not_ready(self, running: RunningTrial) -> TrialEnd | None:
        """Return how the trial ends if its machines do not become ready, None when they are.

        Busy GPUs and unreachable machines are waited for, and without limit a machine that another trial has; any other
        failed check ends the trial at once. While some machines are waited for, other trials may use the rest.
        """
        begun = time.monotonic()
        _show_pending(running, message("being_checked"))
        while True:
            unfit, patience = await self._unfit(running)
            if unfit is None and running.awaited and self._is_wanted(running):
                begun += await self._regain_machines(running)
                continue
            if unfit is None or not self._is_wanted(running) or time.monotonic() >= begun + patience:
                running.observation = None
                return unfit
            _show_pending(running, unfit.cause)
            await asyncio.sleep(self.timeouts.reconnect)

    def _is_wanted(self, running: RunningTrial) -> bool:
        return self.journal.trials[running.key].state is State.PLANNED

    def _give_machines_up(self, running: RunningTrial, awaited: frozenset[str]) -> None:
        """Let other trials have the machines of a trial that waits for others."""
        kept = demands_on(running.planned, awaited)
        given_up = [item for item in running.demands if item not in kept]
        self.machines.release(given_up, time.monotonic())
        running.demands = kept
        running.awaited = awaited if len(kept) < len(demands_of(running.planned)) else frozenset()

    async def _regain_machines(self, running: RunningTrial) -> float:
        """Wait for the machines that the trial gave up, unless it is cancelled; return how many seconds that took."""
        begun = time.monotonic()
        everything = demands_of(running.planned)
        missing = [item for item in everything if item not in running.demands]
        _show_pending(running, message("machines_used_meanwhile"))
        while self._is_wanted(running):
            if self.machines.reclaim(running.key, missing, time.monotonic()):
                running.demands, running.awaited = everything, frozenset()
                break
            await asyncio.sleep(self.timeouts.tick)
        self.machines.withdraw(running.key)
        return time.monotonic() - begun

    async def _unfit(self, running: RunningTrial) -> tuple[TrialEnd | None, float]:
        """Return how the trial would end now, and how many seconds that is waited for."""
        try:
            items = await self._check(running)
        except UnreachableError as error:
            return TrialEnd(
                State.FAILED, message("unreachable", cause=error.message), collectable=False
            ), self.timeouts.first_answer
        except DlperfError as error:
            return TrialEnd(State.FAILED, error.message, collectable=False), 0.0
        silence = self._note_silence(running, items)
        if awaited := frozenset(item.node for item in items if _is_awaited(item)):
            self._give_machines_up(running, awaited)
        problem = readiness_problem(items)
        if problem is None:
            return None, 0.0
        busy = math.inf if problem.mentions(LEASED) else self.timeouts.busy if problem.mentions(BUSY) else 0.0
        patience = silence or busy
        return TrialEnd(State.FAILED, problem, collectable=False, blamed=faults_in_checks(items)), patience

    async def _check(self, running: RunningTrial) -> list[CheckItem]:
        """Check the machines; a trial that is cancelled meanwhile waits for none that hangs."""
        secrets = secrets_of(running.trial.paths.directory)
        checking = asyncio.ensure_future(self.executor.check(revealed(_to_check(running), secrets)))
        try:
            while not checking.done() and self._is_wanted(running):
                await asyncio.wait({checking}, timeout=self.timeouts.tick)
            return checking.result() if checking.done() else []
        finally:
            checking.cancel()

    def _note_silence(self, running: RunningTrial, items: list[CheckItem]) -> float:
        """Journal which machines do not answer, and which answer again; return how many seconds to wait."""
        reached = {item.node: item for item in items if item.check == "reachable"}
        patience = 0.0
        for node, item in reached.items():
            if item.silent:
                known = self.journal.reliability.answered(running.key, node)
                seconds = self.timeouts.silence if known else min(self.timeouts.first_answer, self.timeouts.silence)
                patience = min(patience or seconds, seconds)
                self.journal.note_silence(running.key, node, _waits(item.message_with_advice, known, seconds))
            else:
                self.journal.reliability.note_answer(running.key, node)
                self.journal.note_silence(running.key, node, None)
        return patience

    async def _submit_or_adopt(self, running: RunningTrial, is_new: bool) -> None:
        """Submit a trial, also one whose earlier engine was killed before it could; adopt any other."""
        known = None if is_new else await self.executor.adopt(running.trial)
        if known is None and self.journal.trials[running.key].state is State.SUBMITTED:
            await self.executor.submit(running.trial)

    async def _reach(self, running: RunningTrial, is_new: bool) -> None:
        """Submit or adopt a trial; unreachable machines, which may hold it already, are retried past its deadline."""
        while not running.ended.done():
            try:
                await self._submit_or_adopt(running, is_new)
                return
            except UnreachableError as error:
                self._wait_noted(running, error)
                if running.cancel_wanted:
                    running.end(_unanswered(error))
                elif self._is_overdue(running):
                    cause = message("unreachable", cause=error.message)
                    running.end(TrialEnd(State.FAILED, why_overdue(cause, self.timeouts.silence)))
            except StorageError:
                raise
            except DlperfError as error:
                running.end(TrialEnd(State.FAILED, error.message))
            await asyncio.wait({running.ended}, timeout=self.timeouts.reconnect)

    def _is_overdue(self, running: RunningTrial) -> bool:
        status, seconds = self.journal.trials[running.key], running.note_silence(True)
        late = seconds_late(running.planned.launch, status, running.seconds_since)
        return is_overdue(late, seconds, self.timeouts.silence)

    def _wait_noted(self, running: RunningTrial, error: UnreachableError) -> None:
        if not running.noted:
            running.noted = True
            self.journal.note(message("waits_for_machine", cause=error.message), running.key)

    async def cancel(self, running: RunningTrial) -> None:
        """Ask the machines to end a trial; the journal notes a machine that does not answer."""
        await running.settled.wait()
        if running.ended.done():
            return
        try:
            await self.executor.cancel(running.trial)
        except DlperfError as error:
            running.end(_unanswered(error))

    async def archive(self, running: RunningTrial, ending: TrialEnd) -> TrialResult:
        """Seal and measure the files of the trial."""
        status = replace(self.journal.trials[running.key], state=ending.state, cause=ending.cause)
        return await run_in_background(lambda: self._seal_and_measure(running, status))

    def _patience(self, ending: TrialEnd) -> float:
        """Return the seconds to wait for files on a silent machine: none for one that was given up before."""
        if ending.state is State.SUCCEEDED:
            return math.inf
        return 0.0 if ending.cause and ending.cause.mentions(*UNREACHABLE) else self.timeouts.collect

    def _seal_and_measure(self, running: RunningTrial, status: TrialStatus) -> TrialResult:
        seal(running.trial.paths)
        derived = derive(running.trial.paths, running.planned, status, self.logs)
        write_derived(running.trial.paths, derived)
        if derived.result.cause == status.cause:
            self.right.append(status)
        return derived.result

    async def _collected(self, running: RunningTrial, ending: TrialEnd) -> TrialEnd:
        """Collect all files of the trial; one that succeeded but whose files cannot be had counts for nothing."""
        if not ending.collectable:
            return ending
        try:
            await self._collect(running, self._patience(ending))
            return ending
        except StorageError:
            raise
        except DlperfError as error:
            self.journal.note(message("not_all_collected", cause=error.message), running.key)
            if ending.state is not State.SUCCEEDED:
                return ending
            if isinstance(error, UnreachableError):
                return _unanswered(error)
            return replace(ending, state=State.FAILED, cause=error.message)

    async def _collect(self, running: RunningTrial, patience: float) -> None:
        """Collect, waiting for a machine that does not answer until patience ends or the trial is cancelled."""
        give_up = time.monotonic() + patience
        while True:
            try:
                return await self.executor.collect(running.trial)
            except UnreachableError as error:
                if running.cancel_wanted or time.monotonic() > give_up:
                    raise
                self._wait_noted(running, error)
                await asyncio.sleep(self.timeouts.reconnect)


def _show_pending(running: RunningTrial, reason: Message | None) -> None:
    running.observation = Observation(running.trial.trial_id, State.PLANNED, pending_reason=reason)


def _is_awaited(item: CheckItem) -> bool:
    """Whether a machine does not answer, or is in use by others."""
    return item.silent or (not item.ok and (item.title.code == BUSY or item.message.mentions(LEASED)))


def _to_check(running: RunningTrial) -> Launch:
    """The launch on the machines that it occupies: a check would disturb the trials on those that it gave up."""
    launch = running.trial.launch
    nodes = tuple(node for node in launch.nodes if node.name in running.awaited)
    return replace(launch, nodes=nodes) if nodes else launch


def _unanswered(error: DlperfError) -> TrialEnd:
    return TrialEnd(State.CANCELLED, message("cancelled_unanswered", cause=error.message), collectable=False)


def _waits(cause: Message, known: bool, seconds: float) -> Message:
    if known:
        return message("waited_for", cause=cause, minutes=seconds / 60)
    return message("never_answered", cause=cause, seconds=seconds)


def readiness_problem(items: list[CheckItem]) -> Message | None:
    """Return the first failed check as a cause, unreachable machines before all others."""
    failed = [item for item in items if not item.ok]
    for item in failed:
        if item.check == "reachable":
            return message("unreachable", cause=message("of_machine", machine=item.node, cause=item.message))
    if not failed:
        return None
    first = failed[0]
    return message("not_ready", node=first.node, check=first.title, message=first.message)
