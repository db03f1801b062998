"""Run a program once, for a limited time."""

import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MOST_BYTES = 4 << 20
"""Output that is kept; a program that prints more is stopped."""
GRACE_SECONDS = 5.0


@dataclass(frozen=True)
class Output:
    """What a program printed, on both streams."""

    data: bytes
    code: int | None
    """None where it was stopped."""

    @property
    def lines(self) -> list[str]:
        return self.data.decode("utf-8", "replace").rstrip().splitlines()


def run_bounded(words: Sequence[str], folder: Path, seconds: float) -> Output:
    """Run a program and stop it, with the processes that it started, at a limit or when this is interrupted.

    Raises:
        OSError: it cannot be started.
    """
    process = subprocess.Popen(
        words,
        cwd=folder,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        data = _read(process, time.monotonic() + seconds)
        return Output(data, process.poll())
    finally:
        _end(process)


def _read(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    assert process.stdout is not None
    data = bytearray()
    with process.stdout as stream:
        while len(data) < MOST_BYTES and (left := deadline - time.monotonic()) > 0:
            if select.select([stream], [], [], min(left, 0.1))[0]:
                if not (block := os.read(stream.fileno(), 1 << 16)):
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(left)
                    break
                data += block
            elif process.poll() is not None:  # what it left behind may hold the pipe open
                break
    return bytes(data)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the whole process group, also where its first process has ended."""
    for number, wait in ((signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, None)):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(wait)
