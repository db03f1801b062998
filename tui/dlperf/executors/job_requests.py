"""What a trial's job asks for: its name, its job array, its time limit. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from dlperf.executors.base import CheckItem, Trial
from dlperf.messages import message
from dlperf.nodes.bootstrap import PYTHONS, supervisor_name
from dlperf.plan import Launch
from dlperf.render.batch import Batch, wanted_minutes
from dlperf.runs.paths import file_name

_TIME = re.compile(r"^(?:(?P<days>\d{1,9})-)?(?P<hours>\d{1,9}):(?P<minutes>\d{1,9}):(?P<seconds>\d{1,9})$")


@dataclass(frozen=True)
class JobArray:
    """A job array whose tasks are the repeats of a configuration."""

    stem: str
    """The common part of the trials' ids: ``<stem>.<number>``."""
    numbers: tuple[int, ...]
    at_once: int
    """How many of its tasks may run at the same time."""

    @property
    def tasks(self) -> str:
        """The value of ``sbatch --array``."""
        return f"{','.join(map(str, self.numbers))}%{self.at_once}"


def nodes_at_once(launch: Launch) -> int:
    """How many nodes jobs of one campaign may have at the same time."""
    nodes, asked = len(launch.nodes), launch.slurm or {}
    # Slurm may put jobs that share their nodes on the same one, where they would disturb each other.
    return max(nodes, int(asked.get("max_nodes") or nodes)) if asked.get("exclusive", True) else nodes


def array_of(trial: Trial) -> JobArray | None:
    """The array of a trial; None for a trial with a job of its own."""
    if not trial.repeats:
        return None
    at_once = nodes_at_once(trial.launch) // len(trial.launch.nodes)
    return JobArray(trial.trial_id.rpartition(".")[0], trial.repeats, at_once)


def trials_of_job(trial: Trial) -> list[Trial]:
    """All trials of the job that a trial belongs to."""
    array = array_of(trial)
    if array is None:
        return [trial]
    return [
        replace(trial, trial_id=f"{array.stem}.{number}", paths=trial.paths.sibling(number)) for number in array.numbers
    ]


def job_name(trial: Trial) -> str:
    """The name of the job, and of its folder on the login node."""
    array = array_of(trial)
    return f"{array.stem}.array" if array else trial.trial_id


def job_number(trial: Trial, job: str) -> str:
    """The trial's own number in the queue; ``job`` may be the number of its array, or of any task of it."""
    return f"{job.partition('_')[0]}_{trial.number}" if trial.repeats else job


def batch_of(name: str, home: str, most_minutes: int | None, array: JobArray | None = None) -> Batch:
    """The parameters of a batch script.

    Args:
        name: of the job.
        home: the home folder on the cluster.
        most_minutes: the time limit of the partition, where it is known.
        array: the job array, if the job is one.
    """
    root = f"{home}/.dlperf"
    array_fields = {"tasks": array.tasks, "stem": f"{root}/{file_name(array.stem)}"} if array else {}
    supervisor = f"{root}/bin/{supervisor_name()}"
    return Batch(name, f"{root}/{file_name(name)}", supervisor, PYTHONS, most_minutes, **array_fields)


def longest_minutes(text: str, partitions: str | None) -> int | None:
    """The longest time limit of these partitions; None if it is unlimited or unknown.

    Args:
        text: lines of ``scontrol --oneliner show partition``.
        partitions: names, joined by commas; None for the default partition.
    """
    found = [dict(word.partition("=")[::2] for word in line.split()) for line in text.splitlines()]
    named = partitions.split(",") if partitions else []
    mine = [row for row in found if (row.get("PartitionName") in named if named else row.get("Default") == "YES")]
    limits = [_minutes(row.get("MaxTime", "")) for row in mine]
    known = [limit for limit in limits if limit is not None]
    return max(known) if known and len(known) == len(limits) else None


def _minutes(text: str) -> int | None:
    found = _TIME.match(text)
    if found is None:
        return None
    days, hours, minutes = (int(found[name] or 0) for name in ("days", "hours", "minutes"))
    return (days * 24 + hours) * 60 + minutes


def time_items(node: str, launch: Launch, most: int | None) -> list[CheckItem]:
    """An item if the job asks for more time than its partition allows."""
    options, wanted = launch.slurm or {}, wanted_minutes(launch)
    if most is None or wanted <= most:
        return []
    explicit = bool(options.get("time_limit_minutes"))
    code = "partition_limit" if explicit else "partition_gives_less"
    text = message(code, partition=options.get("partition") or "(default)", most=most, wanted=wanted)
    return [CheckItem(node, "time_limit", not explicit, text)]
