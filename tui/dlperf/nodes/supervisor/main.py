"""The commands of the file that is copied to nodes.

A zip's modules are compiled anew at every start, so each command imports what it needs; and all of that before it
begins, because the file may be gone while it runs.
"""

import sys


def main() -> None:
    arguments = sys.argv[1:]
    command = arguments[0] if len(arguments) == 2 else ""
    if arguments == ["agent"]:
        from .agent import agent

        agent()
    elif command == "run":
        from .run import supervise

        supervise(arguments[1])
    elif command == "sweep":
        from .sweep import sweep_after_dead_supervisor

        sweep_after_dead_supervisor(arguments[1])
    elif command == "allocate":
        from .slurm_job import allocate

        allocate(arguments[1])
    elif command == "task":
        from .slurm_job import task

        task(arguments[1])
    else:
        sys.exit("usage: supervisor.pyz agent | run DIR | sweep DIR | allocate DIR | task DIR")
