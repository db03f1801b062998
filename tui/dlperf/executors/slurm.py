"""Trials under Slurm: one job for each, submitted from the login node, with a supervisor on each node under ``srun``.

The trial's folder lies in the home folder, which login node and compute nodes share: logs, exit files and requests to
end go through it, and Slurm is asked only how the job stands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from dlperf.catalog.programs import read_programs
from dlperf.errors import DlperfError, UnreachableError
from dlperf.executors import checks
from dlperf.executors.base import CheckItem, Observation, Reference, Trial
from dlperf.executors.logs import read_whole
from dlperf.executors.machines import all_of
from dlperf.executors.shares import Share, contents, node_files, sent_names, shares
from dlperf.executors.slurm_array import JobArray, array_of, task_of, trials_of
from dlperf.executors.slurm_jobs import Job, requeued, share_standing
from dlperf.executors.slurm_limits import longest_minutes, time_items
from dlperf.executors.slurm_queue import SlurmQueue
from dlperf.executors.supervised import CANCEL_GRACE_SECONDS, SIBLING_GRACE_SECONDS, SupervisedExecutor
from dlperf.messages import message, quoted
from dlperf.nodes.bootstrap import PYTHONS, supervisor_name
from dlperf.nodes.client import NodeClient
from dlperf.nodes.messages import CommandResult, Hello, JobAnswer, NodeFile
from dlperf.nodes.transport import Machine, Transport, transport_to
from dlperf.plan import Launch
from dlperf.plan.standins import PORT
from dlperf.render import Runtime, render_trial
from dlperf.render.slurm import BATCH, LOG, Batch, batch_script
from dlperf.runs.archive import keep_sent
from dlperf.runs.paths import file_name
from dlperf.runs.printable import printable_end
from dlperf.runs.records import State
from dlperf.runs.store import write_atomic, write_record

NAME = "slurm"
NO_ANSWER = 124
"""Exit code of a command of Slurm that gave none in time."""
SILENCE = ("Unable to contact slurm controller", "Socket timed out")
"""What its commands say then."""


class SlurmExecutor(SupervisedExecutor):
    """One job per trial. See ``Executor`` for what each method promises."""

    def __init__(
        self,
        workspace_catalog: Path | None = None,
        transport: Callable[[Machine], Transport] = transport_to,
        sibling_grace_seconds: float = SIBLING_GRACE_SECONDS,
        queue_seconds: float = 3.0,
        settle_seconds: float = 20.0,
    ) -> None:
        """
        Args:
            workspace_catalog: the workspace's ``catalog/``, whose programs come before the built-in ones.
            transport: how the login node is reached.
            sibling_grace_seconds: how long the other nodes may go on after one has failed.
            queue_seconds: between two calls of ``squeue``.
            settle_seconds: how long after a job's end a shared file system may take to show its last file.
        """
        super().__init__(workspace_catalog, transport, sibling_grace_seconds)
        self._queue_seconds = queue_seconds
        self._settle_seconds = settle_seconds
        self._queues: dict[NodeClient, SlurmQueue] = {}
        self._requeued: set[str] = set()
        """Trials whose job Slurm took from its nodes to start it again."""

    async def check(self, launch: Launch) -> list[CheckItem]:
        """The login node, and whether Slurm would take the job: partition, account, GPUs and nodes are its to judge."""
        login = replace(launch.nodes[0], name="login node", gpu_indices=())
        client = self._machines.client(login)
        plain = replace(launch, container=None, expected_gpu=(), nodes=(login,))
        try:
            hello = await client.hello()
            items = checks.items(login, plain, hello, await client.check(None, []))
            most = await self._longest_minutes(client, launch)
            script = batch_script(launch, _batch("check", hello, most))
            answer = await client.slurm(["sbatch", "--test-only"], script)
        except UnreachableError as error:
            return checks.unreachable(login, error)
        items += time_items(login.name, launch, most)
        return [*items, CheckItem(login.name, "slurm", answer.code == 0, quoted(_last_line(answer)))]

    async def _longest_minutes(self, client: NodeClient, launch: Launch) -> int | None:
        answer = await client.slurm(["scontrol", "--oneliner", "show", "partition"])
        return longest_minutes(answer.out, (launch.slurm or {}).get("partition"))

    async def submit(self, trial: Trial) -> Reference:
        """Write the files of all nodes and queue the job, or find it queued; trials that are queued together are one
        job array, whichever of them comes first.

        Raises:
            UnreachableError: the login node or Slurm does not answer. Call again to go on, or ``cancel``.
            DlperfError: Slurm refuses the job.
            RequestError: the launch cannot be rendered.
        """
        reference = self._reference(trial)
        if reference:
            return reference
        client = self._login(trial)
        hello, array = await client.hello(), array_of(trial)
        batch = _batch(_job_name(trial), hello, await self._longest_minutes(client, trial.launch), array)
        script = batch_script(trial.launch, batch)
        sent = [NodeFile(f"{file_name(batch.name)}/{BATCH}", script)]
        for each in trials_of(trial, array) if array else [trial]:
            sent += self._render(each, f"{_root(hello)}/{_folder(each)}", script)
        answer = await client.submit(file_name(batch.name), batch.name, sent)
        return self._write_reference(trial, _job_of(answer, "sbatch"))

    def _render(self, trial: Trial, folder: str, script: bytes) -> list[NodeFile]:
        """The files of all shares, kept at home with the batch script."""
        every = shares(trial)
        runtime = Runtime(
            master_address=trial.launch.nodes[0].address,
            master_port=PORT,
            folders={share.node.name: f"{folder}/{file_name(share.node.name)}" for share in every},
            programs=read_programs(trial.launch.files, self._workspace_catalog),
        )
        rendered = render_trial(trial.trial_id, trial.launch, runtime)
        files = [contents(share, rendered[share.node.name]) for share in every]
        keep_sent(trial.paths, {BATCH: script} | sent_names(every, files))
        return [item for share, sent in zip(every, files, strict=True) for item in node_files(share, sent)]

    async def poll(self, trials: Sequence[Trial]) -> list[Observation]:
        groups: dict[NodeClient, list[Trial]] = defaultdict(list)
        for trial in trials:
            groups[self._login(trial)].append(trial)
        await all_of(self._observe(client, group) for client, group in groups.items())
        return list(await all_of(self._describe(trial) for trial in trials))

    async def _observe(self, client: NodeClient, trials: Sequence[Trial]) -> None:
        """Ask one cluster for all its trials: the shared folders, then the queue. Silence leaves what is known."""
        every = [share for trial in trials for share in shares(trial)]
        try:
            queue = self._queue(client)
            await queue.refresh(filter(None, map(self._number, trials)))
            reports = await client.observe([share.directory for share in every])
            for share, report in zip(every, reports, strict=True):
                job = self._job(share.trial)
                settled = job is not None and queue.over_for(job.number) > self._settle_seconds
                self._note_answer(share, share_standing(share.node.name, report, share.starts, job, settled))
                if requeued(report, job):
                    self._requeued.add(share.trial.trial_id)
            if queue.silent_since is None:
                await self._end_unwanted(client, trials)
            else:
                self._flag_silence(queue, every)
        except UnreachableError as error:
            self._note_silence(client, every, error)

    def _flag_silence(self, queue: SlurmQueue, every: Iterable[Share]) -> None:
        """Slurm does not answer: its jobs go on, and what the files tell is still true."""
        for share in every:
            known = self._standing(share)
            if not known.finished:
                told = known.observation.cause or message("slurm_silent", complaint=queue.complaint)
                silent = replace(known.observation, unreachable_since=queue.silent_since, cause=told)
                self._known[share.key] = replace(known, observation=silent)

    async def _end_unwanted(self, client: NodeClient, trials: Iterable[Trial]) -> None:
        """Jobs that were to be cancelled while nobody answered, and those that Slurm would run a second time."""
        for trial in trials:
            job = self._job(trial)
            if job is None or job.over:
                continue
            if trial.trial_id in self._requeued:
                await client.slurm(["scancel", job.number])
            elif trial.trial_id in self._cancelling:
                await self._scancel(client, trial, job.number)

    async def _describe(self, trial: Trial) -> Observation:
        """The verdict of the nodes, with what Slurm says while they have none."""
        observation = await self._verdict(trial)
        job = self._job(trial)
        if job is None:
            return observation
        if not observation.state.finished:
            return replace(observation, pending_reason=job.pending_reason)
        if observation.state in (State.FAILED, State.LOST) and not any(node.log_size for node in observation.nodes):
            said = await self._slurm_log(trial)
            ended = observation.cause or quoted(observation.state)
            return replace(observation, cause=message("slurm_log", cause=ended, said=said)) if said else observation
        return observation

    async def _slurm_log(self, trial: Trial) -> str:
        try:
            (text,) = await read_whole(self._login(trial), [f"{_folder(trial)}/{LOG}"])
        except UnreachableError:
            return ""
        return printable_end(text or b"")

    async def cancel(self, trial: Trial, grace_seconds: float = CANCEL_GRACE_SECONDS) -> None:
        """Leave the nodes a request in their folders, then ``scancel``; again by ``poll`` where nobody answers now."""
        self._cancelling[trial.trial_id] = grace_seconds
        number = self._number(trial)
        try:
            client = self._login(trial)
            if number is None:
                found = (await client.job(file_name(_job_name(trial)), _job_name(trial))).job
                number = _number_of(trial, found) if found else None
            if number is not None:
                await self._scancel(client, trial, number)
        except UnreachableError:
            return

    async def _scancel(self, client: NodeClient, trial: Trial, number: str) -> None:
        grace = self._cancelling[trial.trial_id]
        await all_of(self._tell(share, grace, State.CANCELLED, message("cancelled")) for share in shares(trial))
        answer = await client.slurm(["scancel", number])
        if answer.code == 0:
            del self._cancelling[trial.trial_id]

    async def collect(self, trial: Trial) -> None:
        await super().collect(trial)
        (log,) = await read_whole(self._login(trial), [f"{_folder(trial)}/{LOG}"])
        if log is not None:
            write_atomic(trial.paths.slurm_log, log)

    async def adopt(self, trial: Trial) -> Reference | None:
        """Ask the login node for the trial's job, unless ``ref.json`` tells it.

        Raises:
            UnreachableError: there is no ``ref.json``, and the login node or Slurm does not answer.
        """
        reference = self._reference(trial)
        if reference:
            return reference
        answer = await self._login(trial).job(file_name(_job_name(trial)), _job_name(trial))
        if answer.job is None and answer.code == 0:
            return None
        return self._write_reference(trial, _job_of(answer, "squeue"))

    def _login(self, trial: Trial) -> NodeClient:
        return self._machines.client(trial.launch.nodes[0])

    def _queue(self, client: NodeClient) -> SlurmQueue:
        if client not in self._queues:
            self._queues[client] = SlurmQueue(client, self._queue_seconds)
        return self._queues[client]

    def _number(self, trial: Trial) -> str | None:
        reference = self._reference(trial)
        return str(reference.data["job"]) if reference else None

    def _job(self, trial: Trial) -> Job | None:
        number = self._number(trial)
        return self._queue(self._login(trial)).job(number) if number else None

    def _write_reference(self, trial: Trial, job: str) -> Reference:
        reference = Reference(NAME, {"job": _number_of(trial, job)})
        write_record(trial.paths.reference, reference)
        return reference


def _folder(trial: Trial) -> str:
    """The trial's folder on the login node, below ``~/.dlperf``."""
    return file_name(trial.trial_id)


