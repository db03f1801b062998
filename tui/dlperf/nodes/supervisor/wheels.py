"""Wheels that clients sent to this node: ``~/.dlperf/wheels/<sha256>/<name>``, each written once and never changed."""

import contextlib
import hashlib
import os
from typing import Any, Dict, Tuple

from .files import confined

Json = Dict[str, Any]


def holds(request: Json, raw: bytes) -> Tuple[Any, bytes]:
    """Whether each of these wheels is here."""
    return [os.path.exists(confined(path)) for path in request["paths"]], b""


def store(request: Json, raw: bytes) -> Tuple[Any, bytes]:
    """Append a part of a wheel at an offset; its last part makes it a wheel if the content has the hash in its path.

    The parts of two clients never mix: each names its own upload.
    """
    path = confined(request["path"])
    if os.path.exists(path):
        return {}, b""
    part = confined(f"wheels/{request['upload']}.part")
    os.makedirs(os.path.dirname(part), 0o700, exist_ok=True)
    with open(part, "r+b" if request["offset"] else "wb") as file:
        file.seek(request["offset"])
        file.write(raw)
    if request["last"]:
        keep(part, path)
    return {}, b""


def keep(part: str, path: str) -> None:
    """Give an upload its name. Raises ValueError where its content is another."""
    wanted, found = os.path.basename(os.path.dirname(path)), sha256_of(part)
    if found != wanted:
        os.unlink(part)
        raise ValueError(f"the wheel {os.path.basename(path)} arrived with the hash {found}")
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        os.rename(part, path)


def sha256_of(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()
