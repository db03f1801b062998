"""A process that loads MkDocs once, waits to be told what to build, and builds several sites side by side.

    python -m dlperf.report.mkdocs_process

It reads one line, a JSON list with the arguments of ``mkdocs`` for each site, and prints a JSON list with the exit code
and the output of each. Without a line it ends. Ended by SIGTERM, it leaves no process.
"""

from __future__ import annotations

import importlib
import io
import json
import signal
import sys
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from functools import partial

from dlperf.garbage import look_seldom
from dlperf.report.processes import side_by_side

LOADED = (
    "mkdocs.commands.build",
    "mkdocs.config.defaults",
    "markdown.extensions.tables",
    "markdown.extensions.toc",
    "material.plugins.offline.plugin",
    "material.plugins.search.plugin",
    "pymdownx.superfences",
)
"""What MkDocs loads only when it builds."""


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    look_seldom()
    load()
    if told := sys.stdin.readline():
        json.dump(build_all(json.loads(told)), sys.stdout)


def load() -> None:
    for module in ("mkdocs.__main__", *LOADED):
        importlib.import_module(module)


def build_all(sites: list[list[str]]) -> list[tuple[int, str]]:
    """Exit code and output of ``mkdocs`` with the arguments of each site, in their order."""
    shares = side_by_side(partial(_build_share, sites), range(len(sites)))
    built = dict(pair for share in shares for pair in share)
    return [built[number] for number in range(len(sites))]


def _build_share(sites: list[list[str]], numbers: Iterable[int]) -> list[tuple[int, tuple[int, str]]]:
    return [(number, _build(sites[number])) for number in numbers]


def _build(arguments: list[str]) -> tuple[int, str]:
    from mkdocs.__main__ import cli

    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        try:
            cli(arguments, prog_name="mkdocs")
        except SystemExit as end:
            return int(end.code or 0), said.getvalue()
    return 0, said.getvalue()


if __name__ == "__main__":
    main()
