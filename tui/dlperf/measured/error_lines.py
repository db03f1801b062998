"""Find the line that names the error in the output of a program and its launchers. Pure."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

LONGEST_LINE = 1000
"""Characters of a line that are searched."""

PATTERNS = {
    kind: {name: "|".join(alternatives) for name, alternatives in lists.items()}
    for kind, lists in tomllib.loads(Path(__file__).with_name("errors.toml").read_text("utf-8")).items()
}
"""``errors.toml``."""
_LINE = {name: re.compile(pattern) for name, pattern in PATTERNS["lines"].items()}
_OUTPUT = {name: re.compile(pattern, re.MULTILINE) for name, pattern in PATTERNS["output"].items()}


@dataclass(frozen=True)
class ErrorLine:
    """A line of output, or a notice of Open MPI or Lmod as one line."""

    text: str
    rank: int | None = None
    """That printed it, where the launcher says so."""
    is_notice: bool = False


def error_line(output: str) -> ErrorLine | None:
    """Return the first line that names an error: an exception, else an error of a shell, a tool or a launcher."""
    lines = program_lines(output)
    return _first_exception(lines) or next(filter(_is_error, lines), None) or _signal(output)


def last_line(output: str) -> str:
    """Return the last line that the program printed, or its launcher where it printed nothing.

    Of a launcher's lines the first that names the node whose task failed is returned, else the last.
    What Open MPI prints after its report on the first failure is of other ranks.
    """
    lines = program_lines(output)
    first = takewhile(lambda line: not (line.is_notice and _says_nothing(line)), lines)
    said = [line for line in first if not line.is_notice and not _says_nothing(line)]
    return _printable(said or [line for line in lines if _LINE["of_node"].match(line.text)][:1] or lines)


def last_statement(output: str) -> str:
    """Return the last line that says more than that something failed."""
    return _printable([line for line in program_lines(output) if not _says_nothing(line)])


def without_harmless(output: str) -> str:
    """Return output without lines that read as a cause, after which the program went on."""
    return "\n".join(line for line in output.split("\n") if not _LINE["harmless"].match(line[:LONGEST_LINE]))


def printable_end(log: bytes, lines: int = 3) -> str:
    """Return the last lines of a log as one line without control characters."""
    text = log.decode(errors="replace").replace("\r", "\n")
    kept = [" ".join("".join(c if c.isprintable() else " " for c in line).split()) for line in text.split("\n")]
    return " | ".join([line for line in kept if line][-lines:])[-300:]


def _printable(lines: Sequence[ErrorLine]) -> str:
    return printable_end("\n".join(line.text for line in lines).encode(errors="replace"), lines=1)


def _says_nothing(line: ErrorLine) -> bool:
    return _LINE["summary"].match(line.text) is not None


def failed_rank(output: str) -> int | None:
    """Return the rank that failed first, where a launcher names it."""
    found = error_line(output)
    if found and found.rank is not None:
        return found.rank
    stated = _OUTPUT["rank"].search(output)
    return int(next(filter(None, stated.groups()))) if stated else None


def program_lines(output: str) -> list[ErrorLine]:
    """Return the lines up to the launcher's report on the failure, and each notice of Open MPI as one line."""
    texts = [text[:LONGEST_LINE] for text in output.replace("\r", "\n").split("\n")]
    return list(_folded(takewhile(lambda text: not _LINE["epilogue"].match(text), texts)))


def _folded(texts: Iterable[str]) -> Iterator[ErrorLine]:
    rest = iter(texts)
    for text in rest:
        if _LINE["rule"].match(text):
            yield ErrorLine(
                _notice(list(takewhile(lambda inside: not _LINE["rule"].match(inside), rest))), is_notice=True
            )
        elif _LINE["paragraph"].match(text):
            yield ErrorLine(" ".join(map(str.strip, [text, *takewhile(str.strip, rest)])), is_notice=True)
        elif text.strip():
            tag = _LINE["tag"].match(text)
            rank = next(filter(None, tag.groups()), None) if tag else None
            yield ErrorLine(text[tag.end() if tag else 0 :].strip(), None if rank is None else int(rank))


def _notice(texts: Sequence[str]) -> str:
    """The first paragraph of a notice, and its details such as ``Node: n2``."""
    paragraph = " ".join(text.strip() for text in takewhile(str.strip, texts))
    details = "; ".join(f"{found[1].strip()}: {found[2]}" for found in map(_LINE["detail"].match, texts) if found)
    return f"{paragraph} ({details})" if details else paragraph


def _first_exception(lines: Iterable[ErrorLine]) -> ErrorLine | None:
    """The first exception, or the one that was raised while the first was handled."""
    first = None
    for line in lines:
        found = _LINE["exception"].match(line.text) or _LINE["bare_exception"].match(line.text)
        if _LINE["chained"].match(line.text):
            first = None
        elif found and first is None and not _says_nothing(line):
            first = ErrorLine(found[found.lastindex or 0].strip(), line.rank)
    return first


def _signal(output: str) -> ErrorLine | None:
    found = _OUTPUT["signal"].search(output)
    if not found:
        return None
    host, rank, signal = found.groups()
    return ErrorLine(f"rank {rank} on {host}: {signal}" if host else f"rank {rank}: {signal}", int(rank))


def _is_error(line: ErrorLine) -> bool:
    if _says_nothing(line):
        return False
    return line.is_notice or bool(_LINE["error"].match(line.text) and not _LINE["warning"].match(line.text))
