"""``dlperf-tui [WORKSPACE]``: options, the terminal, the window, and what is said when it closes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from dlperf.app.settings import Settings, frames_per_second
from dlperf.app.words import LANGUAGES, Language, preferred_language, say, use_language
from dlperf.errors import DlperfError, ExitCode, RequestError
from dlperf.runs.paths import Workspace

command = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program; its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return int(command(words, prog_name="dlperf-tui", standalone_mode=False) or ExitCode.DONE)
    except typer.TyperException as error:
        return _complain(f"{error.format_message().rstrip('.')}: see `dlperf-tui --help`", error.exit_code)
    except DlperfError as error:
        return _complain(str(error), error.exit_code)


@command.command()
def dlperf_tui(
    workspace: Annotated[Path, typer.Argument(help="A folder of the workspace.", metavar="[WORKSPACE]")] = Path(),
    language: Annotated[str, typer.Option(help="en or zh; the locale's, if absent.")] = "",
    light: Annotated[bool, typer.Option("--light", help="Dark on light.")] = False,
    ascii_only: Annotated[bool, typer.Option("--ascii", help="Draw with ASCII alone.")] = False,
    frames: Annotated[int, typer.Option(min=1, max=30, help="Frames per second.")] = frames_per_second(),
) -> int:
    """Choose what to measure, watch it run, look back, publish. Closing the window ends nothing that runs."""
    utf8 = _speaks_utf8()
    settings = Settings(
        language=_language(language) if utf8 or language else "en",
        workspace=Workspace.find(workspace),
        dark=not light,
        plain=ascii_only or not utf8,
        frames_per_second=frames,
    )
    if not sys.stdin.isatty():
        raise RequestError("dlperf-tui needs a terminal: in a script, use `dlperf run` and `dlperf status`")
    return show(settings)


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
            lines.append(say("{name} goes on without this window (engine: process {pid}).", name=paths.name, pid=pid))
            lines.append(say("  how it stands:  dlperf status {name}", name=paths.name))
            lines.append(say("  end it:         dlperf cancel {name}", name=paths.name))
    return [*lines, say("  come back:      dlperf-tui {folder}", folder=workspace.root)] if lines else []


def _language(asked: str) -> Language:
    if not asked:
        return preferred_language()
    for language in LANGUAGES:
        if asked == language:
            return language
    raise RequestError(f"--language {asked}: choose {' or '.join(LANGUAGES)}")


def _speaks_utf8() -> bool:
    """Textual writes to standard error in that stream's own encoding."""
    stream = sys.__stderr__
    return stream is not None and stream.encoding.lower().replace("-", "") == "utf8"


def _complain(message: str, code: int) -> int:
    print(f"dlperf-tui: {message}", file=sys.stderr)
    return code
