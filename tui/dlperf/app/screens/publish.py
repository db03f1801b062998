"""Build the web site, serve it, open it."""

import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from textual import work
from textual.app import ComposeResult
from textual.widgets import RichLog

from dlperf.app.campaigns import modified
from dlperf.app.commands import RunningCommand
from dlperf.app.screens.base import PlaceScreen
from dlperf.app.widgets.status_line import StatusLine
from dlperf.errors import ExitCode
from dlperf.messages import N_, _, language
from dlperf.view.text import local_time

KEPT_LINES = 1000
NOTICE_SECONDS = 20.0
_ADDRESS = re.compile(r"https?://\S+")


class PublishScreen(PlaceScreen):
    place = "publish"
    about = N_(
        "Build the web site from the results, look at it, and see where it lies. It works from its folder alone."
    )
    REASONS: ClassVar[dict[str, str]] = {
        "build": N_("The site is being built."),
        "open_site": N_("There is no site yet: b builds it."),
        "copy_path": N_("There is no site yet: b builds it."),
    }

    def __init__(self) -> None:
        super().__init__()
        self._commands: dict[str, RunningCommand | None] = {}
        """Builder and server that run, by action; None while one is started."""
        self._opener: subprocess.Popen[bytes] | None = None
        self._address = ""
        self._state = ""
        self._last_line = ""
        """Of the builder's output: the reason where it fails."""

    def body(self) -> ComposeResult:
        yield StatusLine("site-lines")
        yield RichLog(max_lines=KEPT_LINES, wrap=True, min_width=0, classes="panel")

    def on_mount(self) -> None:
        self.query_one(RichLog).border_title = _("Build output")
        self.query_one(RichLog).write(_("b builds the site: a minute at most for a few hundred pages."))
        self.query_one(RichLog).focus()
        self._draw()

    def campaigns_changed(self) -> None:
        super().campaigns_changed()
        self._draw()

    def on_unmount(self) -> None:
        for command in self._commands.values():
            if command is not None:
                command.stop()

    @property
    def _index(self) -> Path:
        return self.workspace.site_html / "index.html"

    def _draw(self) -> None:
        if seconds := modified(self._index):
            built = local_time(datetime.fromtimestamp(seconds, UTC).isoformat())
            where = _("The site lies in {path}, built {time}.", path=self._index, time=built)
            if any(modified(paths.journal) > seconds for paths in self.workspace.campaigns()):
                where += "\n" + _("Results have come since then, which it does not show: b builds it again.")
        else:
            where = _("No site yet; the build writes {path}.", path=self._index)
        lines = [where, self._state, *served_lines(self._address, os.environ)]
        self.query_one("#site-lines", StatusLine).update("\n".join(line for line in lines if line))
        self.refresh_bindings()

    def _add_line(self, line: str) -> None:
        if line.strip():
            self.query_one(RichLog).write(line)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "build":
            return None if action in self._commands else True
        if action in ("open_site", "copy_path") and self.is_attached:
            return True if self._index.is_file() or self._address else None
        return True

    @work
    async def action_build(self) -> None:
        if "build" not in self._commands:
            self._state = _("Building …")
            code = await self._run("build", ["build-site"])
            self._state = _("Built.") if code == 0 else _("Not built: {reason}", reason=self._last_line)
            self.call_later(self._draw)

    @work
    async def action_serve(self) -> None:
        if "serve" in self._commands:
            if (server := self._commands["serve"]) is not None:
                server.stop()
            return
        self._state = _("Building, then serving …")
        stopped = await self._run("serve", ["serve-site", "--port", "0"]) in (ExitCode.DONE, ExitCode.INTERRUPTED)
        self._state = "" if stopped else _("Not served: {reason}", reason=self._last_line)
        self._address = ""
        self.call_later(self._draw)

    async def _run(self, action: str, words: Sequence[str]) -> int:
        """Run a command, whose lines are shown, and return its exit code; it may be run again however it ended."""
        self._commands[action] = None
        try:
            return await self._follow(action, words)
        except OSError as error:
            self._last_line = error.strerror or str(error)
            return ExitCode.MEASURED_FAILED
        finally:
            del self._commands[action]

    async def _follow(self, action: str, words: Sequence[str]) -> int:
        command = self._commands[action] = await RunningCommand.start(self.workspace, words)
        self.call_later(self._draw)
        async for line in command.lines():
            self._last_line = line or self._last_line
            self.call_later(self._add_line, line)
            found = _ADDRESS.search(line) if action == "serve" else None
            if found and not self._address:
                self._address, self._state = found[0].rstrip(".,"), ""
                self.call_later(self._draw)
        return await command.wait()

    def action_open_site(self) -> None:
        opener, quiet = opener_of(os.environ), subprocess.DEVNULL
        if opener is None:
            self._show_target(_("No desktop here."))
            return
        try:
            # in its own session without this terminal, which a text browser would take
            self._opener = subprocess.Popen(
                [opener, self._target], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
            )
        except OSError as error:
            self._show_target(f"{opener}{language().colon}{error.strerror}.")

    def frame(self) -> None:
        super().frame()
        if self._opener is not None and (code := self._opener.poll()) is not None:
            self._opener = None
            if code:
                self._show_target(_("No browser opened."))

    def _show_target(self, why: str) -> None:
        where = _("Open {target} in a browser.", target=self._target)
        self.notify(f"{why} {where}", markup=False, timeout=NOTICE_SECONDS)

    @property
    def _target(self) -> str:
        return self._address or str(self._index)

    def action_copy_path(self) -> None:
        self.copy(self._target)


def served_lines(address: str, environment: Mapping[str, str]) -> list[str]:
    """Return where the site is served, and how to reach it over ssh."""
    if not address:
        return []
    lines = [_("Served at {address}; s stops it.", address=address)]
    if "SSH_CONNECTION" in environment:
        port = urlsplit(address).port
        command = f"ssh -L {port}:127.0.0.1:{port} {platform.node()}"
        lines.append(_("From your own machine: {command}", command=command))
    return lines


def opener_of(environment: Mapping[str, str], system: str = sys.platform) -> str | None:
    """Return the command that opens a page in a window; None without a desktop."""
    if system == "darwin":
        return "open"
    return "xdg-open" if environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY") else None
