"""``dlperf-tui [WORKSPACE]``: options, the terminal, the window, and what is said when it closes."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from dlperf import __version__
from dlperf.app.settings import Settings, frames_per_second
from dlperf.errors import DlperfError, ExitCode, RequestError
from dlperf.messages import LANGUAGES, Code, _, preferred_language, use_language
from dlperf.runs.paths import Workspace

MOST_FRAMES = 30


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line. Typer would load pydantic, which takes as long as the first picture."""

    def error(self, message: str) -> NoReturn:
        raise RequestError(f"{message}: see `dlperf-tui --help`")


def parser() -> Parser:
    """The options of ``dlperf-tui``."""
    made = Parser(
        prog="dlperf-tui",
        description="Choose what to measure, watch it run, look back, publish. What runs goes on without the window.",
        allow_abbrev=False,
    )
    made.add_argument("--version", action="version", version=f"dlperf {__version__}")
    made.add_argument("workspace", nargs="?", type=Path, default=Path(), help="a folder of the workspace")
    made.add_argument("--language", metavar="|".join(LANGUAGES), help="the locale's, if absent")
    made.add_argument("--light", action="store_true", help="dark on light")
    made.add_argument("--ascii", action="store_true", help="draw with ASCII alone")
    made.add_argument(
        "--frames", metavar="N", type=int, default=frames_per_second(), help=f"frames per second, 1 to {MOST_FRAMES}"
    )
    return made


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program; its exit code."""
    try:
        settings = settings_of(parser().parse_args(arguments))
        if not sys.stdin.isatty():
            raise RequestError("dlperf-tui needs a terminal: in a script, use `dlperf run` and `dlperf status`")
        return show(settings)
    except DlperfError as error:
        print(f"dlperf-tui: {error}", file=sys.stderr)
        return error.exit_code


def settings_of(options: argparse.Namespace) -> Settings:
    """What the window is started with.

    Raises:
        DlperfError: there is no workspace, or an option has a value that it cannot have.
    """
    if not 1 <= options.frames <= MOST_FRAMES:
        raise RequestError(f"--frames {options.frames}: choose 1 to {MOST_FRAMES}")
    utf8 = _speaks_utf8()
    return Settings(
        language=_language(options.language) if utf8 or options.language else "en",
        workspace=Workspace.find(options.workspace),
        dark=not options.light,
        plain=options.ascii or not utf8,
        frames_per_second=options.frames,
    )


def show(settings: Settings) -> int:
    """Show the window until it is left; the exit code."""
    from dlperf.app.app import DlperfApp

    for name in ("COLUMNS", "LINES"):  # where a shell has exported them, they hide every resize of the terminal
        os.environ.pop(name, None)
    while True:
        app = DlperfApp(settings)
        if app.run() != "again":
            break
    if app.return_code:
        return app.return_code
    use_language(settings.language)
    for line in farewell(settings.workspace):
        print(line)
    return ExitCode.DONE


def farewell(workspace: Workspace) -> list[str]:
    """What goes on without the window, and how to come back."""
    from dlperf.runs.lock import engine_pid

    lines = []
    for paths in workspace.campaigns():
        pid = engine_pid(paths)
        if pid is not None:
            lines.append(_("{name} goes on without this window (engine: process {pid}).", name=paths.name, pid=pid))
            lines.append(_("  how it stands:  dlperf status {name}", name=paths.name))
            lines.append(_("  end it:         dlperf cancel {name}", name=paths.name))
    return (
        [*lines, _("  come back:      dlperf-tui {folder}", folder=shlex.quote(str(workspace.root)))] if lines else []
    )


def _language(asked: str | None) -> Code:
    if asked is None:
        return preferred_language().code
    for language in LANGUAGES:
        if asked == language:
            return language
    raise RequestError(f"--language {asked}: choose {' or '.join(LANGUAGES)}")


def _speaks_utf8(environment: Mapping[str, str] = os.environ) -> bool:
    """Textual writes to standard error in that stream's own encoding.

    Where the locale is C, Python takes UTF-8 for it (PEP 538 and 540); who says C means it.
    """
    told = environment.get("LC_ALL") or environment.get("LANG")
    stream = sys.__stderr__
    return told not in ("C", "POSIX") and stream is not None and stream.encoding.lower().replace("-", "") == "utf8"
