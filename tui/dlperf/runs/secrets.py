"""The secrets of a campaign: kept in ``secrets.json`` for its engine, replaced in everything else below ``runs/``."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from dlperf.errors import StorageError
from dlperf.opening import read_bytes
from dlperf.redaction import Redactor
from dlperf.redaction.redactor import PREFIX
from dlperf.runs.bounded import load_json

SECRETS = "secrets.json"
"""Placeholder → value; mode 0600, in the campaign's folder, ignored by git."""
IGNORED = ".gitignore"
"""Keeps git from them, also where the workspace's own file does not, and wherever the campaign is moved."""
_PLACEHOLDER = re.compile(re.escape(PREFIX) + r"[A-Za-z0-9_.-]*\]")
"""A file that somebody sent must not put anything else in place of a value."""
LEVELS = 5
"""Folders between a campaign and its deepest record."""


def secrets_of(path: Path) -> dict[str, str]:
    """Return the secrets of the campaign that a path is in, by placeholder; empty where none can be read."""
    folder = str(path)  # not a Path: every record that is written asks
    for _ in range(LEVELS + 1):
        file = os.path.join(folder, SECRETS)
        with suppress(OSError):
            changed = os.stat(file).st_mtime_ns
            return dict(_read(Path(file), changed) or {})
        folder = os.path.dirname(folder)
    return {}


def refuse_damaged_secrets(folder: Path) -> None:
    """Raise StorageError where the secrets of a campaign are kept but cannot be read: its logs may hold them."""
    path = folder / SECRETS
    with suppress(FileNotFoundError):
        if _read(path, path.lstat().st_mtime_ns) is None:
            raise StorageError(f"{path}: damaged: restore it, or remove it where no log of the campaign has a secret")


@lru_cache(maxsize=64)
def _read(path: Path, changed: int) -> Mapping[str, str] | None:
    """Return placeholders and values; None where the file is damaged."""
    with suppress(OSError, ValueError):
        secrets = load_json(read_bytes(path))
        if isinstance(secrets, dict) and all(map(_PLACEHOLDER.fullmatch, secrets)):
            return secrets if all(isinstance(value, str) and value for value in secrets.values()) else None
    return None


def redact_for_runs(path: Path, data: bytes) -> bytes:
    """Return the content of a file below ``runs/`` without secrets."""
    return Redactor(secrets_of(path)).redact(data)[0]


def redact_program(path: Path, data: bytes) -> bytes:
    """Return a program without known secrets and tokens; ``password=x1`` is code there."""
    return Redactor(secrets_of(path), accept=lambda name, value, assigned: False).redact(data)[0]
