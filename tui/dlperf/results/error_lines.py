"""Find the line that names the error in the output of a program and its launchers. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from dlperf.runs.printable import printable_end

LONGEST_LINE = 1000
"""Characters of a line that are searched."""

_TAG = re.compile(r"(?:\[\d+,(\d+)\]<std(?:out|err)>:|\[(\d+)\]<std(?:out|err)>:|\[rank(\d+)\]:)\s?")
"""Open MPI's, Horovod's and PyTorch's mark of a rank."""
_RULE = re.compile(r"-{74}$")
"""Encloses a notice of Open MPI."""
_DETAIL = re.compile(r"\s*(?!NOTE)(\w[\w ]*): +(\S.*)")
_EPILOGUE = re.compile(
    r".*torch.distributed.elastic.multiprocessing.*failed \(exitcode|Process \d+ exit with status code [1-9]"
)
"""The first line of what torchrun and horovodrun print after a rank has failed."""
_SUMMARY = re.compile(
    r"(?:[EWI]\d{4} |\[\d{4}-|WARNING:|ERROR:|INFO:).*torch.distributed.(?:run|elastic|launcher)"
    r"|srun: (?:error: .*: Exited with exit code|launch/slurm|cluster configuration lacks)|slurmstepd.* CANCELLED AT "
    r"|Primary job +terminated normally|\w+ detected that one or more processes exited"
    r"|RuntimeError: could not connect to some hosts via ssh"
)
"""Says that something failed, and not what."""
_CHAINED = re.compile(r"During handling of the above exception|The above exception was the direct cause")
_EXCEPTION = re.compile(r"(?:\S+:\s|\|\s+)?((?:\w+\.)*\w*(?:Error|Exception)\b: .{1,200})$")
_BARE_EXCEPTION = re.compile(r"(?:AssertionError|NotImplementedError)$")
_ERROR = re.compile(
    r"(?:\S+: )+.*(?:not found|No such file or directory|Permission denied|cannot execute.*|Exec format error)$"
    r"|\S*python[\d.]*: |Fatal Python error: |ssh: |Host key verification failed|\S+: Permission denied \("
    r"|docker: |what\(\): |(?:\S+: ){0,2}(?:(?i:fatal error|fatal|error)): +[^\d\s]|srun: unrecognized"
)
"""Errors of shells, interpreters, ssh, Slurm and container runtimes, as a line begins."""
_WARNING = re.compile(r".*\bwarn", re.IGNORECASE)
_SIGNAL = re.compile(
    r"^Root Cause .*\n(?:(?! *rank ).*\n){1,4} *rank +: (\d+) .*\n(?:.*\n){1,3} *traceback : (Signal (?!15 ).*)",
    re.MULTILINE,
)
"""In torchrun's report on a rank that a signal ended, which printed nothing itself."""
_RANK = re.compile(
    r"Process name: \[\[\d+,\d+\],(\d+)\]|process rank (\d+) with PID|^Process (\d+) exit with status", re.MULTILINE
)


@dataclass(frozen=True)
class Line:
    """A line of output, or a notice of Open MPI as one line."""

    text: str
    rank: int | None = None
    """That printed it, where the launcher says so."""
    is_notice: bool = False


def error_line(output: str) -> Line | None:
    """Return the first line that names an error: an exception, else an error of a shell, a tool or a launcher."""
    lines = program_lines(output)
    return _first_exception(lines) or next(filter(_is_error, lines), None) or _signal(output)


def last_line(output: str) -> str:
    """Return the last line that the program printed, or its launcher where it printed nothing.

    What Open MPI prints after its report on the first failure is of other ranks.
    """
    lines = program_lines(output)
    first = takewhile(lambda line: not (line.is_notice and _says_nothing(line)), lines)
    return _printable([line for line in first if not line.is_notice and not _says_nothing(line)] or lines)


def last_statement(output: str) -> str:
    """Return the last line that says more than that something failed."""
    return _printable([line for line in program_lines(output) if not _says_nothing(line)])


def _printable(lines: Sequence[Line]) -> str:
    return printable_end("\n".join(line.text for line in lines).encode(errors="replace"), lines=1)


def _says_nothing(line: Line) -> bool:
    return _SUMMARY.match(line.text) is not None


def failed_rank(output: str) -> int | None:
    """Return the rank that failed first, where a launcher names it."""
    found = error_line(output)
    if found and found.rank is not None:
        return found.rank
    stated = _RANK.search(output)
    return int(next(filter(None, stated.groups()))) if stated else None


def program_lines(output: str) -> list[Line]:
    """Return the lines up to the launcher's report on the failure, and each notice of Open MPI as one line."""
    texts = [text[:LONGEST_LINE] for text in output.replace("\r", "\n").split("\n")]
    return list(_folded(takewhile(lambda text: not _EPILOGUE.match(text), texts)))


def _folded(texts: Iterable[str]) -> Iterator[Line]:
    rest = iter(texts)
    for text in rest:
        if _RULE.match(text):
            yield Line(_notice(list(takewhile(lambda inside: not _RULE.match(inside), rest))), is_notice=True)
        elif text.strip():
            tag = _TAG.match(text)
            rank = next(filter(None, tag.groups()), None) if tag else None
            yield Line(text[tag.end() if tag else 0 :].strip(), None if rank is None else int(rank))


def _notice(texts: Sequence[str]) -> str:
    """The first paragraph of a notice, and its details such as ``Node: n2``."""
    paragraph = " ".join(text.strip() for text in takewhile(str.strip, texts))
    details = "; ".join(f"{found[1].strip()}: {found[2]}" for found in map(_DETAIL.match, texts) if found)
    return f"{paragraph} ({details})" if details else paragraph


def _first_exception(lines: Iterable[Line]) -> Line | None:
    """The first exception, or the one that was raised while the first was handled."""
    first = None
    for line in lines:
        found = _EXCEPTION.match(line.text) or _BARE_EXCEPTION.match(line.text)
        if _CHAINED.match(line.text):
            first = None
        elif found and first is None and not _says_nothing(line):
            first = Line(found[found.lastindex or 0].strip(), line.rank)
    return first


def _signal(output: str) -> Line | None:
    found = _SIGNAL.search(output)
    return Line(f"rank {found[1]}: {found[2]}", int(found[1])) if found else None


def _is_error(line: Line) -> bool:
    if _says_nothing(line):
        return False
    return line.is_notice or bool(_ERROR.match(line.text) and not _WARNING.match(line.text))
