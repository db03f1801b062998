"""The files of a trial: what was sent to its nodes and what came back, stored by content.

Logs and telemetry stay where they grow. All other files are moved into ``archive.json`` when the trial is sealed: small
texts inside it, larger files below the campaign's ``objects/``, once for each content.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from dlperf.opening import descriptor_of, files_below, is_regular, open_regular, read_bytes
from dlperf.redaction.redactor import has_placeholder
from dlperf.runs.paths import NodePaths, TrialPaths
from dlperf.runs.schema import SCHEMA_VERSION
from dlperf.runs.secrets import redact_program
from dlperf.runs.store import read_record_if_whole, record_bytes, write_atomic

INLINE_BYTES = 2048
"""Larger texts become objects: programs and environments, which many trials share."""
FILE, OBJECT, TEXT = "file", "object", "text"
RENDERED = "rendered"
"""First part of the names of sent files: ``rendered/<node>/launch.sh``."""
FOLDED = frozenset({"trial.json", "ref.json", "launch.sh", "supervisor.json", "environment.json", "exit.json"})
_DIGEST = re.compile("[0-9a-f]{64}")
PART = 1 << 16
"""Bytes read at once: ``hashlib.file_digest`` would allocate 256 KB for each of many small files."""


@dataclass(frozen=True)
class ChecksumProblem:
    """A file of a trial that is not what was archived."""

    file: str
    """Relative to the trial's folder."""
    problem: str
    """changed, missing, added, unreadable, or (of ``archive.json``) unsealed."""


@dataclass(frozen=True)
class ArchivedFile:
    """One file of a trial."""

    path: str
    """Relative to the trial's folder; there may be no file any more."""
    sha256: str
    size: int
    kept: str
    """file: at ``path``; object: in ``objects/`` of the campaign; text: in ``texts`` of the record."""


@dataclass(frozen=True)
class ArchiveRecord:
    """``archive.json``."""

    files: tuple[ArchivedFile, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)
    """SHA-256 → content, as UTF-8."""
    sealed: bool = False
    """False until the trial has ended: only sent files are listed."""
    schema: int = SCHEMA_VERSION


class TrialFiles:
    """Reads the files of one trial, loose or archived; what was sealed comes first."""

    def __init__(self, paths: TrialPaths) -> None:
        self._paths = paths
        self._hashes: dict[Path, str | None] = {}

    @cached_property
    def record(self) -> ArchiveRecord | None:
        """``archive.json``; None where it is missing or damaged."""
        return read_record_if_whole(self._paths.archive, ArchiveRecord)

    @cached_property
    def _archived(self) -> dict[str, ArchivedFile]:
        return {item.path: item for item in self.record.files} if self.record else {}

    @property
    def sealed(self) -> bool:
        """Whether the trial ended and all its files are listed."""
        return bool(self.record and self.record.sealed)

    def sent(self) -> list[Path]:
        """Return the paths of files that were sent to the nodes, in order."""
        return sorted(self._paths.directory / name for name in self._archived if name.startswith(f"{RENDERED}/"))

    def nodes(self) -> list[NodePaths]:
        """Return the nodes that left any file, in name order."""
        folders = {"/".join(parts[:2]) for name in self._archived if (parts := name.split("/"))[0] == "nodes"}
        archived = (NodePaths(self._paths.directory / folder) for folder in folders)
        return sorted({*self._paths.nodes(), *archived}, key=lambda node: node.directory)

    def has(self, path: Path) -> bool:
        """Whether the trial has this file."""
        return self.source(path) is not None

    def source(self, path: Path) -> Path | bytes | None:
        """Return the file that holds the bytes of ``path``, or the bytes; None where there are none."""
        item = self._archived.get(path.relative_to(self._paths.directory).as_posix())
        if self.sealed and item and (kept := self._kept(item)) is not None:
            return kept
        if is_regular(path):
            return path
        return self._kept(item) if item else None

    def _kept(self, item: ArchivedFile) -> Path | bytes | None:
        if item.kept == TEXT and self.record and item.sha256 in self.record.texts:
            return self.record.texts[item.sha256].encode()
        if item.kept == OBJECT and _DIGEST.fullmatch(item.sha256):
            stored = self._paths.objects / item.sha256
            return stored if is_regular(stored) else None
        return None

    def read(self, path: Path) -> bytes:
        """Return the bytes of a file of the trial, named by its path in the trial's folder.

        Raises:
            OSError: there is none, or it cannot be read.
        """
        source = self.source(path)
        if source is None:
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return source if isinstance(source, bytes) else read_bytes(source)

    def sha256_of(self, path: Path) -> str | None:
        """Return the SHA-256 of a file, which is read once; None where it cannot be read."""
        if path not in self._hashes:
            self._hashes[path] = sha256_if_readable(path)
        return self._hashes[path]

    def digests(self) -> dict[str, str]:
        """Return the SHA-256 of every archived file by its name."""
        return {item.path: item.sha256 for item in self.record.files} if self.record else {}

    def redacted(self) -> list[str]:
        """Return the names of archived files that had a secret, and so differ from those on the nodes."""
        kept = {name: self._kept(item) for name, item in self._archived.items() if item.kept != FILE}
        contents = {name: read_bytes(source) if isinstance(source, Path) else source for name, source in kept.items()}
        return [name for name, content in contents.items() if content and has_placeholder(content)]

    def problems(self) -> list[ChecksumProblem]:
        """List every file that changed, vanished or appeared since the trial was sealed, in name order."""
        loose: dict[str, Path | bytes] = dict(_loose_files(self._paths))
        if self.record is None or not self.record.sealed:
            problem = "missing" if not self._paths.archive.exists() else "unsealed" if self.record else "unreadable"
            return [ChecksumProblem(self._paths.archive.name, problem)]
        kept = {name: source for name, item in self._archived.items() if (source := self._kept(item)) is not None}
        return self._compare(self.digests(), kept | loose)

    def _compare(self, expected: Mapping[str, str], present: Mapping[str, Path | bytes]) -> list[ChecksumProblem]:
        found = [ChecksumProblem(name, "added") for name in present.keys() - expected.keys()]
        found += [ChecksumProblem(name, "missing") for name in expected.keys() - present.keys()]
        for name, digest in expected.items():
            if name in present and (problem := self._difference(present[name], digest)):
                found.append(ChecksumProblem(name, problem))
        return sorted(found, key=lambda item: item.file)

    def _difference(self, source: Path | bytes, expected: str) -> str | None:
        digest = hashlib.sha256(source).hexdigest() if isinstance(source, bytes) else self.sha256_of(source)
        return "unreadable" if digest is None else None if digest == expected else "changed"


