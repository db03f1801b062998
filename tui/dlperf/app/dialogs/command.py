"""The output of a dlperf command, line by line, in front of a screen; closing it ends the command."""

import time
from collections.abc import Sequence

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import RichLog

from dlperf.app.commands import RunningCommand
from dlperf.app.dialogs.pages import CLOSE, DialogPage, links
from dlperf.messages import _
from dlperf.runs.paths import WorkspacePaths
from dlperf.view.text import short_duration


class CommandPage(DialogPage[None], keys="command_page"):
    def __init__(self, title: str, workspace: WorkspacePaths, words: Sequence[str], next_step: str = "") -> None:
        """
        Args:
            next_step: what is said once the command has succeeded.
        """
        super().__init__()
        self._title, self._workspace, self._words, self._next_step = title, workspace, words, next_step
        self._command: RunningCommand | None = None
        self._since, self._has_ended = time.monotonic(), False

    def compose(self) -> ComposeResult:
        with Vertical(classes="page") as page:
            page.border_title = self._title
            page.border_subtitle = links((_("esc ends it"), CLOSE))
            yield RichLog(max_lines=1000, wrap=True, min_width=0)

    def on_mount(self) -> None:
        self.query_one(RichLog).focus()
        self._run()
        self.set_interval(1.0, self._count_seconds)

    def on_unmount(self) -> None:
        if self._command is not None:
            self._command.stop()

    def _count_seconds(self) -> None:
        """Say how long it has run, as a program may print nothing for a minute."""
        if not self._has_ended:
            since = short_duration(time.monotonic() - self._since)
            self.query_one(".page").border_subtitle = links((_("esc ends it"), CLOSE)).append(f" · {since}")

    @work
    async def _run(self) -> None:
        self._command = await RunningCommand.start(self._workspace, self._words)
        async for line in self._command.lines():
            self.call_later(self.query_one(RichLog).write, line)
        code = await self._command.wait()
        self.call_later(
            self._ended, self._next_step or _("Done.") if code == 0 else _("Ended with exit code {code}.", code=code)
        )

    def _ended(self, words: str) -> None:
        self._has_ended = True
        self.query_one(RichLog).write(words)
        self.query_one(".page").border_subtitle = links((_("esc closes"), CLOSE))
