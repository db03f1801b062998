"""Render a launch into the batch script of its Slurm job, which starts one supervisor on each node. Pure."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dlperf.errors import RequestError
from dlperf.plan.model import Launch

BATCH = "batch.sh"
LOG = "slurm.log"
"""Output of the batch script, ``srun`` and the supervisors; the trial's output is elsewhere."""
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


def batch_script(launch: Launch, batch: Batch) -> bytes:
    """Render the script for ``sbatch``.

    Raises:
        RequestError: an option of the hardware's ``slurm:`` has a character that cannot be printed.
    """
    options = list(_options(launch, batch))
    for option in options:
        if not option.isprintable():
            raise RequestError(f"slurm: option {option!r} contains a character that cannot be printed")
    supervisor = f'"$python" -I -S {shlex.quote(batch.supervisor)}'
    folder = f'{shlex.quote(batch.stem)}."$SLURM_ARRAY_TASK_ID"' if batch.tasks else shlex.quote(batch.folder)
    nodes = len(launch.nodes)
    srun = shlex.join(("srun", f"--nodes={nodes}", f"--ntasks={nodes}", *_SRUN))
    lines = [
        "#!/bin/sh",
        *(f"#SBATCH {shlex.quote(option)}" for option in options),
        "set -eu",
        "python=",
        f"for candidate in {shlex.join(batch.interpreters)}; do",
        '  if "$candidate" -I -S -c "import sys; sys.exit(sys.version_info < (3, 6))" 2>/dev/null; then',
        "    python=$candidate; break",
        "  fi",
        "done",
        'if [ -z "$python" ]; then echo "no Python 3.6 or newer on $(uname -n)" >&2; exit 1; fi',
        f"{supervisor} allocate {folder}",
        f"exec {srun} {supervisor} task {folder}",
    ]
    return ("\n".join(lines) + "\n").encode()


def _options(launch: Launch, batch: Batch) -> Iterator[str]:
    """The options; the catalogue's ``extra`` ones come last and take precedence."""
    asked = launch.slurm or {}
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


def wanted_minutes(launch: Launch) -> int:
    """The time limit of the catalogue, or the trial's deadline with some time to spare."""
    asked = (launch.slurm or {}).get("time_limit_minutes")
    return int(asked or math.ceil((launch.deadline_seconds + SPARE_SECONDS) / 60))


def _minutes(launch: Launch, most: int | None) -> int:
    wanted = wanted_minutes(launch)
    explicit = (launch.slurm or {}).get("time_limit_minutes")
    # A job that asks for more than its partition allows waits forever.
    return min(wanted, most) if most and not explicit else wanted


def _gres(launch: Launch, asked: dict[str, Any]) -> str:
    default = "gpu:{gpus}" if launch.nodes[0].gpu_indices else ""
    gres = asked.get("gres")
    return str(default if gres is None else gres).replace("{gpus}", str(launch.gpus))
