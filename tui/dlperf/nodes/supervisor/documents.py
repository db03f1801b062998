"""Programs that print one document after the other, such as a line or a JSON value."""

import contextlib
import os
import signal
import subprocess
from typing import IO, List, NamedTuple, Tuple


class Stream(NamedTuple):
    """A program that prints one document after the other until it is killed."""

    command: List[str]
    end: bytes
    """Follows each document."""


class Documents:
    """What a program prints, document by document."""

    def __init__(self, stream: Stream) -> None:
        null, pipe = subprocess.DEVNULL, subprocess.PIPE
        self.child = subprocess.Popen(stream.command, stdin=null, stdout=pipe, stderr=null, preexec_fn=os.setpgrp)
        self.source: IO[bytes] = self.child.stdout  # type: ignore[assignment]
        self.end, self.rest = stream.end, b""

    def receive(self) -> Tuple[List[str], bool]:
        """The documents that are complete now, and whether more may come."""
        data = os.read(self.source.fileno(), 65536)
        *whole, self.rest = (self.rest + data).split(self.end)
        return [text.decode("utf-8", "replace") for text in whole], bool(data)

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()


def repeated(command: List[str], seconds: float) -> Stream:
    """The stream of a command that prints one document and ends."""
    loop = f'while :; do "$@"; printf "\\f"; sleep {seconds:g}; done'
    return Stream(["sh", "-c", loop, "sh", *command], b"\f")
