"""``dlperf-tui [WORKSPACE]``: options, starting the app, and what is printed when it closes."""

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, cast

from dlperf.app.settings import LOCAL_FRAMES, REMEMBERED, REMOTE_FRAMES, TerminalSettings, recall
from dlperf.errors import DlperfError, ExitCode, RequestError
from dlperf.messages import LANGUAGES, Code, _, preferred_language, use_language
from dlperf.runs.paths import WorkspacePaths
from dlperf.version import version

IN_BROWSER = "TEXTUAL_DRIVER" in os.environ
"""Whether textual-serve started the program."""
EXPORTED_SIZE = ("COLUMNS", "LINES")
"""Where a shell has exported them, they hide every resize of the terminal."""
MAX_FRAMES = 30
ESCAPE_MILLISECONDS = "25"
"""After an escape key, how long the rest of a sequence may take that begins with it; over ssh, Textual's 100."""


class Parser(argparse.ArgumentParser):
    """Reports an error in one line. Typer would double the time to the first picture."""

    def error(self, message: str) -> NoReturn:
        raise RequestError(f"{message}: see `dlperf-tui --help`")


def parser() -> Parser:
    made = Parser(
        prog="dlperf-tui",
        description="Choose what to measure, watch it run, look back, publish. What runs goes on without the window.",
        allow_abbrev=False,
    )
    made.add_argument("--version", action="version", version=f"dlperf {version()}")
    made.add_argument("workspace", nargs="?", type=Path, default=Path(), help="a folder of the workspace")
    made.add_argument("--language", metavar="|".join(LANGUAGES), help="as left or the locale's, if absent")
    made.add_argument("--light", action=argparse.BooleanOptionalAction, help="dark on light; as left, if absent")
    made.add_argument("--ascii", action="store_true", help="draw with ASCII only")
    frames = REMOTE_FRAMES if "SSH_CONNECTION" in os.environ else LOCAL_FRAMES
    made.add_argument("--frames", metavar="N", type=int, default=frames, help=f"frames per second, 1 to {MAX_FRAMES}")
    made.add_argument("--serve", action="store_true", help="show it in a browser of this machine, by a secret address")
    made.add_argument("--port", metavar="N", type=int, default=0, help="for --serve; a free one, if absent")
    return made


def run(arguments: Sequence[str] | None = None) -> int:
    try:
        options = parser().parse_args(arguments)
        settings = settings_of(options)
        if options.serve:
            from dlperf.app.serving import serve

            serve([*_shown_as(options), str(settings.workspace.root)], options.port)
            return ExitCode.DONE
        if not (sys.stdin.isatty() or IN_BROWSER):
            raise RequestError("dlperf-tui needs a terminal: in a script, use `dlperf run` and `dlperf status`")
        return show(settings)
    except DlperfError as error:
        print(f"dlperf-tui: {error}", file=sys.stderr)
        return error.exit_code


def _shown_as(options: argparse.Namespace) -> list[str]:
    """Return the options of how it looks; what was not given is as the user left it."""
    words = ["--language", options.language] if options.language else []
    if options.light is not None:
        words.append("--light" if options.light else "--no-light")
    return [*words, "--frames", str(options.frames), *(["--ascii"] if options.ascii else [])]


def settings_of(options: argparse.Namespace) -> TerminalSettings:
    if not 1 <= options.frames <= MAX_FRAMES:
        raise RequestError(f"--frames {options.frames}: choose 1 to {MAX_FRAMES}")
    utf8, file = _has_utf8(), Path.home() / REMEMBERED
    known = recall(file)
    remembered = known["language"] if known.get("language") in LANGUAGES else None
    return TerminalSettings(
        language=_language(options.language or remembered) if utf8 or options.language else "en",
        workspace=find_workspace(options.workspace),
        dark=known.get("dark") is not False if options.light is None else not options.light,
        remembered=file,
        plain=options.ascii or not utf8,
        frames_per_second=options.frames,
    )


def find_workspace(folder: Path) -> WorkspacePaths:
    """Return the workspace around a folder; where there is none, offer to create one.

    Raises:
        RequestError: there is none, and none is wanted.
    """
    try:
        return WorkspacePaths.find(folder)
    except RequestError:
        if not (folder.is_dir() and sys.stdin.isatty()):
            raise
        question = _("There is no workspace at or above {folder}. Create one there? [y/N] ", folder=folder.resolve())
        if input(question).strip().lower() != "y":
            raise
    subprocess.run([sys.executable, "-m", "dlperf", "init", str(folder)], stdin=subprocess.DEVNULL, check=False)
    return WorkspacePaths.find(folder)


def show(settings: TerminalSettings) -> int:
    if "SSH_CONNECTION" not in os.environ:
        os.environ.setdefault("ESCDELAY", ESCAPE_MILLISECONDS)
    from dlperf.app.app import DlperfApp

    for name in () if IN_BROWSER else EXPORTED_SIZE:
        os.environ.pop(name, None)
    without_colour = os.environ.get("NO_COLOR")
    while (app := DlperfApp(settings)).run() == "again" and not IN_BROWSER:  # where the page is to be loaded again
        if without_colour is not None:  # which Textual takes out
            os.environ["NO_COLOR"] = without_colour
    if app.return_code:
        return app.return_code
    use_language(settings.language)
    for line in farewell(settings.workspace):
        print(line)
    return ExitCode.DONE


def farewell(workspace: WorkspacePaths) -> list[str]:
    """Name the campaigns whose engines go on, and how to come back."""
    from dlperf.runs.lock import engine_pid

    lines = []
    for paths in workspace.campaigns():
        pid = engine_pid(paths)
        if pid is not None:
            lines.append(_("{name} goes on without this window (engine: process {pid}).", name=paths.name, pid=pid))
            quoted = shlex.quote(paths.name)
            lines.append(_("  how it stands:  dlperf status {name}", name=quoted))
            lines.append(_("  end it:         dlperf cancel {name}", name=quoted))
    if lines:
        lines.append(_("  come back:      dlperf-tui {folder}", folder=shlex.quote(str(workspace.root))))
    return lines


def _language(asked: str | None) -> Code:
    if asked is None:
        return preferred_language().code
    if asked in LANGUAGES:
        return cast("Code", asked)
    raise RequestError(f"--language {asked}: choose {' or '.join(LANGUAGES)}")


def _has_utf8() -> bool:
    # Textual writes to standard error; Python takes UTF-8 for a locale of C (PEP 538 and 540), but a user means C
    locale = os.environ.get("LC_ALL") or os.environ.get("LANG")
    stream = sys.__stderr__
    return locale not in ("C", "POSIX") and stream is not None and stream.encoding.lower().replace("-", "") == "utf8"
