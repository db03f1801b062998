"""``dlperf init`` and ``dlperf quickstart``: a new workspace, and the main job on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli.context import Settings
from dlperf.cli.output import say
from dlperf.errors import RequestError
from dlperf.view.text import count_noun

if TYPE_CHECKING:
    from dlperf.runs.paths import Workspace

commands = typer.Typer()

QUICKSTART_DIRECTORY = Path("dlperf-quickstart")


@commands.command()
def init(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The current folder if absent.")] = Path(),
) -> None:
    """Make a new workspace: mkdocs.yml, site/, runs/ and catalog/."""
    written = _make(directory)
    parts = dict.fromkeys(path.partition("/")[0] + path.partition("/")[1] for path in written)
    say(f"{count_noun(len(written), 'file')} in {directory.resolve()}: {', '.join(parts)}")
    if ".gitignore" not in written:
        say("left as it is: .gitignore: let it ignore site/html, and neither runs/ nor site/docs and site/theme")
    say("next: `dlperf quickstart`, or describe your machine in catalog/hardware/ and `dlperf check --hardware` it")


@commands.command()
def quickstart(
    context: typer.Context,
    directory: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="The workspace; it is made where there is none.")
    ] = None,
) -> None:
    """Measure a small network on this machine, in a minute. Its web site is built, too."""
    from dlperf.campaign.create import create_campaign
    from dlperf.catalog.load import load_catalog
    from dlperf.cli.foreground import run_in_foreground
    from dlperf.plan import Selection, expand
    from dlperf.report.build import build_site

    workspace = _workspace_for(context, directory)
    selection = Selection(("local",), ("numpy",), ("lenet5",), batch_sizes=(64, 128), repeats=3)
    plan = expand(selection, load_catalog(workspace.catalog))
    code = run_in_foreground(workspace, create_campaign(workspace, plan))
    if code:
        raise typer.Exit(code)
    build = build_site(workspace)
    say(f"{build.pages} pages built in {build.seconds:.0f} s; open this file in a browser:")
    print(build.out / "index.html")


def _workspace_for(context: typer.Context, directory: Path | None) -> Workspace:
    """The folder asked for, or the workspace around us, or a new one below the current folder."""
    from dlperf.runs.paths import Workspace

    start = directory or context.ensure_object(Settings).workspace
    try:
        return Workspace.find(start or Path.cwd())
    except RequestError:
        root = start or QUICKSTART_DIRECTORY
        _make(root)
        say(f"made a workspace: {root.resolve()}")
        return Workspace.find(root)


def _make(root: Path) -> list[str]:
    from dlperf.report.template import create_site
    from dlperf.runs.template import create_runs

    if (root / "mkdocs.yml").exists() and (root / "runs").is_dir():
        raise RequestError(f"{root.resolve()} is a workspace already")
    return [*create_site(root), *create_runs(root)]
