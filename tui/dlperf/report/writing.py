"""Files of the site's sources: written only where their bytes change, removed when nothing makes them any more."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dlperf.report.locations import language_root
from dlperf.report.text import LANGUAGES

FOLDERS = (*(f"{language_root(language)}results" for language in LANGUAGES), "data")
"""Everything in these folders of ``site/docs`` is made by ``dlperf build-site``: what is not made any more goes."""
PAGES = tuple(f"{language_root(language)}index.md" for language in LANGUAGES)
"""The generated pages outside of them."""


@dataclass
class Sources:
    """The generated part of ``site/docs`` during one build."""

    root: Path
    kept: set[str] = field(default_factory=set)
    written: int = 0
    problems: list[str] = field(default_factory=list)
    """What was damaged and made again, a line for each."""

    def write(self, name: str, content: str | bytes) -> None:
        """A file that belongs to this build. It is derived, so a crash may cut it: the next build mends it."""
        data = content.encode() if isinstance(content, str) else content
        self.kept.add(name)
        path = self.root / name
        if not _holds(path, data):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            self.written += 1

    def copy(self, name: str, source: Path) -> None:
        """A copy of a file that belongs to this build, made once; ``name`` holds the hash of its bytes."""
        if name in self.kept:
            return
        self.kept.add(name)
        target = f"{self.root}/{name}"
        if _size(target) == source.stat().st_size:
            return
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(source, target)
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
            for path in (self.root / folder).rglob("*"):
                if path.is_file() or path.is_symlink():
                    yield path.relative_to(self.root).as_posix()

    def _remove_empty_folders(self) -> None:
        for folder in FOLDERS:
            for path, _, _ in os.walk(self.root / folder, topdown=False):
                if not os.listdir(path):
                    os.rmdir(path)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return -1


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.read_bytes() == data
    except FileNotFoundError:
        return False
