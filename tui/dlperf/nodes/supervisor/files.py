"""The node's files below ``~/.dlperf``."""

import json
import os
import stat
from typing import Any, Dict, Optional

SCHEMA = 1

ROOT = os.path.join(os.path.expanduser("~"), ".dlperf")

Json = Dict[str, Any]


def write_atomic(path: str, data: bytes, mode: int = 0o600) -> None:
    """Write a file completely or not at all, also across a crash of the machine."""
    temporary = f"{path}.{os.getpid()}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.rename(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


def write_json(path: str, value: Json) -> None:
    write_atomic(path, json.dumps(value, indent=1).encode("ascii") + b"\n")


def read_json(path: str) -> Optional[Json]:
    """The value of a JSON file; None for an absent file."""
    try:
        with open(path, "rb") as stream:
            value: Json = json.loads(stream.read().decode("utf-8"))
            return value
    except (FileNotFoundError, NotADirectoryError):
        return None


def read_text(path: str) -> str:
    """The text of a small file; empty where it cannot be read."""
    try:
        with open(path, "rb") as stream:
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""


def confined(path: str) -> str:
    """The absolute path of one below ``~/.dlperf``. Raises ValueError for a path that leads out of it."""
    parts = path.split("/")
    if not path or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"path {path!r} does not stay below ~/.dlperf")
    return os.path.join(ROOT, *parts)


def log_streams(directory: str) -> Dict[str, int]:
    """Size in bytes of ``out.log``, of what it was renamed to (``out.log.1``) and of every file below ``ranks/``.

    By path relative to the trial's folder.
    """
    present = os.listdir(directory) if os.path.isdir(directory) else []
    names = [name for name in present if (name + ".").startswith("out.log.")]
    for folder, _, files in os.walk(os.path.join(directory, "ranks")):
        names += [os.path.relpath(os.path.join(folder, name), directory) for name in files]
    sizes = {name: regular_size(os.path.join(directory, name)) for name in sorted(names)}
    return {name: size for name, size in sizes.items() if size is not None}


def regular_size(path: str) -> Optional[int]:
    """The size of a regular file; None for anything else, and for a link."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def modified(path: str) -> Optional[float]:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return None
