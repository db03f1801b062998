"""Trials that this machine recomputed and found right, by content: they need not be recomputed to be published again.

No file of a workspace can vouch for another one, as whoever edits one can edit both. What is remembered lies in the
user's cache, and holds the hash of everything that a result depends on and of the result itself.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from dlperf.catalog.plugins import ESTIMATORS, FORMATS, METRICS, installed
from dlperf.derived.timeline import VERSION
from dlperf.errors import DlperfError
from dlperf.opening import read_bytes
from dlperf.runs.archive import sha256_of
from dlperf.runs.paths import CampaignPaths, WorkspacePaths, user_cache
from dlperf.runs.records import TrialStatus
from dlperf.runs.store import write_atomic
from dlperf.version import version

CACHE = "DLPERF_CHECKED"
"""Variable with the folder where it is remembered."""
ENTRIES = ("*.yaml", "*.yml")
"""Files of a catalogue in which a log format may be."""


class RightTrials:
    """The trials of one campaign that were found right."""

    def __init__(self, workspace: WorkspacePaths, campaign: CampaignPaths) -> None:
        self._workspace, self._campaign = workspace, campaign
        self._right: set[str] = set()

    def mark(self, status: TrialStatus) -> str:
        """Return the hash of a trial's files, and of all else that its result depends on."""
        paths = self._campaign.trial(status.key)
        files = (*_hashes(paths.directory), repr(status))
        return _hash_of((*self._context, str(status.key), *files))

    def has(self, mark: str) -> bool:
        """Whether it was found right, now or before."""
        return mark in self._before or mark in self._right

    def add(self, mark: str) -> None:
        """Remember it, once ``keep`` is called."""
        self._right.add(mark)

    def keep(self) -> None:
        """Write what was added, and forget the rest; a cache that cannot be written is none."""
        if self._right != self._before:
            with suppress(DlperfError):
                write_atomic(self._path, "".join(f"{mark}\n" for mark in sorted(self._right)).encode(), private=True)

    @cached_property
    def _before(self) -> frozenset[str]:
        try:
            return frozenset(read_bytes(self._path).decode().split())
        except (OSError, ValueError):
            return frozenset()

    @property
    def _path(self) -> Path:
        return user_cache(CACHE, "checked") / _hash_of(_hash(self._campaign.plan))

    @cached_property
    def _context(self) -> tuple[str, ...]:
        """What the results of all trials depend on: this program, log formats, the plan, files that trials share."""
        catalog = self._workspace.catalog
        entries = sorted(path for pattern in ENTRIES for path in catalog.rglob(pattern))
        added = (installed(group).values() for group in (FORMATS, ESTIMATORS, METRICS))
        packages = sorted(f"{entry.value} {entry.dist and entry.dist.version}" for group in added for entry in group)
        shared = _hashes(self._campaign.directory / "objects")
        parts = (*packages, *(part for path in entries for part in _hash(path)), *_hash(self._campaign.plan), *shared)
        return version(), str(VERSION), _hash_of(parts)


def _hash_of(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _hashes(folder: Path) -> Iterator[str]:
    """Yield the names of all files below a folder, and the hash of each, so that no other files yield the same."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False):
                yield from (f"{entry.name}/", *_hashes(Path(entry.path)), "/")
            else:
                yield from (entry.name, *(_hash(entry.path) or ("",)))


def _hash(path: str | Path) -> tuple[str, ...]:
    """The hash of a file; none where it is no file, or cannot be read."""
    try:
        return (sha256_of(path),)
    except OSError:
        return ()
