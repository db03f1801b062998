"""Repeats that are queued together: one job array, of which each trial is a task. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dlperf.executors.base import Trial


@dataclass(frozen=True)
class JobArray:
    """The array that a trial is a task of."""

    stem: str
    """What the trials' ids have in common: ``<stem>.<number>``."""
    numbers: tuple[int, ...]
    at_once: int
    """How many of its tasks may run side by side."""

    @property
    def name(self) -> str:
        """Names the array's job, and its folder on the login node."""
        return f"{self.stem}.array"

    @property
    def tasks(self) -> str:
        """As ``sbatch --array`` takes them."""
        return f"{','.join(map(str, self.numbers))}%{self.at_once}"


def array_of(trial: Trial) -> JobArray | None:
    """None for a trial that is a job of its own."""
    if not trial.repeats:
        return None
    nodes = len(trial.launch.nodes)
    most = int((trial.launch.slurm or {}).get("max_nodes") or nodes)
    return JobArray(trial.trial_id.rpartition(".")[0], trial.repeats, max(1, most // nodes))


def trials_of(trial: Trial, array: JobArray) -> list[Trial]:
    """Every trial of the array that this one belongs to."""
    return [
        replace(trial, trial_id=f"{array.stem}.{number}", paths=trial.paths.sibling(number)) for number in array.numbers
    ]


def task_of(trial: Trial, job: str) -> str:
    """The name of a trial's task; ``job`` is whatever name of the array, or of one of its tasks, Slurm told."""
    return f"{job.partition('_')[0]}_{trial.trial_id.rpartition('.')[2]}"
