"""SHA-256 of files, kept beside their size and times, so that a file that did not change is not read again."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from dlperf.errors import DlperfError
from dlperf.runs.checksums import sha256_of
from dlperf.runs.store import dump_record, read_record, write_atomic

Stamp = tuple[int, int, int]
"""Size, time of change of the bytes, time of change of anything, in nanoseconds."""


@dataclass(frozen=True)
class KeptDigests:
    """The derived file: path → stamp and hash."""

    files: dict[str, tuple[Stamp, str]] = field(default_factory=dict)


class Digests:
    """Hashes of the files of a workspace. Files that are gone stay known until the folder is deleted."""

    def __init__(self, kept_in: Path) -> None:
        self._kept_in = kept_in
        self._known = _read(kept_in)
        self._asked: dict[str, tuple[Stamp, str]] = {}

    def of(self, path: str | Path) -> str | None:
        """The hash of a file as it is now; None where there is none, it cannot be read, or it is a link."""
        name = os.fspath(path)
        try:
            status = os.lstat(name)
            if not stat.S_ISREG(status.st_mode):
                return None
            stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            known = self._known.get(name)
            digest = known[1] if known and known[0] == stamp else sha256_of(name)
        except OSError:
            return None
        self._asked[name] = (stamp, digest)
        return digest

    def merge(self, others: Digests) -> None:
        """Take in what another process asked for."""
        self._asked |= others._asked

    def keep(self) -> None:
        """Write down what is new; a workspace that cannot be written to works as well without it."""
        if self._asked.items() <= self._known.items():
            return
        try:
            write_atomic(self._kept_in, dump_record(KeptDigests(self._known | self._asked)), durable=False)
        except DlperfError:
            return


def _read(path: Path) -> dict[str, tuple[Stamp, str]]:
    try:
        return read_record(path, KeptDigests).files
    except DlperfError:
        return {}