def sha256_of(path: str | Path) -> str:
    """Return the SHA-256 of a file of any size, in hexadecimal."""
    descriptor = descriptor_of(path)
    try:
        digest = hashlib.sha256()
        while part := os.read(descriptor, PART):
            digest.update(part)
        return digest.hexdigest()
    finally:
        os.close(descriptor)


def sha256_if_readable(path: str | Path) -> str | None:
    """Return the same of a file of a workspace; None where it cannot be read."""
    with suppress(OSError):
        return sha256_of(path)
    return None


def keep_sent(paths: TrialPaths, files: Mapping[str, bytes]) -> None:
    """Store what is sent to the nodes of a trial, without secrets, before it is sent.

    Args:
        files: path below ``rendered/`` → content.
    """
    before = read_record_if_whole(paths.archive, ArchiveRecord) or ArchiveRecord()
    folded = [_fold(paths, f"{RENDERED}/{name}", redact_program(paths.archive, data)) for name, data in files.items()]
    _write_archive(paths, _merged(before, folded, sealed=False))


def seal(paths: TrialPaths) -> None:
    """List every file of a trial that ended, with its hash, and fold all but logs and telemetry into ``archive.json``.

    A crash in between leaves loose files next to the list; sealing again finishes the job.

    Raises:
        StorageError: a file cannot be written.
    """
    before = read_record_if_whole(paths.archive, ArchiveRecord) or ArchiveRecord()
    loose = _loose_files(paths)
    folded = {name: path for name, path in loose.items() if is_folded(name)}
    found = [_fold(paths, name, read_bytes(path)) for name, path in folded.items()]
    grown = {name: path for name, path in loose.items() if name not in folded}
    for path in grown.values():
        _flush(path)  # what the record lists is never collected again
    found += [(ArchivedFile(name, sha256_of(path), path.stat().st_size, FILE), None) for name, path in grown.items()]
    kept = ArchiveRecord(tuple(item for item in before.files if item.kept != FILE), before.texts)
    _write_archive(paths, _merged(kept, found, sealed=True))
    _remove(paths, folded.values())


def _flush(path: Path) -> None:
    with open_regular(path) as stream:
        os.fsync(stream.fileno())


def _write_archive(paths: TrialPaths, record: ArchiveRecord) -> None:
    # not write_record: redacting it again would change texts whose hashes it holds
    write_atomic(paths.archive, record_bytes(record), private=True)


def is_folded(name: str) -> bool:
    """Whether a file of a trial is moved into ``archive.json`` or ``objects/``: all but logs and telemetry."""
    parts = name.split("/")
    return parts[0] == RENDERED or (parts[-1] in FOLDED and "ranks" not in parts)


def _fold(paths: TrialPaths, name: str, data: bytes) -> tuple[ArchivedFile, str | None]:
    """Return the entry of a file and its text; a file that is no small text is written as an object."""
    digest = hashlib.sha256(data).hexdigest()
    text = _text_of(data)
    if text is None:
        path = paths.objects / digest
        if sha256_if_readable(path) != digest:
            write_atomic(path, data, private=True)
    return ArchivedFile(name, digest, len(data), OBJECT if text is None else TEXT), text


def _text_of(data: bytes) -> str | None:
    with suppress(UnicodeDecodeError):
        return data.decode() if len(data) <= INLINE_BYTES else None
    return None


def _merged(before: ArchiveRecord, found: Iterable[tuple[ArchivedFile, str | None]], *, sealed: bool) -> ArchiveRecord:
    """Add or replace the entries of ``found``, and drop texts that no entry needs."""
    found = list(found)
    files = {item.path: item for item in (*before.files, *(item for item, _ in found))}
    texts = before.texts | {item.sha256: text for item, text in found if text is not None}
    needed = {item.sha256 for item in files.values() if item.kept == TEXT}
    ordered = tuple(files[name] for name in sorted(files))
    return ArchiveRecord(ordered, {digest: texts[digest] for digest in sorted(needed & texts.keys())}, sealed)


def _remove(paths: TrialPaths, files: Iterable[Path]) -> None:
    for file in files:
        file.unlink(missing_ok=True)
        for folder in file.parents:
            if folder == paths.directory:
                break
            with suppress(OSError):
                folder.rmdir()


def _loose_files(paths: TrialPaths) -> dict[str, Path]:
    """Return regular files below the trial's folder by name; links are not followed, so nothing outside is read."""
    own = {paths.result, paths.timeline, paths.archive}
    files = sorted(path for path in files_below(paths.directory) if path not in own)
    return {_name(str(path)[len(f"{paths.directory}/") :]): path for path in files}


def _name(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")
