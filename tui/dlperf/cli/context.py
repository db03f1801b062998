"""What the options before the command say to every command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.errors import RequestError

if TYPE_CHECKING:
    from dlperf.catalog.load import Catalog
    from dlperf.runs.paths import Workspace


JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@dataclass(frozen=True)
class Settings:
    """The options of ``dlperf`` itself."""

    workspace: Path | None = None
    """Where to look for the workspace; the current folder if absent."""
    debug: bool = False


def current_workspace(context: typer.Context) -> Workspace:
    """The workspace that the command works in.

    Raises:
        RequestError: there is none at or above the folder.
    """
    from dlperf.runs.paths import Workspace

    settings = context.ensure_object(Settings)
    return Workspace.find(settings.workspace or Path.cwd())


def optional_workspace(context: typer.Context) -> Workspace | None:
    """The workspace that the command works in, or None outside of any.

    Raises:
        RequestError: ``--workspace`` was given and names none.
    """
    try:
        return current_workspace(context)
    except RequestError:
        if context.ensure_object(Settings).workspace is not None:
            raise
        return None


def current_catalog(context: typer.Context) -> Catalog:
    """The built-in catalogue, with the workspace's own entries over it where there is a workspace.

    Raises:
        CatalogError: anything is wrong with any file.
    """
    from dlperf.catalog.load import Check, load_catalog
    from dlperf.formats.registry import format_ids
    from dlperf.measure.estimators import parse_estimator

    workspace = optional_workspace(context)
    checks = (Check("protocols", "estimator", lambda protocol: parse_estimator(protocol.estimator)),)
    return load_catalog(workspace.catalog if workspace else None, format_ids(), checks)
