"""The scheduler's commands on a login node, and the job of a trial."""

import os
import re
import subprocess
from typing import List

from .files import SCHEMA, Json, read_json, write_json

COMMAND_SECONDS = 20.0

SLURM_SETTINGS = re.compile(r"^(SBATCH|SLURM|SQUEUE|SACCT|SCANCEL|SCONTROL)_(?!CONF$)")
"""Variables that change what Slurm's commands do; only SLURM_CONF, which locates Slurm, stays."""


def run_command(argv: List[str], script: bytes = b"") -> Json:
    """Run one of the scheduler's commands in a clean environment."""
    surroundings = {name: value for name, value in os.environ.items() if not SLURM_SETTINGS.match(name)}
    try:
        done = subprocess.run(  # noqa: UP022  (Python 3.6 has no capture_output)
            argv,
            input=script,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=surroundings,
            timeout=COMMAND_SECONDS,
        )
    except FileNotFoundError:
        return {"code": 127, "out": "", "err": f"{argv[0]} is not installed here: is this the cluster's login node?"}
    except subprocess.TimeoutExpired:
        return {"code": 124, "out": "", "err": f"{argv[0]} did not answer within {COMMAND_SECONDS:g} s"}
    out, err = (data.decode("utf-8", "replace") for data in (done.stdout, done.stderr))
    return {"code": done.returncode, "out": out, "err": err}


def find_job(directory: str, find: List[str]) -> Json:
    """The ``job`` of a trial, or the error of the command that finds it."""
    known = read_json(os.path.join(directory, "queue.json"))
    if known is not None:
        return known
    # An agent that was killed between queueing it and writing the number left a job of this name.
    answer = run_command(find)
    return record_job(directory, answer) if answer["out"].strip() else dict(answer, job=None)


def record_job(directory: str, answer: Json) -> Json:
    """Write the number of the job that a command printed."""
    record = {"schema": SCHEMA, "job": re.split(r"[;\s]", answer["out"].strip())[0], "code": 0, "err": ""}
    write_json(os.path.join(directory, "queue.json"), record)
    return record
