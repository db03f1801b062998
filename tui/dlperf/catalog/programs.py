"""The training programs that recipes copy to the nodes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dlperf.catalog.entries import PROGRAMS
from dlperf.errors import RequestError

BUILTIN_PROGRAMS = Path(__file__).parent.parent / "workloads"


def program_names(workspace_catalog: Path | None = None) -> set[str]:
    """The names of all programs that a recipe can use."""
    paths = (path for folder in _folders(workspace_catalog) if folder.is_dir() for path in folder.iterdir())
    return {path.name for path in paths if path.is_file()}


def read_programs(names: Iterable[str], workspace_catalog: Path | None = None) -> dict[str, bytes]:
    """Read programs by name; the workspace's own come before the built-in ones.

    Raises:
        RequestError: one is missing or cannot be read.
    """
    return {name: _read(name, workspace_catalog) for name in names}


def _folders(workspace_catalog: Path | None) -> list[Path]:
    return [*([workspace_catalog / PROGRAMS] if workspace_catalog else []), BUILTIN_PROGRAMS]


def _read(name: str, workspace_catalog: Path | None) -> bytes:
    paths = (folder / name for folder in _folders(workspace_catalog))
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise RequestError(f"program {name} is neither in dlperf/workloads nor in catalog/workloads: add it there")
    try:
        return path.read_bytes()
    except OSError as error:
        raise RequestError(f"{path}: {error.strerror}") from error
