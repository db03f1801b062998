"""The commands of the file that is copied to nodes."""

import sys

from .agent import agent
from .run import supervise
from .slurm_job import allocate, task
from .sweep import sweep_after_dead_supervisor

ON_A_FOLDER = {"run": supervise, "sweep": sweep_after_dead_supervisor, "allocate": allocate, "task": task}


def main() -> None:
    arguments = sys.argv[1:]
    if arguments == ["agent"]:
        agent()
    elif len(arguments) == 2 and arguments[0] in ON_A_FOLDER:
        ON_A_FOLDER[arguments[0]](arguments[1])
    else:
        sys.exit("usage: supervisor.pyz agent | run DIR | sweep DIR | allocate DIR | task DIR")
