"""``dlperf build-site`` and ``dlperf serve-site``."""

from pathlib import Path
from typing import Annotated

import typer

from dlperf.cli.options import JsonOption, current_workspace
from dlperf.cli.output import print_json, print_note, print_text

commands = typer.Typer()

Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Output folder; default: site/html.")]


@commands.command("build-site")
def build_site(
    context: typer.Context,
    out: Out = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail on a broken link, a missing page or a suspected secret.")
    ] = False,
    edition: Annotated[str, typer.Option(metavar="NAME", help="Also keep a copy to be cited, such as 2026-11.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Build the site from runs/, in English and Chinese."""
    from dlperf.report.build import build_site as build

    site = build(current_workspace(context), out, strict, edition, print_note)
    for line in (*site.missing, *site.warnings.splitlines()):
        print_note(line)
    if as_json:
        print_json(site)
        return
    print_text(f"{site.pages} pages, {site.written} files changed, {site.seconds:.1f} s: {site.out / 'index.html'}")


@commands.command("serve-site")
def serve_site(
    context: typer.Context,
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="PORT", help="0: any free port.")] = 8000,
) -> None:
    """Serve the site on 127.0.0.1. Rebuilds it when runs/ or its pages change."""
    from dlperf.report.site.serve import serve

    serve(current_workspace(context), port, print_note)
