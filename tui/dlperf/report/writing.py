"""The generated files of ``site``: written only where their bytes change, removed when nothing makes them any more."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from dlperf.messages import LANGUAGES
from dlperf.report.locations import language_root

DOCS = "docs/"
DATA = "data/"
FOLDERS = (*(f"{DOCS}{language_root(language)}results" for language in LANGUAGES.values()), f"{DOCS}data", "data")
"""Everything in these folders of ``site`` is made by ``dlperf build-site``: what is not made any more goes."""
COPIED_AT_ONCE = 1 << 16
PAGES = tuple(f"{DOCS}{language_root(language)}index.md" for language in LANGUAGES.values())
"""The generated pages outside of them."""


@dataclass
class Sources:
    """The generated part of ``site`` during one build; names are addresses of the built site, or pages for MkDocs."""

    root: Path
    kept: set[str] = field(default_factory=set)
    written: int = 0
    problems: list[str] = field(default_factory=list)
    """What was damaged and made again, a line for each."""

    def write(self, name: str, content: str | bytes) -> None:
        """A file that belongs to this build. It is derived, so a crash may cut it: the next build mends it."""
        data = content.encode() if isinstance(content, str) else content
        place = _place(name)
        self.kept.add(place)
        path = f"{self.root}/{place}"
        if not _holds(path, data):
            with _new_file(path) as stream:
                stream.write(data)
            self.written += 1

    def copy(self, name: str, source: Path) -> None:
        """A copy of a file that belongs to this build, made once; ``name`` holds the hash of its bytes."""
        place = _place(name)
        if place in self.kept:
            return
        self.kept.add(place)
        target = f"{self.root}/{place}"
        size = _size(target)
        if size >= 0 and size == os.stat(source).st_size:
            return
        # shutil.copyfile looks at both files several times before it begins
        with open(source, "rb", buffering=0) as read, _new_file(target) as write:
            shutil.copyfileobj(read, write, COPIED_AT_ONCE)
        self.written += 1

    def merge(self, part: Sources) -> None:
        """Take in what another process wrote."""
        self.kept |= part.kept
        self.written += part.written
        self.problems += part.problems

    def remove_stale(self) -> int:
        """Remove the generated files of an earlier build that this one did not make; the number of them."""
        stale = [name for name in self._generated() if name not in self.kept]
        for name in stale:
            (self.root / name).unlink()
        self._remove_empty_folders()
        return len(stale)

    def _generated(self) -> Iterator[str]:
        for folder in FOLDERS:
            for path, _, files in os.walk(self.root / folder):
                below = os.path.relpath(path, self.root)
                yield from (f"{below}/{name}" for name in files)

    def _remove_empty_folders(self) -> None:
        for folder in FOLDERS:
            for path, _, _ in os.walk(self.root / folder, topdown=False):
                if not os.listdir(path):
                    os.rmdir(path)


def _place(name: str) -> str:
    """Among the pages; but what trials left beside them: there may be hundreds of thousands of files, which MkDocs
    would read into memory and copy."""
    of_trials = name.startswith(DATA) and name.count("/") > 1
    return name if of_trials else DOCS + name


def _new_file(path: str) -> IO[bytes]:
    """Another file than the one that is there, which the built site may share: that keeps its bytes until it is built
    again. Folders are made where they are missing."""
    try:
        return open(path, "xb")
    except FileExistsError:
        os.unlink(path)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    return open(path, "xb")


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return -1


def _holds(path: str, data: bytes) -> bool:
    if _size(path) != len(data):
        return False
    try:
        with open(path, "rb") as stream:
            return stream.read() == data
    except FileNotFoundError:
        return False
