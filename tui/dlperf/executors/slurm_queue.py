"""Asking Slurm how jobs stand: ``squeue`` for all of them at once, then ``sacct`` for those that it forgot."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from dlperf.executors.slurm_jobs import GONE, SACCT_FORMAT, SQUEUE_FORMAT, Job, parse_sacct, parse_squeue
from dlperf.nodes.client import NodeClient
from dlperf.nodes.messages import CommandResult

PATIENCE = 5
"""How much longer than else is waited before Slurm is asked again when it did not answer."""
_NO_SUCH_JOB = "Invalid job id"
_NO_ACCOUNTING = "accounting storage is disabled"


class SlurmQueue:
    """The jobs of one cluster, as last heard. Slurm is asked seldom, and less while it does not answer."""

    def __init__(self, client: NodeClient, seconds: float) -> None:
        """
        Args:
            client: the login node.
            seconds: between two questions.
        """
        self._client = client
        self._seconds = seconds
        self._ask_at = 0.0
        self._jobs: dict[str, Job] = {}
        self._over_since: dict[str, float] = {}
        self._accounting = True
        self.silent_since: str | None = None
        """Since when Slurm does not answer: ISO 8601, UTC."""
        self.complaint = ""
        """What its command said then."""

    async def refresh(self, numbers: Iterable[str]) -> None:
        """Ask for these jobs, if it is time. Slurm's silence is noted; what was known stays.

        Raises:
            UnreachableError: the login node does not answer.
        """
        open_jobs = [number for number in numbers if self._may_change(number)]
        if not open_jobs or time.monotonic() < self._ask_at:
            return
        try:
            self._note(await self._ask(open_jobs))
        finally:
            patience = 1 if self.silent_since is None else PATIENCE
            self._ask_at = time.monotonic() + self._seconds * patience

    def job(self, number: str) -> Job | None:
        """The job as last heard; None if nothing was heard of it yet."""
        return self._jobs.get(number)

    def over_for(self, number: str) -> float:
        """For how many seconds the job has been known to be over; 0.0 while it is not."""
        since = self._over_since.get(number)
        return 0.0 if since is None else time.monotonic() - since

    def _may_change(self, number: str) -> bool:
        """A job that squeue forgot may yet come up in the accounting, which lags behind."""
        known = self._jobs.get(number)
        return known is None or not known.over or known.state == GONE

    async def _ask(self, numbers: Sequence[str]) -> dict[str, Job]:
        """Every job that was asked for; none while Slurm does not answer."""
        listed = f"--jobs={','.join(numbers)}"
        answer = await self._client.slurm(
            ["squeue", "--noheader", "--array", "--states=all", listed, f"--Format={SQUEUE_FORMAT}"]
        )
        if answer.code != 0 and _NO_SUCH_JOB not in answer.err:
            self._hear_nothing(answer)
            return {}
        self.silent_since = None
        known = parse_squeue(answer.out)
        forgotten = [number for number in numbers if number not in known]
        return {number: Job(number, GONE) for number in forgotten} | await self._account(forgotten) | known

    async def _account(self, numbers: Sequence[str]) -> dict[str, Job]:
        """What the accounting remembers; nothing where there is none."""
        if not numbers or not self._accounting:
            return {}
        options = ["--noheader", "--allocations", "--parsable2", f"--format={SACCT_FORMAT}"]
        answer = await self._client.slurm(["sacct", *options, f"--jobs={','.join(numbers)}"])
        self._accounting = _NO_ACCOUNTING not in answer.err and answer.code != 127
        return parse_sacct(answer.out)

    def _note(self, jobs: dict[str, Job]) -> None:
        self._jobs |= jobs
        for number, job in jobs.items():
            if job.over:
                self._over_since.setdefault(number, time.monotonic())

    def _hear_nothing(self, answer: CommandResult) -> None:
        self.complaint = (answer.err.strip().splitlines() or [f"exit code {answer.code}"])[-1]
        self.silent_since = self.silent_since or datetime.now(UTC).isoformat(timespec="milliseconds")
