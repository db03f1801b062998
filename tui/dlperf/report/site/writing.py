"""The files from which a site is built: those whose bytes change are written, those of earlier builds removed."""

from __future__ import annotations

import filecmp
import gzip
import os
import sys
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from io import BufferedWriter
from pathlib import Path

from dlperf.evidence.logs import is_gzip
from dlperf.opening import copy_file, folders_below, is_plain, is_regular, linked, make_folder, read_bytes, writer
from dlperf.redaction import Found, Redactor
from dlperf.report.redaction import blocks_of

DOCS = "docs/"
DATA = "data/"


@dataclass
class Sources:
    """The files of one build, by address on the site or page name."""

    root: Path
    redactor: Redactor = field(default_factory=Redactor)
    """Applied to everything that is written."""
    redacted: dict[Found, set[str]] = field(default_factory=dict)
    """What was replaced, and in which files."""
    kept: set[str] = field(default_factory=set)
    written: int = 0
    problems: list[str] = field(default_factory=list)
    """Damaged files that were made again, one a line."""

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file without secrets if its content differs, which also repairs one truncated by a crash."""
        data = self._redact(name, content.encode() if isinstance(content, str) else content)
        self._put(self._keep(name), data)

    def write_binary(self, name: str, data: bytes) -> None:
        """Write a file whose content was redacted before it was encoded."""
        self._put(self._keep(name), data)

    def place(self, name: str, content: Path | bytes) -> None:
        """Write a file that holds nothing of a trial; ``name`` is its path below ``root``."""
        self.kept.add(name)
        self._put(self.root / name, content if isinstance(content, bytes) else read_bytes(content))

    def _put(self, path: Path, data: bytes) -> None:
        if _content(path) != data:
            _make_room(path)
            with open(path, "wb", opener=writer) as stream:
                stream.write(data)
            self.written += 1

    def _put_blocks(self, path: Path, blocks: Iterable[bytes], compressed: bool) -> None:
        make_folder(path.parent)
        new = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        with open(new, "wb", opener=writer) as file, _packed(file) if compressed else nullcontext(file) as stream:
            stream.writelines(blocks)
        if is_regular(path) and filecmp.cmp(path, new, shallow=False):
            new.unlink()
        else:
            new.replace(path)
            self.written += 1

    def copy(self, name: str, source: Path | bytes) -> None:
        """Copy a file without secrets once; ``name`` holds the hash of the archived bytes."""
        if _place(name) in self.kept:
            return
        if isinstance(source, bytes):
            self.write(name, source)
            return
        path = self._keep(name)
        if any(self._redact(name, block) != block for block in blocks_of(source)):
            self._put_blocks(path, (self._redact(name, block) for block in blocks_of(source)), is_gzip(source))
        elif not (is_regular(path) and filecmp.cmp(path, source, shallow=False)):  # somebody may have sent the folder
            _make_room(path)
            copy_file(source, path)
            self.written += 1

    def _redact(self, name: str, data: bytes) -> bytes:
        data, found = self.redactor.redact(data)
        for item in found:
            self.redacted.setdefault(item, set()).add(name)
        return data

    def _keep(self, name: str) -> Path:
        place = _place(name)
        self.kept.add(place)
        return self.root / place

    def merge(self, part: Sources) -> None:
        """Add what another process wrote."""
        self.kept |= part.kept
        self.written += part.written
        self.problems += part.problems
        for item, names in part.redacted.items():
            self.redacted.setdefault(item, set()).update(names)

    def remove_stale(self) -> None:
        """Remove files that this build did not make, and empty folders."""
        if not is_plain(self.root):
            raise linked(self.root)
        for path, entries in reversed(list(folders_below(self.root, levels=sys.maxsize))):
            below = os.path.relpath(path, self.root)
            for entry in entries:
                is_kept = os.path.normpath(f"{below}/{entry.name}") in self.kept
                if not (entry.is_dir(follow_symlinks=False) or (is_kept and not entry.is_symlink())):
                    os.unlink(entry.path)
            if not os.listdir(path):
                os.rmdir(path)


def _content(path: Path) -> bytes | None:
    """Return what a file of an earlier build holds; None where there is none that can be read."""
    with suppress(OSError):
        return read_bytes(path)
    return None


def _packed(file: BufferedWriter) -> gzip.GzipFile:
    return gzip.GzipFile("", "wb", 9, file, 0)


def _place(name: str) -> str:
    # MkDocs would read and copy hundreds of thousands of files of trials, were they in its folder
    of_trials = name.startswith(DATA) and name.count("/") > 1
    return name if of_trials else DOCS + name


def _make_room(path: Path) -> None:
    """Make the folder and remove the old file, to which the built site may have a hard link."""
    make_folder(path.parent)
    path.unlink(missing_ok=True)
