"""The options of a Slurm job and how it starts a command on each node. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from dlperf.plan.model import Launch
from dlperf.render.batch import LOG, Batch, job_script, wanted_minutes

_SRUN = ("--ntasks-per-node=1", "--overlap", "--cpu-bind=none", "--kill-on-bad-exit=0", "--wait=0", "--input=none")
"""One task on each node. It shares its resources with the steps of launchers (Slurm ≥ 20.11), is bound to no core, and
outlives a failed sibling until dlperf ends it, so that each node can log its own error."""


def batch_script(launch: Launch, batch: Batch) -> bytes:
    """Render the script for ``sbatch``. Raises RequestError as ``job_script`` does."""
    nodes = len(launch.nodes)
    directives = [f"#SBATCH {shlex.quote(option)}" for option in _options(launch, batch)]
    return job_script(directives, batch, ("srun", f"--nodes={nodes}", f"--ntasks={nodes}", *_SRUN))


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


def _minutes(launch: Launch, most: int | None) -> int:
    wanted = wanted_minutes(launch)
    explicit = (launch.slurm or {}).get("time_limit_minutes")
    # A job that asks for more than its partition allows waits forever.
    return min(wanted, most) if most and not explicit else wanted


def _gres(launch: Launch, asked: dict[str, Any]) -> str:
    default = "gpu:{gpus}" if launch.nodes[0].gpu_indices else ""
    gres = asked.get("gres")
    return str(default if gres is None else gres).replace("{gpus}", str(launch.gpus))
