"""What every screen shares: the bars, the prompt, the periodic look at the files."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import on, work
from textual.app import ComposeResult
from textual.events import Resize, ScreenResume
from textual.geometry import Offset, Size
from textual.screen import Screen
from textual.worker import get_current_worker

from dlperf.app.actions import actions_of
from dlperf.app.dialogs.confirm import ConfirmScreen
from dlperf.app.guarded import UNREADABLE, Guarded
from dlperf.app.settings import TerminalSettings
from dlperf.app.widgets.bars import KeyBar, TopBar
from dlperf.app.widgets.prompt import PromptLine
from dlperf.app.widgets.row_table import RowTable
from dlperf.errors import RequestError
from dlperf.messages import N_, _
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.view.text import printable

if TYPE_CHECKING:
    from dlperf.app.app import DlperfApp

WIDE, TALL = 100, 32
ERROR_SECONDS, REFUSAL_SECONDS = 12.0, 4.0
"""In which an error is shown, and why a key does nothing."""
NOT_RESUMABLE = N_("It is not paused, and its engine has not stopped before the end.")
NOT_STARTED = (126, 127, 255)
"""Exit codes of a shell that could not start a program, and of ssh that could not connect: its reason is to be read."""


def wait_for_enter() -> None:
    """Wait for the enter key, the end of the input or Ctrl+C, by which asyncio would end the program."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with suppress(EOFError, KeyboardInterrupt):
        input(_("Press Enter to return."))
    signal.signal(signal.SIGINT, before)