def _root(hello: Hello) -> str:
    return f"{hello.home}/.dlperf"


def _batch(name: str, hello: Hello, most_minutes: int | None, array: JobArray | None = None) -> Batch:
    root = _root(hello)
    together = {"tasks": array.tasks, "stem": f"{root}/{file_name(array.stem)}"} if array else {}
    folder, supervisor = f"{root}/{file_name(name)}", f"{root}/bin/{supervisor_name()}"
    return Batch(name, folder, supervisor, PYTHONS, most_minutes, **together)


def _job_name(trial: Trial) -> str:
    """The name of the job that holds the trial."""
    array = array_of(trial)
    return array.name if array else trial.trial_id


def _number_of(trial: Trial, job: str) -> str:
    """The trial's own number in Slurm."""
    return task_of(trial, job) if trial.repeats else job


def _job_of(answer: JobAnswer, program: str) -> str:
    """The job's number; what keeps it from being known is a reason to wait or a refusal."""
    if answer.job is not None:
        return answer.job
    complaint = (answer.err.strip().splitlines() or ["no message"])[-1]
    if answer.code == NO_ANSWER or any(words in answer.err for words in SILENCE):
        raise UnreachableError(f"{program}: {complaint}")
    raise DlperfError(f"{program}: {complaint}")


def _last_line(answer: CommandResult) -> str:
    return (answer.err.strip().splitlines() or answer.out.strip().splitlines() or ["Slurm says nothing"])[-1]
