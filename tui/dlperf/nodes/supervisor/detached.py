"""Processes that outlive the agent which starts them."""

import os
import sys
import time
from typing import List

from .files import Json, read_json, read_text

START_SECONDS = 20.0


def detach(arguments: List[str], log: str) -> None:
    """Run the file that we were started from in a session of its own, child of nobody here."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork() == 0:
            descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(descriptor, 1)
            os.dup2(descriptor, 2)
            os.execv(sys.executable, [sys.executable, "-I", "-S", os.path.abspath(sys.argv[0]), *arguments])
    finally:
        os._exit(0)


def wait_for_record(directory: str, name: str) -> Json:
    """What a process that was just detached says of itself."""
    give_up = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up:
        record = read_json(os.path.join(directory, name))
        if record is not None:
            return record
        time.sleep(0.002)
    said = read_text(os.path.join(directory, "supervisor.log")).strip().splitlines() or ["no message"]
    raise OSError(f"the supervisor did not start within {START_SECONDS:g} s: {said[-1]}")
