"""Trials under a scheduler: one job for each, submitted from the login node, with a supervisor on each node.

The trial's folder is in the home folder, which login node and compute nodes share: logs, exit files and requests to
end go through it, and the scheduler is only asked for the state of the job.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from dlperf.errors import DlperfError, UnreachableError
from dlperf.executors import checks
from dlperf.executors.base import CheckItem, Observation, Trial, TrialReference
from dlperf.executors.batch.jobs import (
    Job,
    JobQueue,
    array_of,
    batch_of,
    job_name,
    job_number,
    observation_in_job,
    trials_of_job,
    was_requeued,
)
from dlperf.executors.logs import WHOLE_BYTES
from dlperf.executors.scheduler import Scheduler
from dlperf.executors.supervised import CANCEL_GRACE_SECONDS, SIBLING_GRACE_SECONDS, SupervisedExecutor
from dlperf.executors.tasks import NodeTask
from dlperf.messages import message
from dlperf.nodes.client import NodeClient
from dlperf.nodes.messages import ByteRange, CommandResult, JobAnswer, NodeFile
from dlperf.plan import Launch
from dlperf.plan.hiding import revealed
from dlperf.render.batch import BATCH, LOG
from dlperf.runs.names import file_name
from dlperf.runs.secrets import secrets_of
from dlperf.runs.store import write_atomic
from dlperf.substitution import PORT

TIMEOUT_CODE = 124
"""Exit code of a scheduler's command that timed out."""


