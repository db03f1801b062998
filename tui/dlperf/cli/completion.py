"""What a shell offers after Tab: ids of the catalogue, names of campaigns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import typer

from dlperf.errors import DlperfError

Completer = Callable[[typer.Context, str], list[str]]


def catalog_ids(kind: str) -> Completer:
    """Ids of a kind of the catalogue; of a list separated by commas, the last one is completed."""

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        from dlperf.cli.context import current_catalog

        return _beginning(incomplete, lambda: getattr(current_catalog(_at_workspace(context)), kind))

    return complete


def campaign_names(context: typer.Context, incomplete: str) -> list[str]:
    """Campaigns of the workspace."""
    from dlperf.cli.context import current_workspace

    return _beginning(
        incomplete, lambda: [paths.name for paths in current_workspace(_at_workspace(context)).campaigns()]
    )


def _at_workspace(context: typer.Context) -> typer.Context:
    """The context as a command would find it: while a line is completed, no callback has read the options before it."""
    from dlperf.cli.context import Settings

    named = context.find_root().params.get("workspace")
    context.obj = Settings(workspace=Path(named) if named else None)
    return context


def _beginning(incomplete: str, names: Callable[[], Iterable[str]]) -> list[str]:
    """What can follow; nothing, rather than a complaint on the line that is being typed, where names cannot be read."""
    before, comma, last = incomplete.rpartition(",")
    try:
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last)]
    except DlperfError:
        return []
