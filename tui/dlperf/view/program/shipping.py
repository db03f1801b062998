"""The files of a program that travel to the machines with each trial, and what else it reads."""

import ast
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dlperf.catalog.files.load import BUILTIN_PROGRAMS
from dlperf.errors import RequestError
from dlperf.view.program.command import without_python

MOST_BYTES = 1 << 20
"""Of a file that travels: what is larger is data."""
_SHIPPED = frozenset({".py", ".sh", ".yaml", ".yml", ".json", ".toml", ".cfg", ".ini", ".txt"})
_MOST_SHOWN = 5


@dataclass(frozen=True)
class Shipment:
    """A program whose files are sent."""

    interpreter: tuple[str, ...]
    """Before the command; empty for what is no Python program."""
    command: tuple[str, ...]
    """With the placeholder of the files' folder."""
    files: Mapping[str, Path]
    """Name in ``catalog/workloads`` → where it lies."""
    reads: tuple[str, ...]
    """What its command and its files name besides, and what stays where it is."""

    @property
    def reads_text(self) -> str:
        """Name the first of what stays."""
        more = len(self.reads) - _MOST_SHOWN
        return ", ".join(self.reads[:_MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")


def shipment_of(words: Sequence[str], folder: Path) -> Shipment:
    """Find the files of a command that are sent, with the modules beside a script that it imports.

    Raises:
        RequestError: two of its files have one name, or one has that of a program of dlperf.
    """
    finder = _Finder(folder)
    command = [words[0], *map(finder.replaced, words[1:])]
    if not finder.files:
        raise RequestError(f"--ship: no word of the command is a file in {folder}: name the script by its path")
    return Shipment(*without_python(command), finder.files, tuple(dict.fromkeys(finder.reads)))


class _Finder:
    """Collects the files that a command names."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.files: dict[str, Path] = {}
        self.reads: list[str] = []

    def replaced(self, word: str) -> str:
        """Return a word with the path of a file that is sent in place of its own."""
        before, equals, value = word.rpartition("=")
        path = self._folder / value
        if not value or not path.exists():
            return word
        if not _travels(path):
            self.reads.append(value)
            return word
        self._take(path)
        return f"{before}{equals}{{files}}/{path.name}"

    def _take(self, path: Path) -> None:
        other = self.files.get(path.name)
        if other is not None and not other.samefile(path):
            raise RequestError(f"--ship: {other} and {path} have one name: rename one of them")
        if other is not None:
            return
        if any(folder.joinpath(path.name).exists() for folder in BUILTIN_PROGRAMS.iterdir()):
            raise RequestError(f"--ship: dlperf has a program {path.name} itself: rename {path}")
        self.files[path.name] = path
        if path.suffix == ".py":
            self._follow(path)

    def _follow(self, script: Path) -> None:
        """Take the modules beside a script that it imports, and the files that it names."""
        try:
            tree = ast.parse(script.read_bytes())
        except (SyntaxError, ValueError):
            return
        for name in _imported(tree):
            module = script.with_name(f"{name}.py")
            if module.is_file():
                self._take(module)
            elif script.with_name(name).is_dir():
                self.reads.append(f"{name}/")
        for text in _named_paths(tree):
            path = self._folder / text
            if os.path.basename(text) == text and _travels(path):
                self._take(path)
            elif path.exists() and not _is_empty_folder(path):
                self.reads.append(text)


def _travels(path: Path) -> bool:
    return path.is_file() and path.suffix in _SHIPPED and path.stat().st_size <= MOST_BYTES


def _is_empty_folder(path: Path) -> bool:
    """Return whether it is a folder with nothing to read, as one that an earlier run made for what it writes."""
    try:
        return path.is_dir() and not any(path.iterdir())
    except OSError:  # unreadable
        return False


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (item.name.partition(".")[0] for item in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _named_paths(tree: ast.Module) -> Iterator[str]:
    """Yield the texts of a program that may be paths."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and re.fullmatch(r"[^\s\0]{2,200}", node.value)
        ):
            yield node.value
