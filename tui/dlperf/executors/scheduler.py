"""A batch system as its commands and job script: what a site writes to run trials under a scheduler of its own.

The class is found by the entry point ``dlperf.executors`` of an installed package; its name is the ``executor:`` of
hardware. ``Slurm`` is built in.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Sequence
from typing import Protocol

from dlperf.catalog.plugins import EXECUTORS, installed, load_plugin
from dlperf.errors import RequestError
from dlperf.executors.base import CheckItem
from dlperf.executors.batch.jobs import Job, SilentSchedulerError
from dlperf.nodes.messages import CommandResult
from dlperf.plan import Launch
from dlperf.render.batch import Batch, job_script

__all__ = [
    "Batch",
    "CheckItem",
    "CommandResult",
    "Job",
    "Launch",
    "Scheduler",
    "SchedulerRun",
    "SilentSchedulerError",
    "job_script",
]


class SchedulerRun(Protocol):
    """Runs a command on the login node."""

    def __call__(self, argv: Sequence[str], script: bytes = b"") -> Awaitable[CommandResult]: ...


class Scheduler(ABC):
    """Knows the commands of one kind of scheduler. Login node and compute nodes share the home folder."""

    name: str
    """As hardware names it in ``executor:``."""
    submission: Sequence[str]
    """The command that queues the script on its standard input and prints the job's number first."""

    @abstractmethod
    def script(self, launch: Launch, batch: Batch) -> bytes:
        """Render the job of a trial, mostly by ``job_script``; ``launch.queue`` holds the hardware's ``queue:``."""

    @abstractmethod
    def find(self, name: str) -> Sequence[str]:
        """Return the command that prints the number of the job of this name first, or nothing if there is none."""

    @abstractmethod
    def cancel(self, number: str) -> Sequence[str]:
        """Return the command that removes a job from the queue and ends it."""

    @abstractmethod
    async def jobs(self, run: SchedulerRun, numbers: Sequence[str]) -> dict[str, Job]:
        """Return the jobs that the scheduler knows, by number.

        Raises:
            SilentSchedulerError: it does not answer; trials then run on, and are asked for again later.
        """

    async def longest_minutes(self, run: SchedulerRun, launch: Launch) -> int | None:
        """Return the time limit of the job's queue, where there is one that is known."""
        return None

    async def check(self, run: SchedulerRun, launch: Launch, batch: Batch) -> list[CheckItem]:
        """Return whether the scheduler would accept the job."""
        return []

    def is_silent(self, answer: CommandResult) -> bool:
        """Return whether a command failed because the scheduler did not answer, so that trying again may help."""
        return False


def find_scheduler(name: str) -> Scheduler:
    """Return a scheduler by name. Raises RequestError for one that no installed package has."""
    if name == "slurm":
        from dlperf.executors.batch.slurm import Slurm

        return Slurm()
    if name not in installed(EXECUTORS):
        raise RequestError(f"unknown executor {name!r}: no installed package has it as entry point of {EXECUTORS}")
    scheduler: Scheduler = load_plugin(EXECUTORS, name)()
    return scheduler
