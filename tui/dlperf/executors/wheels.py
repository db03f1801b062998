"""Wheels on this machine, by content: ``dlperf fetch`` downloads them, trials send them to nodes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path

from dlperf.catalog.files.load import read_programs
from dlperf.errors import RequestError
from dlperf.opening import open_regular
from dlperf.runs.paths import user_cache

CACHE_VARIABLE = "DLPERF_WHEELS"
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:==([^\s;\\]+)| @ (https://\S+))")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclass(frozen=True)
class Locked:
    """One line of a lock."""

    name: str
    """As PEP 503 compares names."""
    version: str
    """Empty for a file that is no package."""
    hashes: tuple[str, ...]
    """SHA-256 of each of its files, of all platforms."""
    line: str
    url: str = ""
    """Of a file that no package holds, such as an example of a repository at a commit."""

    def __str__(self) -> str:
        return f"{self.name}=={self.version}" if self.version else self.name


def cache_folder() -> Path:
    """Return where wheels lie: ``$DLPERF_WHEELS``, else the user's cache."""
    return user_cache(CACHE_VARIABLE, "wheels")


def locked_requirements(name: str, workspace_catalog: Path | None = None) -> tuple[Locked, ...]:
    """Read a lock. Raises RequestError: it is missing, or a line has no exact version or no hash."""
    text = read_programs((name,), workspace_catalog)[name].decode("utf-8", "replace")
    return tuple(_parsed(name, text))


def _parsed(name: str, text: str) -> Iterator[Locked]:
    for line in re.sub(r"\\\n", " ", text).splitlines():
        line = line.strip()
        if not line or line.startswith(("#", "--")):
            continue
        match, hashes = _REQUIREMENT.match(line), tuple(_HASH.findall(line))
        if not match or not hashes:
            raise RequestError(
                f"{name}: {line[:60]!r} has no exact version with hashes: make it by `uv pip compile --generate-hashes`"
            )
        name, version, url = match.groups("")
        yield Locked(name if url else normal_name(name), version, hashes, " ".join(line.split()), url)


def normal_name(name: str) -> str:
    """Return a package's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def fetched_wheels(name: str, workspace_catalog: Path | None = None) -> dict[str, Path]:
    """Return the wheels of a lock that were fetched: path on a node below ``~/.dlperf`` → file."""
    folder = cache_folder()
    wanted = (digest for item in locked_requirements(name, workspace_catalog) for digest in item.hashes)
    return {f"wheels/{digest}/{file.name}": file for digest in wanted for file in folder.glob(f"{digest}/*")}


def keep_wheels(files: Sequence[Path]) -> int:
    """Move downloaded files into the cache; return the bytes of those that are new.

    Raises:
        OSError: a file cannot be read or moved.
    """
    added = 0
    for file in files:
        with open_regular(file.resolve()) as stream:
            digest = file_digest(stream, "sha256").hexdigest()
        target = cache_folder() / digest / file.name
        if not target.exists():
            added += file.stat().st_size
            target.parent.mkdir(parents=True, exist_ok=True)
            file.replace(target)
    return added