class PlaceScreen(Guarded, Screen[None]):
    """A screen of the program.

    Threads and workers report to it by ``call_later``: what comes after the screen was closed is dropped.
    """

    place: ClassVar[str] = ""
    """Its key in ``actions.ACTIONS``."""
    about: ClassVar[str] = ""
    """What the screen is for, for the help."""
    read_seconds: ClassVar[float] = 2.0
    """Seconds between two checks of the files."""
    kept: ClassVar[tuple[str, ...]] = ()
    """Names of what ``remember`` returns besides the cursors."""
    REASONS: ClassVar[dict[str, str]] = {}
    """Why an action is not possible, by its id."""
    AUTO_FOCUS = ""
    ALLOW_IN_MAXIMIZED_VIEW = "TopBar, KeyBar, PromptLine, #campaign-line"

    def __init_subclass__(cls, **options: Any) -> None:
        """Give a screen the keys of its place."""
        super().__init_subclass__(keys=vars(cls).get("place", ""), **options)

    def __init__(self) -> None:
        super().__init__()
        self._drawn_version = -1
        self._due: dict[float, float] = {}
        """When ``is_due`` is true next, by its seconds."""

    @property
    def main(self) -> DlperfApp:
        return cast("DlperfApp", self.app)

    @property
    def settings(self) -> TerminalSettings:
        return self.main.settings

    @property
    def workspace(self) -> WorkspacePaths:
        return self.settings.workspace

    def help_text(self) -> str:
        return _(self.about)

    def compose(self) -> ComposeResult:
        self._leave_out()
        yield TopBar(self.place)
        yield KeyBar(actions_of(self.place))
        yield PromptLine()
        yield from self.body()

    def body(self) -> ComposeResult:
        yield from ()

    def on_mount(self) -> None:
        self.query("#textual-toastrack").set(display=False)  # Textual hides it on the first visit, and lays out anew
        self.call_after_refresh(self._read_campaigns)
        if memory := self.settings.memories.pop(self.place, None):
            self.recall(memory)

    @on(Resize)
    def _leave_out(self) -> None:
        """Set the classes by which a small window leaves things out; Textual's breakpoints would style all twice."""
        self.set_class(self.app.size.width < WIDE, "-narrow")
        self.set_class(self.app.size.height < TALL, "-short")

    @on(ScreenResume)
    def _keep_styles(self, event: ScreenResume) -> None:
        """Keep the styles; the app makes them anew where the theme has changed."""
        event.refresh_styles = False

    def _screen_resized(self, size: Size) -> None:
        """Lay out in a new size only: Textual does so whenever a screen is shown, and draws it twice.

        Private to Textual, whose public event comes after the layout.
        """
        if size != self.outer_size:
            super()._screen_resized(size)

    def on_idle(self) -> None:
        """Lay out and draw a screen that is not shown yet, so that its first visit takes as long as the others.

        Private to Textual, which does so only with the screen shown.
        """
        if self._layout_required and not self.is_current:
            self._layout_required = False
            self._refresh_layout()
            self._compositor.render_full_update()  # every widget keeps its lines
            self._update_timer.resume()  # which ticks a frame after its first start

    def on_screen_suspend(self) -> None:
        self.settings.memories[self.place] = self.remember()

    @property
    def updates_often(self) -> bool:
        """Whether what the screen shows may change many times a second."""
        return False

    def frame(self) -> None:
        """Read the files and draw what has changed; called on every frame while the screen is shown."""
        if self.is_due(self.read_seconds):
            self.check_files()
        if self._drawn_version != self.main.book.version:
            self._drawn_version = self.main.book.version
            self.campaigns_changed()

    def check_files(self) -> None:
        """Find out which files have changed; called every ``read_seconds``."""
        self._read_campaigns()

    @work(thread=True, group="campaigns")
    def _read_campaigns(self) -> None:
        worker = get_current_worker()
        self.main.book.refresh(lambda: worker.is_cancelled)

    def campaigns_changed(self) -> None:
        live = sum(summary.live for summary in self.main.book.summaries.values())
        self.query_one(TopBar).show_running(_("{count} running", count=live) if live else "")

    async def attempt(self, change: Callable[[], object]) -> bool:
        """Call what changes files or starts an engine, in a thread; return whether it did, and show why not."""
        try:
            await asyncio.to_thread(change)
        except UNREADABLE as error:
            self.report(error)
            return False
        return True

    async def resume(self, paths: CampaignPaths) -> bool:
        """End the pause of a campaign, or start its engine again; return whether that succeeded."""
        from dlperf.view.start import resume_campaign

        return await self.attempt(partial(resume_campaign, self.workspace, paths))

    def ask(self, question: ConfirmScreen, then: Callable[[], object]) -> None:
        """Ask at once, so that keys typed meanwhile go to the question, and call ``then`` where the answer is yes."""

        def answered(agreed: bool | None) -> None:
            if agreed:
                then()

        self.app.push_screen(question, answered)

    def places(self) -> list[tuple[Offset, Callable[[], object]]]:
        """Return where on the screen a letter leads somewhere in jump mode, and what it does."""
        return [(part.region.offset, partial(self.set_focus, part)) for part in self.focus_chain]

    def run_program(self, variable: str, usual: str, words: Sequence[str | Path], before: str = "") -> None:
        """Give the terminal to the user's pager, editor or shell until it ends."""
        if self.app.is_web:
            self.report(RequestError(_("A browser cannot show other programs: open dlperf-tui in a terminal.")))
            return
        program = f"{os.environ.get(variable) or usual} {shlex.join(map(str, words))}"
        with self.app.suspend():
            if subprocess.run(before + program, shell=True, check=False).returncode in NOT_STARTED:
                wait_for_enter()
        self.refresh(layout=True)

    async def action_dismiss(self, result: object = None) -> None:
        """Stay: of two clicks on the frame of a page, the first has closed it."""

    def why_not(self, action: str) -> str:
        """Return why an action is not possible now."""
        return _(self.REASONS.get(action, N_("This is not possible here.")))

    def refuse(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Say why an action is not possible; return whether it is one that is shown as such."""
        if self.check_action(action, parameters) is not None:
            return False
        self.notify(self.why_not(action), severity="warning", markup=False, timeout=REFUSAL_SECONDS)
        return True

    def report(self, error: Exception) -> None:
        """Show an error, once while the notice of it stands."""
        text = printable(str(error))
        if not any(notice.message == text for notice in self.app._notifications):
            self.notify(text, severity="error", markup=False, timeout=ERROR_SECONDS)

    def copy(self, text: str) -> None:
        self.app.copy_to_clipboard(text)
        self.notify(printable(text), title=_("Copied"), markup=False)

    @property
    def now(self) -> float:
        return datetime.fromisoformat(self.settings.now()).timestamp()

    def remember(self) -> dict[str, Any]:
        """Return what the screen shows and where its cursors are, for the same screen in another language."""
        selected = {table.id: table.selected for table in self.query(RowTable)}
        return {"selected": selected, **{name: getattr(self, name) for name in self.kept}}

    def recall(self, memory: dict[str, Any]) -> None:
        for name in self.kept:
            setattr(self, name, memory[name])
        for table in self.query(RowTable):
            table.select(memory["selected"].get(table.id))

    def is_due(self, seconds: float) -> bool:
        """Return whether this is the first frame, or so many seconds have passed since it last was such a one.

        Half a frame less is enough: a frame that comes a little early would else leave it to the next.
        """
        now = time.monotonic()
        due = now + 0.5 / self.settings.frames_per_second >= self._due.get(seconds, 0.0)
        if due:
            self._due[seconds] = now + seconds
        return due
