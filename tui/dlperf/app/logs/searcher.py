"""Searching a log in a process of its own: keys are answered meanwhile, and no expression can stop the window."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import IO

from dlperf.app.logs.log_file import LogFile
from dlperf.app.logs.search import ERRORS, Batch, first_line_from, matching_lines, matching_lines_back, pattern_of
from dlperf.app.logs.stopping import TooSlowError, limited, never

SLOW_SECONDS = 1.0
"""Processor time for one chunk; most expressions take a thousandth of it."""
PACKAGES = Path(__file__).parents[3]
"""Where the process finds this package, from whatever folder it is started."""
NICENESS = 5
TOLD_SECONDS = 0.1
"""So often it is told how far a search has come, where it finds nothing."""


@dataclass(frozen=True)
class Request:
    """What to look for, and where."""

    text: str
    """A regular expression; none: what says that something went wrong (``ERRORS``)."""
    start: int
    """From which offset on; backwards: before which."""
    backwards: bool = False
    first: bool = False
    """Only the next match is wanted."""


class Searcher:
    """The process that searches a log, started when it is first needed. Its methods are meant for a thread."""

    def __init__(self, log: LogFile) -> None:
        self._log = log
        self._process: subprocess.Popen[str] | None = None
        self._searching = Lock()
        """A thread that was told to stop may still be at it when the next begins."""

    def search(self, request: Request, stop: Callable[[], bool] = never) -> Iterator[Batch]:
        """What it finds, as it finds it. Who stops it, or stops reading, ends the process.

        Raises:
            TooSlowError: the expression takes longer than anybody waits.
            OSError, ValueError: the log was closed meanwhile.
        """
        with self._searching:
            process, whole = self._started(), False
            try:
                for reply in _replies(process, request):
                    yield reply
                    if stop():
                        return
                whole = True
            finally:
                if not whole:
                    self.close()

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            log = self._log.descriptor
            self._process = subprocess.Popen(
                [sys.executable, "-m", "dlperf.app.logs.searcher", str(log)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=(log,),
                env=os.environ | {"PYTHONPATH": str(PACKAGES)},
                text=True,
            )
        return self._process

    def close(self) -> None:
        """End the process; a search that goes on meets the end of its answers."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def _replies(process: subprocess.Popen[str], request: Request) -> Iterator[Batch]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(asdict(request)) + "\n")
    process.stdin.flush()
    for line in process.stdout:
        reply = json.loads(line)
        if reply == "too slow":
            raise TooSlowError
        if reply == "done":
            return
        yield Batch(**reply)
    raise OSError("the search was ended")


# ---------------------------------------------------------------------------------------------------- in that process


def main(log: Path) -> None:
    """Answer requests until there are no more."""
    os.nice(NICENESS)
    serve(LogFile(log), sys.stdin, sys.stdout)


def serve(log: LogFile, requests: IO[str], replies: IO[str]) -> None:
    """A line of JSON for every request, and for every batch that says something new; after the last one ``done``."""
    for line in requests:
        log.refresh()
        request = Request(**json.loads(line))
        try:
            for batch in _told(_in_time(log, request)):
                print(json.dumps(asdict(batch)), file=replies, flush=True)
            answer = "done"
        except TooSlowError:
            answer = "too slow"
        print(json.dumps(answer), file=replies, flush=True)


def _in_time(log: LogFile, request: Request) -> Iterator[Batch]:
    """The batches of a search, each within its time."""
    pattern = pattern_of(request.text) if request.text else ERRORS
    if request.backwards:
        batches = matching_lines_back(log, pattern, request.start)
    else:
        start = first_line_from(log, request.start) if request.first else request.start
        batches = matching_lines(log, pattern, start)
    while True:
        with limited(SLOW_SECONDS):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch
        if request.first and batch.starts:
            return


def _told(batches: Iterator[Batch]) -> Iterator[Batch]:
    """The batches that somebody wants to know of; the last one, as a search that goes on starts where it ends."""
    told, left = time.monotonic(), None
    for batch in batches:
        if batch.starts or time.monotonic() - told >= TOLD_SECONDS:
            told, left = time.monotonic(), None
            yield batch
        else:
            left = batch
    if left is not None:
        yield left


if __name__ == "__main__":
    main(Path("/dev/fd") / sys.argv[1])
