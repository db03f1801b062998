"""Render the script of a trial's job, which starts a supervisor on each of its nodes. Pure."""

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dlperf.errors import RequestError
from dlperf.plan.model import Launch
from dlperf.substitution import fill

BATCH = "batch.sh"
LOG = "job.log"
"""Output of the batch script and the supervisors; the trial's output is elsewhere."""
SPARE_SECONDS = 300.0
"""Time limit beyond the trial's own deadline: to start, to end hanging processes, to release the GPUs."""
_SRUN = ("--ntasks-per-node=1", "--overlap", "--cpu-bind=none", "--kill-on-bad-exit=0", "--wait=0", "--input=none")
"""One task on each node. It shares its resources with the steps of launchers (Slurm ≥ 20.11), is bound to no core, and
outlives a failed sibling until dlperf ends it, so that each node can log its own error."""


@dataclass(frozen=True)
class Batch:
    """The parameters of a batch script, besides the launch."""

    name: str
    """Of the job."""
    folder: str
    """Absolute path of the batch script's folder, which login node and compute nodes share."""
    supervisor: str
    """Absolute path of the supervisor archive."""
    interpreters: tuple[str, ...]
    """Candidates for a Python that is new enough, best first."""
    most_minutes: int | None = None
    """Time limit of the partition, where it is known."""
    tasks: str = ""
    """The value of ``--array`` for a job array: numbers of trials."""
    stem: str = ""
    """The folders of an array's trials are ``<stem>.<number>``."""


def job_script(directives: Sequence[str], batch: Batch, start: Sequence[str] = (), before: Sequence[str] = ()) -> bytes:
    """Render the script of a job.

    Args:
        directives: lines after the first that the scheduler reads, such as ``#SBATCH --nodes=2``.
        start: the words that start a command once on each node, such as those of ``srun``; none for a single node.
        before: lines of shell that come first. Outside Slurm they export DLPERF_HOSTS, the addresses of the nodes;
            and what ``start`` starts finds its number among them, 0 … nodes-1, in DLPERF_RANK.

    Raises:
        RequestError: a directive has a character that cannot be printed.
    """
    for line in directives:
        if not line.isprintable():
            raise RequestError(f"option {line!r} of the job contains a character that cannot be printed")
    supervisor = f'"$python" -I -S {shlex.quote(batch.supervisor)}'
    folder = f'{shlex.quote(batch.stem)}."$SLURM_ARRAY_TASK_ID"' if batch.tasks else shlex.quote(batch.folder)
    lines = [
        "#!/bin/sh",
        *directives,
        "set -eu",
        *before,
        "python=",
        f"for candidate in {shlex.join(batch.interpreters)}; do",
        '  if "$candidate" -I -S -c "import sys; sys.exit(sys.version_info < (3, 6))" 2>/dev/null; then',
        "    python=$candidate; break",
        "  fi",
        "done",
        'if [ -z "$python" ]; then echo "no Python 3.6 or newer on $(uname -n)" >&2; exit 1; fi',
        f"{supervisor} allocate {folder}",
        " ".join(["exec", *map(shlex.quote, start), f"{supervisor} task {folder}"]),
    ]
    return ("\n".join(lines) + "\n").encode()


def wanted_minutes(launch: Launch) -> int:
    """The time limit of the catalogue, or the trial's deadline with some time to spare."""
    asked = (launch.queue or {}).get("time_limit_minutes")
    return int(asked or math.ceil((launch.longest_seconds + SPARE_SECONDS) / 60))


def batch_script(launch: Launch, batch: Batch) -> bytes:
    """Render the script for ``sbatch``. Raises RequestError as ``job_script`` does."""
    nodes = len(launch.nodes)
    directives = [f"#SBATCH {shlex.quote(option)}" for option in _options(launch, batch)]
    return job_script(directives, batch, ("srun", f"--nodes={nodes}", f"--ntasks={nodes}", *_SRUN))


def _options(launch: Launch, batch: Batch) -> Iterator[str]:
    """The options; the catalogue's ``extra`` ones come last and take precedence."""
    asked = launch.queue or {}
    folder = (batch.stem or batch.folder).replace("%", "%%") + (".%a" if batch.tasks else "")
    yield f"--job-name={batch.name}"
    yield f"--comment=dlperf {batch.name}"
    yield f"--output={folder}/{LOG}"
    if batch.tasks:
        yield f"--array={batch.tasks}"
    yield from ("--open-mode=append", "--no-requeue", "--export=ALL")
    yield f"--chdir={batch.folder}"
    yield f"--nodes={len(launch.nodes)}"
    yield "--ntasks-per-node=1"
    yield f"--time={_minutes(launch, batch.most_minutes)}"
    if gres := _gres(launch, asked):
        yield f"--gres={gres}"
    if asked.get("exclusive"):
        yield "--exclusive"
    for name in ("partition", "account", "qos", "constraint", "licenses", "reservation"):
        if value := asked.get(name):
            yield f"--{name}={value}"
    yield from asked.get("extra") or ()


def _minutes(launch: Launch, most: int | None) -> int:
    wanted = wanted_minutes(launch)
    explicit = (launch.queue or {}).get("time_limit_minutes")
    # A job that asks for more than its partition allows waits forever.
    return min(wanted, most) if most and not explicit else wanted


def _gres(launch: Launch, asked: dict[str, Any]) -> str:
    default = "gpu:{gpus}" if launch.nodes[0].gpu_indices else ""
    gres = asked.get("gres")
    return fill(str(default if gres is None else gres), {"gpus": str(launch.gpus)})
