"""A trial's log: as its bytes are into a file or a pipe, without control characters onto a terminal."""

from __future__ import annotations

import codecs
import sys
import time
from pathlib import Path

from dlperf.cli.output import say
from dlperf.errors import RequestError
from dlperf.runs.journal import CampaignReader
from dlperf.runs.lock import engine_pid
from dlperf.runs.lookup import FoundTrial
from dlperf.runs.paths import NodePaths, text_of

LOOK_SECONDS = 0.2
BLOCK = 1 << 16


def print_log(trial: FoundTrial, node: str | None, follow: bool) -> None:
    """Print a log; with ``follow`` until the trial has ended, or nobody is there who could bring more of it.

    Raises:
        RequestError: there is no such node, or no log yet.
    """
    reader = CampaignReader(trial.campaign)
    log = _wait_for_log(trial, node, reader if follow else None)
    printer = Printer()
    with log.open("rb") as stream:
        while True:
            ended = not follow or _ended(reader, trial)  # asked before reading: what is read next is then the rest
            while block := stream.read(BLOCK):
                printer.write(block)
            printer.flush()
            if ended:
                return
            time.sleep(LOOK_SECONDS)


def _wait_for_log(trial: FoundTrial, node: str | None, reader: CampaignReader | None) -> Path:
    while True:
        nodes = trial.paths.nodes()
        chosen = [paths for paths in nodes if node is None or text_of(paths.directory.name) == node]
        for paths in chosen:
            if paths.log.is_file():
                return paths.log
        if reader is None or _ended(reader, trial):
            raise RequestError(_why_no_log(trial, node, nodes))
        time.sleep(LOOK_SECONDS)


def _why_no_log(trial: FoundTrial, node: str | None, nodes: tuple[NodePaths, ...]) -> str:
    if node is not None and nodes:
        names = ", ".join(text_of(paths.directory.name) for paths in nodes)
        return f"--node {node!r}: trial {trial.key} has logs of {names}"
    return f"trial {trial.key} has no log: see `dlperf status`"


def _ended(reader: CampaignReader, trial: FoundTrial) -> bool:
    status = reader.refresh().trials.get(trial.key)
    if status is None or status.state.finished:
        return True
    if engine_pid(trial.campaign) is None:
        say("no engine is running, so that nothing more comes: see `dlperf resume`")
        return True
    return False


class Printer:
    """Bytes of a log to stdout."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace") if sys.stdout.isatty() else None

    def write(self, data: bytes) -> None:
        """As they are into a file or a pipe; as harmless text onto a terminal."""
        if self._decoder is None:
            sys.stdout.buffer.write(data)
        else:
            sys.stdout.write(harmless(self._decoder.decode(data)))

    def flush(self) -> None:
        sys.stdout.flush()


def harmless(text: str) -> str:
    """Text without what could steer a terminal: of the control characters, line end, return and tab stay."""
    return "".join(char for char in text if char in "\n\r\t" or char.isprintable())
