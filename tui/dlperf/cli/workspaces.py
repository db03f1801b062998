"""``dlperf init`` and ``dlperf quickstart``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli.options import print_skipped, workspace_option
from dlperf.cli.output import print_note
from dlperf.errors import RequestError
from dlperf.view.text import count_noun

if TYPE_CHECKING:
    from dlperf.runs.paths import Workspace

commands = typer.Typer()

QUICKSTART_DIRECTORY = Path("dlperf-quickstart")


@commands.command()
def init(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Folder; default: the current one.")] = Path(),
) -> None:
    """Create a workspace: mkdocs.yml, site/, runs/ and catalog/."""
    written = _create(directory)
    parts = dict.fromkeys(path.partition("/")[0] + path.partition("/")[1] for path in written)
    print_note(f"{count_noun(len(written), 'file')} in {directory.resolve()}: {', '.join(parts)}")
    if ".gitignore" not in written:
        print_note("kept your .gitignore: it should ignore site/html, but not runs/, site/docs and site/theme")
    print_note("next: `dlperf quickstart`, or add a machine in catalog/hardware/ and `dlperf check --hardware ID`")


@commands.command()
def quickstart(
    context: typer.Context,
    directory: Annotated[Path | None, typer.Argument(metavar="DIR", help="Workspace; created if missing.")] = None,
) -> None:
    """Measure a small model on this machine in a minute. Builds its site, too."""
    from dlperf.campaign.create import create_campaign
    from dlperf.catalog.load import load_catalog
    from dlperf.cli.foreground import run_in_foreground
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
    print(build.out / "index.html")


def _workspace_for(context: typer.Context, directory: Path | None) -> Workspace:
    from dlperf.runs.paths import Workspace

    start = directory or workspace_option(context)
    try:
        return Workspace.find(start or Path.cwd())
    except RequestError:
        root = start or QUICKSTART_DIRECTORY
        _create(root)
        print_note(f"created a workspace: {root.resolve()}")
        return Workspace.find(root)


def _create(root: Path) -> list[str]:
    from dlperf.report.writing import create_site
    from dlperf.runs.template import create_runs

    if (root / "mkdocs.yml").exists() and (root / "runs").is_dir():
        raise RequestError(f"{root.resolve()} is a workspace already")
    return [*create_site(root), *create_runs(root)]
