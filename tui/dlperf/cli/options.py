"""Define the options and arguments that several commands share, with their shell completion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli.output import print_note
from dlperf.cli.writable import writable_file, writable_folder
from dlperf.errors import DlperfError, ExitCode, RequestError
from dlperf.view.text import one_line

if TYPE_CHECKING:
    import dlperf
    from dlperf.catalog.files.load import Catalog
    from dlperf.catalog.files.problem import Problem
    from dlperf.runs.paths import WorkspacePaths


def workspace_option(context: typer.Context) -> Path | None:
    """Return the value of ``--workspace``, also while a line is completed."""
    named = context.find_root().params.get("workspace")
    return Path(named) if named else None


def current_workspace(context: typer.Context) -> WorkspacePaths:
    """Return the workspace at or above the folder of ``--workspace`` or the current folder.

    Raises:
        RequestError: there is none.
    """
    from dlperf.runs.paths import WorkspacePaths

    return WorkspacePaths.find(workspace_option(context) or Path.cwd())


def read_workspace(context: typer.Context) -> WorkspacePaths:
    """Return the current workspace, and name on stderr what this version does not read in it."""
    paths = current_workspace(context)
    if unread := paths.unread():
        print_skipped(unread)
    return paths


def open_workspace(context: typer.Context, complain: Callable[[object], object] | None = None) -> dlperf.Workspace:
    """Return the current workspace as Python programs have it.

    Args:
        complain: called for what cannot be read and is left out; by default it is printed.

    Raises:
        RequestError: there is none.
    """
    from dlperf.view.workspace import Workspace

    return Workspace(read_workspace(context).root, complain or print_skipped)


def optional_workspace(context: typer.Context) -> WorkspacePaths | None:
    """Return the current workspace, or None outside of any.

    Raises:
        RequestError: ``--workspace`` was given and names none.
    """
    try:
        return current_workspace(context)
    except RequestError:
        if workspace_option(context) is not None:
            raise
        return None


def print_skipped(problem: object) -> None:
    """Print a problem of something that is left out."""
    print_note(f"dlperf: skipped: {one_line(str(problem))}")


def report_unreadable(unreadable: Sequence[object]) -> None:
    """Name the campaigns and reports that cannot be read and exit with an error: the output is incomplete."""
    for error in unreadable:
        print_skipped(error)
    if unreadable:
        raise typer.Exit(ExitCode.MEASURED_FAILED)


def current_catalog(context: typer.Context, complain: Callable[[Problem], object] | None = print_skipped) -> Catalog:
    """Load the built-in catalogue and, inside a workspace, its entries.

    Args:
        complain: called for each problem of an entry that is left out.

    Raises:
        CatalogError: without ``complain``, a file is invalid.
    """
    from dlperf.view.workspace import load_entries

    return load_entries(optional_workspace(context), complain)


def complete_ids(kind: str) -> Callable[[typer.Context, str], list[str]]:
    """Return a completer for ids of one kind of catalogue entry; of a comma-separated list it completes the last."""

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        return _complete(incomplete, lambda: getattr(current_catalog(context, _ignore), kind))

    return complete


def _ignore(problem: Problem) -> None:
    """An error message would land in the line being typed."""


def complete_campaigns(context: typer.Context, incomplete: str) -> list[str]:
    """Return the campaigns of the workspace that start with ``incomplete``."""
    return _complete(incomplete, lambda: [paths.name for paths in current_workspace(context).campaigns()])


def _complete(incomplete: str, names: Callable[[], Iterable[str]]) -> list[str]:
    before, comma, last = incomplete.rpartition(",")
    try:
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last)]
    except DlperfError:  # an error message would land in the line being typed
        return []


Words = list[str] | None
"""Values of an option that may be repeated, each a comma-separated list."""
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
CampaignArgument = Annotated[
    str, typer.Argument(metavar="CAMPAIGN", help="Name or unique substring.", autocompletion=complete_campaigns)
]
OptionalCampaign = Annotated[
    str | None,
    typer.Argument(
        metavar="CAMPAIGN", help="Name or unique substring; default: all campaigns.", autocompletion=complete_campaigns
    ),
]
MetricsOption = Annotated[
    Words,
    typer.Option(
        "--metric",
        metavar="ID,…",
        help="A row for each of these metrics, such as step_time, or all; default: the primary one of each case.",
        autocompletion=complete_ids("metrics"),
    ),
]
CampaignsOption = Annotated[
    Words,
    typer.Option(
        "--campaign", metavar="NAME,…", help="Campaign, or published/<report>.", autocompletion=complete_campaigns
    ),
]
CiOption = Annotated[
    Path | None,
    typer.Option(
        "--ci",
        metavar="DIR",
        help="Write junit.xml, summary.md and badge.svg with the verdicts there.",
        callback=writable_folder,
    ),
]
CsvOption = Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write CSV.", callback=writable_file)]
LossOption = Annotated[
    float | None,
    typer.Option(
        "--loss",
        metavar="PERCENT",
        min=0.01,
        max=99,
        help="Loss that is sought; default: the smallest that the variation lets the trials decide, at most 5.",
    ),
]
MaxRepeatsOption = Annotated[
    int | None,
    typer.Option(
        "--max-repeats",
        metavar="N",
        min=2,
        help="Most trials of each side, added while nothing is decided; fewer than 5 decide nothing. Default: 15 in "
        "turns, 10 of two campaigns, 30 of each end of a search.",
    ),
]
BudgetOption = Annotated[
    str | None, typer.Option("--budget", metavar="TIME", help="Add no trials after this time, such as 45m or 3h.")
]
NameOption = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="Campaign name; default: time and contents.")
]


def split(option: str, values: Iterable[str] | None) -> tuple[str, ...]:
    """Return the values of an option that may be repeated, each a comma-separated list.

    Raises:
        RequestError: a value is empty.
    """
    words = [word.strip() for value in values or () for word in value.split(",")]
    if not all(words):
        raise RequestError(f"{option}: empty value: separate names by single commas")
    return tuple(dict.fromkeys(words))
