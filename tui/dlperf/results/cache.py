"""Rows of a large campaign, kept in one derived file: 50 000 small files cost a reader minutes, one costs a second."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dlperf import __version__
from dlperf.errors import DlperfError
from dlperf.results.model import ConfigurationResult
from dlperf.runs.paths import CampaignPaths, TrialPaths
from dlperf.runs.records import CampaignRecord
from dlperf.runs.store import dump_record, read_record_if_whole, write_atomic

WORTH_KEEPING = 500
"""Trials from which on the derived file is written; fewer are read as fast without it."""


@dataclass(frozen=True)
class CachedRows:
    """The derived file: plan and rows, and the stamp of the files that they come from."""

    stamp: str
    record: CampaignRecord
    rows: tuple[ConfigurationResult, ...]


def stamp_of(paths: CampaignPaths) -> str:
    """Changes whenever the plan, the journal or any trial's result does: names, sizes and times of change."""
    digest = hashlib.sha256(__version__.encode())
    for path in (str(paths.plan), str(paths.journal), *_results(str(paths.directory))):
        try:
            status = os.stat(path)
            told = f"{status.st_size} {status.st_mtime_ns}"
        except OSError:
            told = "missing"
        digest.update(f"{path}\0{told}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def read_rows(path: Path, stamp: str) -> CachedRows | None:
    """What is kept in ``path``, or None where nothing is of this stamp."""
    cached = read_record_if_whole(path, CachedRows)
    return cached if cached and cached.stamp == stamp else None


def keep_rows(path: Path, cached: CachedRows) -> None:
    """Keep rows for the next reader; a workspace that cannot be written to is read as well without it."""
    try:
        write_atomic(path, dump_record(cached), durable=False)
    except DlperfError:
        return


def _results(campaign: str) -> Iterator[str]:
    """Paths as text: a path object for each of 50 000 files costs more than asking the disk about them."""
    name = TrialPaths(Path()).result.name
    for configuration in _folders(campaign):
        for trial in _folders(configuration):
            yield f"{trial}/{name}"


def _folders(path: str) -> list[str]:
    with os.scandir(path) as entries:
        return sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
