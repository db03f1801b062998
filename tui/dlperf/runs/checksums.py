"""``SHA256SUMS`` of a trial: what was archived, so that a later change is seen; ``sha256sum -c`` reads it too."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from dlperf.runs.paths import TrialPaths
from dlperf.runs.store import write_atomic

PART = 1 << 16
"""Bytes read at once. Most files are smaller: ``hashlib.file_digest`` would make a buffer of 256 KB for each of them."""
_LINE = re.compile(r"(\\?)([0-9a-f]{64}) [ *](.+)")


@dataclass(frozen=True)
class ChecksumProblem:
    """A file of a trial that is not what was archived."""

    file: str
    """Relative to the trial's folder."""
    problem: str
    """changed, missing, added, or unreadable."""


def sha256_of(path: str | Path) -> str:
    """The SHA-256 of a file of any size, in hexadecimal."""
    with open(path, "rb", buffering=0) as stream:
        digest = hashlib.sha256()
        while part := stream.read(PART):
            digest.update(part)
        return digest.hexdigest()


def write_checksums(paths: TrialPaths) -> None:
    """Seal a trial: the hash of every file but ``result.json`` and ``timeline.json``, which are derived."""
    lines = [_line(sha256_of(paths.directory / name), name) for name in _archived_names(paths)]
    write_atomic(paths.checksums, "".join(lines).encode("utf-8", "surrogateescape"))


def checksum_problems(paths: TrialPaths) -> list[ChecksumProblem]:
    """Every file that changed, vanished or appeared since the trial was sealed, in name order.

    A trial without ``SHA256SUMS`` has one problem: that file is missing.
    """
    try:
        expected = _parse(paths.checksums.read_text("utf-8", "surrogateescape"))
    except OSError:
        return [ChecksumProblem(paths.checksums.name, "missing")]
    present = set(_archived_names(paths))
    found = [ChecksumProblem(name, "added") for name in present - expected.keys()]
    found += [ChecksumProblem(name, "missing") for name in expected.keys() - present]
    found += [
        ChecksumProblem(name, problem)
        for name in present & expected.keys()
        if (problem := _difference(paths.directory / name, expected[name]))
    ]
    return sorted(found, key=lambda item: item.file)


def _difference(path: Path, expected: str) -> str | None:
    try:
        return None if sha256_of(path) == expected else "changed"
    except OSError:
        return "unreadable"


def _archived_names(paths: TrialPaths) -> list[str]:
    """Regular files below the trial's folder; a link is followed nowhere, so that nothing outside is read."""
    own = {paths.result, paths.timeline, paths.checksums}
    files = (
        path for path in paths.directory.rglob("*") if path not in own and not path.is_symlink() and path.is_file()
    )
    return sorted(path.relative_to(paths.directory).as_posix() for path in files)


def _line(digest: str, name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return f"{'' if escaped == name else chr(92)}{digest}  {escaped}\n"


def _parse(text: str) -> dict[str, str]:
    expected = {}
    for line in text.split("\n"):
        if match := _LINE.fullmatch(line):
            escaped, digest, name = match.groups()
            expected[_unescape(name) if escaped else name] = digest
    return expected


def _unescape(name: str) -> str:
    plain = {"\\\\": "\\", "\\n": "\n", "\\r": "\r"}
    return re.sub(r"\\[\\nr]", lambda match: plain[match.group()], name)
