"""Start work as a daemon, and wait until it says who it is."""

import contextlib
import os
import sys
import time
from typing import Callable, Optional

from .files import Json, read_text

START_SECONDS = 20.0


def start_detached(work: Callable[[str], None], directory: str) -> None:
    """Do work as a daemon in a session of its own. A fork starts in a hundredth of the time of another Python."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork() == 0:
            detach_files(os.path.join(directory, "supervisor.log"))
            work(directory)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(0)


def detach_files(log: str) -> None:
    """Close all files, so that the agent's client sees it end, and print into a log, if its disk takes one."""
    try:
        descriptor = os.open(log, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        descriptor = os.open(os.devnull, os.O_WRONLY)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of the listing
            if int(name) > 2:
                os.close(int(name))


def wait_for(read: Callable[[str], Optional[Json]], directory: str) -> Json:
    """The record that a process which was just started writes about itself."""
    give_up = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up:
        record = read(directory)
        if record is not None:
            return record
        time.sleep(0.002)
    log = read_text(os.path.join(directory, "supervisor.log")).strip().splitlines() or ["no message"]
    raise TimeoutError(f"the supervisor did not start within {START_SECONDS:g} s: {log[-1]}")
