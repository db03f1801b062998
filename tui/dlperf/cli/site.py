"""``dlperf build-site`` and ``dlperf serve-site``: the results as a web site."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from dlperf.cli.context import current_workspace
from dlperf.cli.output import say

commands = typer.Typer()

Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Put the HTML here, not in site/html.")]


@commands.command("build-site")
def build_site(
    context: typer.Context,
    out: Out = None,
    strict: Annotated[bool, typer.Option("--strict", help="A broken link or a missing page is an error.")] = False,
) -> None:
    """Write the pages of the site from runs/ and build it. It is built in English and in Chinese."""
    from dlperf.report.build import build_site as build

    _end_as_by_ctrl_c()
    site = build(current_workspace(context), out, strict)
    for line in site.warnings.splitlines():
        say(line)
    print(f"{site.pages} pages, {site.written} files changed, {site.seconds:.1f} s: {site.out / 'index.html'}")


@commands.command("serve-site")
def serve_site(
    context: typer.Context,
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="PORT", help="0 takes a free one.")] = 8000,
) -> None:
    """Show the site on this machine (127.0.0.1). It is built again when runs/ or the pages change."""
    from dlperf.report.serve import serve

    _end_as_by_ctrl_c()
    serve(current_workspace(context), port, say)


def _end_as_by_ctrl_c() -> None:
    """Let SIGTERM unwind the stack, so that no process of the build and no unfinished folder is left."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
