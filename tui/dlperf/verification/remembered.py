"""Trials that this machine measured, or recomputed and found right, by content: a build need not recompute them.

No file of a workspace can vouch for another one, as whoever edits one can edit both. What is remembered lies in the
user's cache, and holds the hash of everything that a result depends on and of the result itself.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, cached_property
from operator import attrgetter, itemgetter
from pathlib import Path

from dlperf.catalog.plugins import ESTIMATORS, FORMATS, METRICS, installed
from dlperf.derived.timeline import VERSION
from dlperf.errors import DlperfError
from dlperf.opening import files_below, folders_below, make_folder, private_writer, read_bytes
from dlperf.runs.archive import sha256_if_readable
from dlperf.runs.paths import CampaignPaths, TrialPaths, WorkspacePaths, user_cache
from dlperf.runs.records import TrialStatus
from dlperf.runs.store import write_atomic

CACHE = "DLPERF_CHECKED"
"""Variable with the folder where it is remembered."""
_DIGEST = re.compile(rb"[0-9a-f]{64}")
ENTRIES = (".yaml", ".yml")
"""Files of a catalogue in which a log format may be."""
PACKAGE = Path(__file__).parents[1]
SOURCES = (".py", ".toml", *ENTRIES)
_RUNNING = ("bundles", "campaign", "executors", "nodes", "render", "workloads")
WITHOUT_RESULTS = frozenset((*_RUNNING, "app", "cli", "report", "table", "verdicts", "view"))
"""Packages that only plan and run trials, or show and judge what they gave."""


class RightTrials:
    """The trials of one campaign that were found right."""

    def __init__(self, workspace: WorkspacePaths, campaign: CampaignPaths) -> None:
        self._campaign = campaign
        self._context = _context(workspace, campaign)
        self._right: set[str] = set()
        self._shared: dict[bytes, str] = {}
        """Name of a file that trials share → its hash."""

    def mark(self, status: TrialStatus) -> str:
        """Return the hash of a trial's files, and of all else that its result depends on."""
        paths = self._campaign.trial(status.key)
        known = str(status.key), repr((status.state, status.cause, status.started))
        archive, hashes = self._archive(paths)
        return _hash_of((*self._context, *known, *_hashes(paths.directory, hashes), *self._shared_by(paths, archive)))

    def has(self, mark: str) -> bool:
        """Whether it was found right, now or before."""
        return mark in self._before or mark in self._right

    def add(self, mark: str) -> None:
        """Remember it, once ``keep`` is called."""
        self._right.add(mark)

    def append(self, status: TrialStatus) -> None:
        """Remember a trial at once, which is right as it was just measured; a cache that cannot be written is none."""
        with suppress(OSError):
            make_folder(self._path.parent)
            with open(self._path, "ab", opener=private_writer) as stream:
                stream.write(f"{self.mark(status)}\n".encode())

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

    def _archive(self, paths: TrialPaths) -> tuple[bytes, dict[str, str]]:
        """Return the bytes of a trial's archive, which are read once, and their hash by the name of the file."""
        with suppress(OSError):
            data = read_bytes(paths.archive)
            return data, {paths.archive.name: hashlib.sha256(data).hexdigest()}
        return b"", {}

    def _shared_by(self, paths: TrialPaths, archive: bytes) -> Iterator[str]:
        """Yield the hashes of files that trials share, of those that the archive of a trial names."""
        objects = f"{paths.objects}/"
        for name in sorted(set(_DIGEST.findall(archive))):
            if name not in self._shared and os.path.exists(file := objects + name.decode()):
                self._shared[name] = "".join(_hash(file))
            yield self._shared.get(name, "")


def _context(workspace: WorkspacePaths, campaign: CampaignPaths) -> tuple[str, ...]:
    """What the results of all trials depend on: this program, log formats, the plan."""
    entries = sorted(path for path in files_below(workspace.catalog) if path.suffix in ENTRIES)
    added = (installed(group).values() for group in (FORMATS, ESTIMATORS, METRICS))
    packages = sorted(f"{entry.value} {entry.dist and entry.dist.version}" for group in added for entry in group)
    parts = (*packages, *(part for path in entries for part in _hash(path)), *_hash(campaign.plan))
    return _program(), str(VERSION), _hash_of(parts)


@cache
def _program() -> str:
    """Return the hash of this program's files on which a result depends, which builds of several commits may share."""
    paths = (path for path in files_below(PACKAGE) if path.suffix in SOURCES)
    names = {str(path.relative_to(PACKAGE)): path for path in paths}
    return _hash_of(
        part
        for name in sorted(names)
        if name.partition("/")[0] not in WITHOUT_RESULTS
        for part in (name, *_hash(names[name]))
    )


def _hash_of(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _hashes(folder: Path, known: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of all files below a folder, and the hash of each, so that no other files yield the same.

    Args:
        known: hashes of files in the folder itself, by name.
    """
    for path, entries in sorted(folders_below(folder), key=itemgetter(0)):
        yield f"{path.removeprefix(str(folder))}/"
        for entry in sorted(entries, key=attrgetter("name")):
            if not entry.is_dir(follow_symlinks=False):
                yield from (entry.name, known.get(entry.name) or "".join(_hash(entry.path)))
        known = {}  # the folder itself comes first


def _hash(path: str | Path) -> tuple[str, ...]:
    """The hash of a file; none where it is no file, or cannot be read."""
    digest = sha256_if_readable(path)
    return () if digest is None else (digest,)
