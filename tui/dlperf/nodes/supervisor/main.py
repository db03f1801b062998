"""The commands of the file that is copied to nodes."""

import importlib
import sys

COMMANDS = {
    "agent": ("agent", "agent", 0),
    "run": ("trial.run", "supervise", 1),
    "allocate": ("batch_job", "allocate", 1),
    "task": ("batch_job", "task", 1),
}
"""Command → module, function and number of arguments."""


def main() -> None:
    """Run a command, importing only its modules, which Python compiles at every start of a zip."""
    module, function, count = COMMANDS.get(sys.argv[1] if len(sys.argv) > 1 else "", ("", "", -1))
    arguments = sys.argv[2:]
    if len(arguments) != count:
        sys.exit("usage: supervisor.pyz agent | run DIR | allocate DIR | task DIR")
    getattr(importlib.import_module("." + module, __package__), function)(*arguments)
