"""``dlperf init`` and ``dlperf quickstart``."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli.options import print_skipped, workspace_option
from dlperf.cli.output import print_note, print_text
from dlperf.errors import RequestError
from dlperf.view.text import count_noun, number, one_line

if TYPE_CHECKING:
    from dlperf.catalog.files.problem import Problem
    from dlperf.runs.paths import WorkspacePaths
    from dlperf.view.program import Output, ProgramOutput

commands = typer.Typer()

QUICKSTART_DIRECTORY = Path("dlperf-quickstart")
TRIAL_SECONDS = 60.0


@commands.command()
def init(
    context: typer.Context,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Folder; default: the current one.")] = Path(),
    program: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Run this program once and write catalogue entries from what it prints: 'python train.py --bs "
            "{batch_size}'. Uses the workspace around DIR if there is one.",
        ),
    ] = None,
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
        _add_program(workspace_option(context) or directory, program, name, batch_size, seconds or TRIAL_SECONDS)
        return
    if given := [word for word, value in (("--name", name), ("-b", batch_size), ("--seconds", seconds)) if value]:
        raise RequestError(f"{given[0]} is of a program: add --program COMMAND")
    if _is_workspace(directory):
        _update(directory)
        return
    written = _create(directory, _asked_address() if site_url is None else site_url)
    parts = dict.fromkeys(path.partition("/")[0] + path.partition("/")[1] for path in written)
    print_note(f"{count_noun(len(written), 'file')} in {directory.resolve()}: {', '.join(parts)}")
    if ".gitignore" not in written:
        print_note("kept your .gitignore: it should ignore site/html, but not runs/ and site/docs")
    print_note("next: `dlperf quickstart`, or add a machine in catalog/hardware/ and `dlperf check --hardware ID`")


def _add_program(root: Path, command: str, name: str | None, batch_size: int | None, seconds: float) -> None:
    """Run a program once and write its entries; a workspace is made only when the run gave a value."""
    from dlperf.catalog.files.load import load_catalog
    from dlperf.catalog.files.problem import CatalogError
    from dlperf.runs.store import write_atomic
    from dlperf.view import program

    found = program.read_program(command, Path.cwd(), batch_size, name)
    folder = _workspace_root(root)
    path = folder / "catalog" / f"{found.name}.yaml"
    if path.exists():
        raise RequestError(f"{path} exists: remove it, or choose another name with --name")
    catalog = load_catalog(folder / "catalog", complain=print_skipped)
    program.refuse_taken(found.name, catalog)
    print_note(f"running for at most {seconds:.0f} s: {shlex.join(found.trial_words)}")
    output = program.run_bounded(found.trial_words, found.folder, seconds)
    recognised = program.recognise(output, found, tuple(catalog.formats.values()))
    if not (folder / "mkdocs.yml").exists():
        _create(folder)
        print_note(f"created a workspace: {folder.resolve()}")
    write_atomic(path, program.as_yaml(found, recognised).encode())
    problems: list[Problem] = []
    load_catalog(folder / "catalog", complain=problems.append)
    if own := [problem for problem in problems if problem.path == path]:
        raise CatalogError(own)
    _print_recognised(output, recognised)
    print_note(f"wrote {path}; next: `dlperf run -f {found.name}`")


def _workspace_root(start: Path) -> Path:
    from dlperf.runs.paths import WorkspacePaths

    try:
        return WorkspacePaths.find(start).root
    except RequestError:
        return start


def _print_recognised(output: Output, recognised: ProgramOutput) -> None:
    example, figure = recognised.example, recognised.figure
    if output.code is None:
        print_note("the trial run was stopped; a campaign runs the program to its end")
    kind = f"a proposed format, from: {one_line(example)}" if example else f"the format {recognised.format}"
    print_note(f"recognised {count_noun(recognised.records, 'record')} of {kind}")
    print_note(f"trial run: {number(figure.value, figure.unit)} by {figure.estimator}")


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
    build = build_site(workspace)
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
    return create_workspace(root, site_url)


def _is_workspace(root: Path) -> bool:
    return (root / "mkdocs.yml").exists() and (root / "runs").is_dir()


def _update(root: Path) -> None:
    from dlperf.report.site.workspace import update_workspace
    from dlperf.runs.paths import WorkspacePaths

    if not (notes := update_workspace(WorkspacePaths(root.resolve()), accept=True)):
        raise RequestError(f"{root.resolve()} is a workspace already, and up to date")
    for note in notes:
        print_note(note)
