"""``dlperf init`` and ``dlperf quickstart``."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli.options import print_skipped, workspace_option
from dlperf.cli.output import print_note, print_text
from dlperf.errors import RequestError
from dlperf.view.text import count_noun

if TYPE_CHECKING:
    from dlperf.runs.paths import WorkspacePaths

commands = typer.Typer()

QUICKSTART_DIRECTORY, NEW_DIRECTORY = Path("dlperf-quickstart"), Path("bench")
TRIAL_SECONDS = 60.0


@commands.command()
def init(
    context: typer.Context,
    directory: Annotated[Path | None, typer.Argument(metavar="DIR", help="Folder; default: the current one.")] = None,
    program: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Run this program once and write catalogue entries from what it prints: 'python train.py --bs "
            "{batch_size}'. Uses the workspace around DIR if there is one.",
        ),
    ] = None,
    ship: Annotated[
        bool,
        typer.Option(
            "--ship",
            help="Copy the program's files into catalog/workloads, from where they are sent to each machine, and name "
            "what else it reads.",
        ),
    ] = False,
    name: Annotated[
        str | None, typer.Option(metavar="ID", help="Id of its entries; default: the script's name.")
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option("--batch-size", "-b", metavar="B", min=1, help="Of the trial run; 8 for {batch_size} by default."),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(metavar="S", min=1, help="After which the trial run is stopped; default: 60.")
    ] = None,
    site_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Address at which the site will be published; asked for in a terminal."),
    ] = None,
) -> None:
    """Create a workspace: mkdocs.yml, runs/ and catalog/. Updates one of an earlier version.

    With --program, entries for a program, too.
    """
    if program is not None:
        from dlperf.view.program.adding import EntryFolder, add_program
        from dlperf.view.program.command import read_program

        found = read_program(program, Path.cwd(), batch_size, name)
        place = EntryFolder(_workspace_root(workspace_option(context) or directory), _create, print_skipped)
        words = add_program(found, place, seconds or TRIAL_SECONDS, ship, print_note)
        print_note(f"next: `{_command_in(place.root, words)}`")
        return
    options = {"--name": name, "-b": batch_size, "--seconds": seconds, "--ship": ship}
    if given := [word for word, value in options.items() if value]:
        raise RequestError(f"{given[0]} is of a program: add --program COMMAND")
    directory = directory or Path()
    if (directory / "mkdocs.yml").exists() and (directory / "runs").is_dir():
        _update(directory)
        return
    written = _create(directory, _asked_address() if site_url is None else site_url)
    parts = dict.fromkeys(path.partition("/")[0] + path.partition("/")[1] for path in written)
    print_note(f"{count_noun(len(written), 'file')} in {directory.resolve()}: {', '.join(parts)}")
    if ".gitignore" not in written:
        print_note("kept your .gitignore: it should ignore site/html, but not runs/ and site/docs")
    trying, checking = (_command_in(directory, words) for words in ("quickstart", "check --hardware ID"))
    print_note(f"next: `{trying}`, or add a machine in catalog/hardware/ and `{checking}`")


def _workspace_root(start: Path | None) -> Path:
    """Return the workspace at or above a folder, or the folder for a new one; in a terminal it is asked for."""
    from dlperf.runs.paths import WorkspacePaths

    try:
        return WorkspacePaths.find(start or Path.cwd()).root
    except RequestError:
        if start is not None:
            return Path(os.path.abspath(start))
    if not sys.stdin.isatty():
        raise RequestError(f"no workspace at or above {Path.cwd()}: name a folder for one: dlperf init DIR --program …")
    return Path(os.path.abspath(typer.prompt("no workspace here: folder for one", str(NEW_DIRECTORY), err=True)))


def _command_in(root: Path, words: str) -> str:
    """Return a command as it is typed in the current folder."""
    from dlperf.runs.paths import WorkspacePaths

    try:
        is_found = WorkspacePaths.find(Path.cwd()).root.resolve() == root.resolve()
    except RequestError:
        is_found = False
    here = Path.cwd().resolve()
    shown = root.resolve().relative_to(here) if root.resolve().is_relative_to(here) else root
    return f"dlperf {words}" if is_found else f"dlperf --workspace {shlex.quote(str(shown))} {words}"


@commands.command()
def quickstart(
    context: typer.Context,
    directory: Annotated[Path | None, typer.Argument(metavar="DIR", help="Workspace; created if missing.")] = None,
) -> None:
    """Measure a small model on this machine in a minute. Builds its site, too."""
    from dlperf.campaign.create import create_campaign
    from dlperf.catalog.files.load import load_catalog
    from dlperf.cli.running.foreground import run_in_foreground
    from dlperf.plan import Selection, expand
    from dlperf.report.build import build_site

    workspace = _workspace_for(context, directory)
    selection = Selection(("local",), ("numpy",), ("lenet5",), batch_sizes=(64, 128), repeats=3)
    plan = expand(selection, load_catalog(workspace.catalog, complain=print_skipped))
    code = run_in_foreground(workspace, create_campaign(workspace, plan))
    if code:
        raise typer.Exit(code)
    build = build_site(workspace, say=print_note)
    print_note(f"{build.pages} pages built in {build.seconds:.0f} s; open in a browser:")
    print_text(str(build.out / "index.html"))


def _workspace_for(context: typer.Context, directory: Path | None) -> WorkspacePaths:
    from dlperf.runs.paths import WorkspacePaths

    start = directory or workspace_option(context)
    try:
        return WorkspacePaths.find(start or Path.cwd())
    except RequestError:
        root = start or QUICKSTART_DIRECTORY
        _create(root)
        print_note(f"created a workspace: {root.resolve()}")
        return WorkspacePaths.find(root)


def _asked_address() -> str:
    """Ask for the site's address in a terminal; empty if unknown."""
    if not sys.stdin.isatty():
        return ""
    return str(typer.prompt("address of the published site (empty: not known yet)", "", show_default=False, err=True))


def _create(root: Path, site_url: str = "") -> list[str]:
    from dlperf.report.site.workspace import create_workspace

    if root.exists() and not root.is_dir():
        raise RequestError(f"{root} is no folder: name another")
    if site_url and not site_url.startswith(("http://", "https://")):
        raise RequestError(f"--site-url {site_url}: an address begins with https://")
    return create_workspace(Path(os.path.abspath(root)), site_url)  # a part .. would be taken for a link


def _update(root: Path) -> None:
    from dlperf.report.site.workspace import update_workspace
    from dlperf.runs.paths import WorkspacePaths

    if not (notes := update_workspace(WorkspacePaths(root.resolve()), accept=True)):
        raise RequestError(f"{root.resolve()} is a workspace already, and up to date")
    for note in notes:
        print_note(note)
