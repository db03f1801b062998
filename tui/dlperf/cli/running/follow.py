"""Print a trial's log: byte for byte into a file or pipe, without control characters on a terminal; unpacked."""

import codecs
import sys
import time
from pathlib import Path

from dlperf.cli.output import print_note
from dlperf.errors import RequestError
from dlperf.evidence.logs import open_log
from dlperf.runs.journal import CampaignReader
from dlperf.runs.lock import engine_pid
from dlperf.runs.lookup import FoundTrial
from dlperf.runs.names import text_of

POLL_SECONDS = 0.2
BLOCK = 1 << 16


def print_log(trial: FoundTrial, node: str | None, follow: bool) -> None:
    """Print a log; with ``follow`` until the trial has ended or no engine runs that could collect more.

    Raises:
        RequestError: there is no such node, or no log yet.
    """
    reader = CampaignReader(trial.campaign)
    log = _wait_for_log(trial, node, reader if follow else None)
    decoder = codecs.getincrementaldecoder("utf-8")("replace") if sys.stdout.isatty() else None
    with open_log(log) as stream:
        while True:
            ended = not follow or _is_ended(reader, trial)  # asked before reading: what is read next is then the rest
            while block := stream.read(BLOCK):
                if decoder is None:
                    sys.stdout.buffer.write(block)
                else:
                    sys.stdout.write(_remove_controls(decoder.decode(block)))
            sys.stdout.flush()
            if ended:
                return
            time.sleep(POLL_SECONDS)


def _wait_for_log(trial: FoundTrial, node: str | None, reader: CampaignReader | None) -> Path:
    while True:
        nodes = {text_of(paths.directory.name): paths for paths in trial.paths.nodes()}
        for name, paths in nodes.items():
            if name == (node or name) and (found := paths.logs()):
                return found[0]
        if reader is None or _is_ended(reader, trial):
            if node is not None and nodes:
                raise RequestError(f"--node {node!r}: trial {trial.key} has logs of {', '.join(nodes)}")
            raise RequestError(f"trial {trial.key} has no log: see `dlperf status`")
        time.sleep(POLL_SECONDS)


def _is_ended(reader: CampaignReader, trial: FoundTrial) -> bool:
    status = reader.refresh().trials.get(trial.key)
    if status is None or status.state.finished:
        return True
    if engine_pid(trial.campaign) is None:
        print_note("no engine is running, so the log does not grow: see `dlperf resume`")
        return True
    return False


def _remove_controls(text: str) -> str:
    """Remove control characters, which could steer the terminal, but line end, return and tab."""
    return "".join(char for char in text if char in "\n\r\t" or char.isprintable())
