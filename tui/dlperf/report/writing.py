"""The generated files of ``site``: written only where their bytes change, removed when nothing makes them any more."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from dlperf.messages import LANGUAGES
from dlperf.report.locations import language_root

DOCS = "docs/"
DATA = "data/"
FOLDERS = (*(f"{DOCS}{language_root(language)}results" for language in LANGUAGES.values()), f"{DOCS}data", "data")
"""Everything in these folders of ``site`` is made by ``dlperf build-site``: what is not made any more goes."""
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
        path = self._keep(name)
        if not (path.is_file() and path.read_bytes() == data):
            _make_room(path)
            path.write_bytes(data)
            self.written += 1

    def copy(self, name: str, source: Path) -> None:
        """A copy of a file that belongs to this build, made once; ``name`` holds the hash of its bytes."""
        path = self._keep(name)
        if not (path.is_file() and path.stat().st_size == source.stat().st_size):
            _make_room(path)
            shutil.copyfile(source, path)
            self.written += 1

    def _keep(self, name: str) -> Path:
        place = _place(name)
        self.kept.add(place)
        return self.root / place

    def merge(self, part: Sources) -> None:
        """Take in what another process wrote."""
        self.kept |= part.kept
        self.written += part.written
        self.problems += part.problems

    def remove_stale(self) -> None:
        """Remove the generated files of an earlier build that this one did not make, and empty folders."""
        for folder in FOLDERS:
            for path, _, files in os.walk(self.root / folder, topdown=False):
                below = os.path.relpath(path, self.root)
                for name in files:
                    if f"{below}/{name}" not in self.kept:
                        os.unlink(f"{path}/{name}")
                if not os.listdir(path):
                    os.rmdir(path)


def _place(name: str) -> str:
    """Among the pages; but what trials left beside them: there may be hundreds of thousands of files, which MkDocs
    would read into memory and copy."""
    of_trials = name.startswith(DATA) and name.count("/") > 1
    return name if of_trials else DOCS + name


def _make_room(path: Path) -> None:
    """Remove the file that is there, so that a hard link of the built site keeps its bytes; make its folder."""
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
