"""Refuse files and folders to write that cannot be, when the command line is read: before any work is done for them."""

import os
from pathlib import Path

import typer

from dlperf.errors import RequestError


def writable_folder(option: typer.CallbackParam, folder: Path | None) -> Path | None:
    """Return a folder that exists and can be written, or can be made."""
    if folder is not None:
        whole = folder.absolute()
        existing = next(each for each in (whole, *whole.parents) if each.exists())
        if not existing.is_dir():
            raise RequestError(f"{option.opts[0]} {folder}: {existing} is no folder: name another")
        _require_permission(option, folder, existing)
    return folder


def writable_file(option: typer.CallbackParam, file: Path | None) -> Path | None:
    """Return a file that can be written, or made in its folder."""
    if file is not None:
        if file.is_dir():
            raise RequestError(f"{option.opts[0]} {file}: is a folder: name a file in it")
        if not file.parent.is_dir():
            raise RequestError(f"{option.opts[0]} {file}: no such folder: make {file.parent}, or name another file")
        _require_permission(option, file, file if file.exists() else file.parent)
    return file


def _require_permission(option: typer.CallbackParam, path: Path, existing: Path) -> None:
    """Try it in a folder, which may refuse files for other reasons than its mode."""
    from tempfile import TemporaryFile

    reason = "" if os.access(existing, os.W_OK) else "no permission"
    if existing.is_dir() and not reason:
        try:
            TemporaryFile(dir=existing).close()
        except OSError as error:
            reason = error.strerror or str(error)
    if reason:
        raise RequestError(f"{option.opts[0]} {path}: {existing} cannot be written ({reason}): name another")
