"""SHA-256 of files, and ``SHA256SUMS``, which version 0.1 wrote for each trial that ended."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from dlperf.runs.paths import TrialPaths

PART = 1 << 16
"""Bytes read at once: ``hashlib.file_digest`` would allocate 256 KB for each of many small files."""
_LINE = re.compile(r"(\\?)([0-9a-f]{64}) [ *](.+)")


@dataclass(frozen=True)
class ChecksumProblem:
    """A file of a trial that is not what was archived."""

    file: str
    """Relative to the trial's folder."""
    problem: str
    """changed, missing, added, unreadable, or (of ``archive.json``) unsealed."""


def sha256_of(path: str | Path) -> str:
    """Return the SHA-256 of a file of any size, in hexadecimal."""
    with open(path, "rb", buffering=0) as stream:
        digest = hashlib.sha256()
        while part := stream.read(PART):
            digest.update(part)
        return digest.hexdigest()


def expected_digests(paths: TrialPaths) -> dict[str, str]:
    """Read ``SHA256SUMS``: file name → SHA-256.

    Raises:
        OSError: it cannot be read.
    """
    expected = {}
    for line in paths.checksums.read_text("utf-8", "surrogateescape").split("\n"):
        if match := _LINE.fullmatch(line):
            escaped, digest, name = match.groups()
            expected[_unescape(name) if escaped else name] = digest
    return expected


def _unescape(name: str) -> str:
    plain = {"\\\\": "\\", "\\n": "\n", "\\r": "\r"}
    return re.sub(r"\\[\\nr]", lambda match: plain[match.group()], name)