class BatchExecutor(SupervisedExecutor):
    """One job per trial. See ``Executor`` for its methods."""

    def __init__(
        self,
        scheduler: Scheduler,
        workspace_catalog: Path | None = None,
        sibling_grace_seconds: float = SIBLING_GRACE_SECONDS,
        queue_seconds: float = 3.0,
        settle_seconds: float = 20.0,
    ) -> None:
        """
        Args:
            scheduler: the commands of the cluster's batch system.
            workspace_catalog: see ``SupervisedExecutor``, also for the next one.
            queue_seconds: between two questions to the scheduler.
            settle_seconds: how long after a job's end a shared file system may take to show its last file.
        """
        super().__init__(workspace_catalog, sibling_grace_seconds=sibling_grace_seconds)
        self.name = scheduler.name
        self._scheduler = scheduler
        self._queue_seconds = queue_seconds
        self._settle_seconds = settle_seconds
        self._queues: dict[NodeClient, JobQueue] = {}
        self._requeued: set[str] = set()
        """Trials whose job the scheduler took from its nodes to start it again."""

    async def check(self, launch: Launch) -> list[CheckItem]:
        """Check the login node, and whether the scheduler accepts the job."""
        login = replace(launch.nodes[0], name="login node", gpu_indices=())
        client = self._machines.client(login)
        plain = replace(launch, container=None, expected_gpu=(), nodes=(login,))
        try:
            hello = await client.hello()
            items = checks.items(login, plain, hello, await client.check(None, []))
            most = await self._scheduler.longest_minutes(client.command, launch)
            batch = batch_of("check", hello.home, most)
            return items + await self._scheduler.check(client.command, launch, batch)
        except UnreachableError as error:
            return checks.unreachable(login, error)

    async def submit(self, trial: Trial) -> TrialReference:
        """Write the files of all nodes and queue the job; the first trial of a job array queues all of its trials.

        Raises:
            UnreachableError: the login node or the scheduler does not answer. Call again to continue, or ``cancel``.
            DlperfError: the scheduler refuses the job.
            RequestError: the launch cannot be rendered.
        """
        reference = self._reference(trial)
        if reference:
            return reference
        client, name = self._login(trial), job_name(trial)
        home = (await client.hello()).home
        most = await self._scheduler.longest_minutes(client.command, trial.launch)
        batch = batch_of(name, home, most, array_of(trial))
        secrets = secrets_of(trial.paths.directory)
        files = [NodeFile(f"{file_name(name)}/{BATCH}", self._scheduler.script(revealed(trial.launch, secrets), batch))]
        kept = {BATCH: self._scheduler.script(trial.launch, batch)}
        for each in trials_of_job(trial):
            rendered = self._render(each, [home] * len(each.launch.nodes), PORT, kept)
            files += [item for node_files in rendered for item in node_files]
        await self._send_wheels(client, trial.launch)
        commands = (self._scheduler.find(name), self._scheduler.submission)
        answer = await client.submit(file_name(name), *commands, files)
        return self._write_reference(trial, {"job": job_number(trial, self._job_of(answer, commands[1]))})

    async def _observe(self, client: NodeClient, tasks: Sequence[NodeTask]) -> None:
        trials = {task.trial.trial_id: task.trial for task in tasks}.values()
        try:
            queue = self._queue(client)
            await queue.refresh(filter(None, map(self._number, trials)))
            reports = await self._reports(client, tasks)
            for task, report in zip(tasks, reports, strict=True):
                job = self._job(task.trial)
                settled = job is not None and queue.over_for(job.number) > self._settle_seconds
                self._note_answer(task, observation_in_job(task.node.name, report, task.starts, job, settled))
                if was_requeued(report, job):
                    self._requeued.add(task.trial.trial_id)
                elif report.problem is not None:
                    self._cancelling.setdefault(task.trial.trial_id, CANCEL_GRACE_SECONDS)
            if queue.silent_since is None:
                await self._end_unwanted(client, trials)
            else:
                self._note_scheduler_silence(queue, tasks)
        except DlperfError as error:
            self._note_silence(client, tasks, error)

    def _note_scheduler_silence(self, queue: JobQueue, tasks: Iterable[NodeTask]) -> None:
        """Flag unfinished tasks: jobs run on without the scheduler, and their files are still right."""
        for task in tasks:
            known = self._last_known(task)
            if not known.finished:
                cause = known.cause or message("job_silent", complaint=queue.error)
                self._known[task.key] = replace(known, unreachable_since=queue.silent_since, cause=cause)

    async def _end_unwanted(self, client: NodeClient, trials: Iterable[Trial]) -> None:
        """Cancel jobs that were requeued, and those whose cancellation was not answered before."""
        for trial in trials:
            job = self._job(trial)
            if job is None or job.over:
                continue
            if trial.trial_id in self._requeued:
                await client.command(self._scheduler.cancel(job.number))
            elif trial.trial_id in self._cancelling:
                await self._cancel_job(client, trial, job.number)

    async def _trial_observation(self, trial: Trial) -> Observation:
        observation, job = await super()._trial_observation(trial), self._job(trial)
        if job is None or observation.state.finished:
            return observation
        return replace(observation, pending_reason=job.pending_reason)

    async def cancel(self, trial: Trial, grace_seconds: float = CANCEL_GRACE_SECONDS) -> None:
        """Write a request into the nodes' folders, then cancel the job; ``poll`` repeats it for silent nodes."""
        self._cancelling[trial.trial_id] = grace_seconds
        number = self._number(trial)
        try:
            client = self._login(trial)
            if number is None:
                job = (await self._find(trial)).job
                number = job_number(trial, job) if job else None
            if number is not None:
                await self._cancel_job(client, trial, number)
        except UnreachableError:
            return

    async def _cancel_job(self, client: NodeClient, trial: Trial, number: str) -> None:
        await self._cancel_nodes(trial)
        answer = await client.command(self._scheduler.cancel(number))
        if answer.code == 0:
            self._cancelling.pop(trial.trial_id, None)

    async def collect(self, trial: Trial) -> None:
        await super().collect(trial)
        (log,) = await self._login(trial).read([ByteRange(f"{file_name(trial.trial_id)}/{LOG}", 0, WHOLE_BYTES)])
        if isinstance(log, bytes):
            write_atomic(trial.paths.job_log, log, private=True)

    async def adopt(self, trial: Trial) -> TrialReference | None:
        """Return ``ref.json``, else ask the login node for the trial's job.

        Raises:
            UnreachableError: there is no ``ref.json``, and the login node or the scheduler does not answer.
        """
        reference = self._reference(trial)
        if reference:
            return reference
        answer = await self._find(trial)
        if answer.job is None and answer.code == 0:
            return None
        return self._write_reference(trial, {"job": job_number(trial, self._job_of(answer, self._scheduler.find("")))})

    async def _find(self, trial: Trial) -> JobAnswer:
        name = job_name(trial)
        return await self._login(trial).job(file_name(name), self._scheduler.find(name))

    def _login(self, trial: Trial) -> NodeClient:
        return self._machines.client(trial.launch.nodes[0])

    def _queue(self, client: NodeClient) -> JobQueue:
        if client not in self._queues:
            self._queues[client] = JobQueue(partial(self._scheduler.jobs, client.command), self._queue_seconds)
        return self._queues[client]

    def _number(self, trial: Trial) -> str | None:
        reference = self._reference(trial)
        return str(reference.data["job"]) if reference else None

    def _job(self, trial: Trial) -> Job | None:
        number = self._number(trial)
        return self._queue(self._login(trial)).job(number) if number else None

    def _job_of(self, answer: JobAnswer, argv: Sequence[str]) -> str:
        """The job's number. Raises UnreachableError where the scheduler does not answer, DlperfError if it refuses."""
        if answer.job is not None:
            return answer.job
        error = "; ".join(answer.err.strip().splitlines()[-2:]) or "no message"
        if answer.code == TIMEOUT_CODE or self._scheduler.is_silent(CommandResult(answer.code, "", answer.err)):
            raise UnreachableError(f"{argv[0]}: {error}")
        raise DlperfError(f"{argv[0]}: {error}")
