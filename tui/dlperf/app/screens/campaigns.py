"""The campaigns of the workspace: running ones, then interrupted ones, then the newest."""

from __future__ import annotations

import os
import shlex
from collections.abc import Hashable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.content import Content

from dlperf.app.dialogs.confirm import ConfirmScreen
from dlperf.app.dialogs.pages import ListPage, filtered_title, no_match
from dlperf.app.model.campaigns_table import CampaignsView, about_campaign
from dlperf.app.model.changes import CampaignChange, remove, rename, restore, tag, trash_columns, trash_rows
from dlperf.app.model.choice import can_be_chosen, choice_of
from dlperf.app.model.table import Column, Row
from dlperf.app.screens.base import NOT_RESUMABLE, REFUSAL_SECONDS
from dlperf.app.screens.sorted_table import SortedTableScreen
from dlperf.app.widgets.prompt import Prompt
from dlperf.app.widgets.row_table import RowTable
from dlperf.app.widgets.status_line import Panel, StatusLine, set_titles
from dlperf.errors import DlperfError
from dlperf.messages import N_, _
from dlperf.runs.lookup import trashed_campaigns
from dlperf.view.campaigns import RESUMABLE, CampaignSummary, Standing
from dlperf.view.text import printable

if TYPE_CHECKING:
    from dlperf.app.model.results.table import ResultsView


MAX_WITH_PREVIEW = 8
"""Campaigns that leave room for the results of one in a window of few rows."""
MOST_IN_WORDS = 50
"""Results of a campaign below the table of all of them: more than fit into a window."""


class CampaignsScreen(SortedTableScreen):
    place = "campaigns"
    about = N_(
        "The campaigns of this workspace. Enter opens one: what runs is watched, what has ended is looked back on. "
        "† marks a best result with caveats."
    )
    REASONS: ClassVar[dict[str, str]] = {
        "rename": N_("Its engine is running: it can be renamed once that has ended."),
        "remove": N_("Its engine is running: it can be removed once that has ended; w and X cancel it."),
        "resume": NOT_RESUMABLE,
        "undo": N_("There is no change to take back."),
        "repeat": N_("It was not planned from a selection that could be chosen again."),
    }

    def __init__(self) -> None:
        super().__init__()
        self.view: CampaignsView = CampaignsView()
        self._undone: list[CampaignChange] = []
        """What undoes the changes that were made, the newest last."""
        self._previewed: tuple[object, ...] = ()
        """Name of the campaign whose results were read last, and what had ended in it."""

    @property
    def table(self) -> RowTable:
        return self.query_one("#campaigns", RowTable)

    @property
    def preview(self) -> Panel:
        return self.query_one("#preview", Panel)

    def body(self) -> ComposeResult:
        yield RowTable(self.view.columns(), id="campaigns")
        yield StatusLine("about-campaign")
        with Panel(id="preview"):
            yield RowTable((Column("", 1),), id="preview-rows")
            yield StatusLine("preview-text")

    def on_mount(self) -> None:
        self.main.book.list_names()
        self.campaigns_changed()
        self.table.focus()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_selected)

    def campaigns_changed(self) -> None:
        super().campaigns_changed()
        self.show_view(self.view)

    def frame(self) -> None:
        super().frame()
        summary = self._selected()
        if summary is None or summary.standing is Standing.LOADING:
            return
        wanted = (summary.name, summary.standing, summary.done)
        if wanted != self._previewed and self.preview.size:
            self._previewed = wanted
            self._read_results(summary.name)

    @work(thread=True, exclusive=True, group="preview")
    def _read_results(self, name: str) -> None:
        from dlperf.app.model.results.table import ResultsView, about_result
        from dlperf.evidence.logs import log_reader
        from dlperf.table.load import load_campaign

        try:
            _, rows = load_campaign(self.workspace.campaign(name), partial(log_reader, self.workspace))
        except DlperfError:  # which the line above the preview says
            rows = []
        text = "\n\n".join("\n".join(about_result(row)) for row in rows[:MOST_IN_WORDS])
        view = ResultsView(rows=tuple(replace(row, campaign="") for row in rows))
        self.call_later(self._show_results, name, view, text)

    def _show_results(self, name: str, view: ResultsView, text: str) -> None:
        if name == self.table.selected:
            set_titles(self.preview, Content(_("Results of {name}", name=printable(name))))
            table = self.query_one("#preview-rows", RowTable)
            table.show_columns(view.columns())
            table.show_items(view)
            table.forget_widths()
            self.query_one("#preview-text", StatusLine).update(text)

    def _empty_text(self) -> str:
        trashed = len(trashed_campaigns(self.workspace)) if not self.main.book.summaries else 0
        left = [_("No campaign is left; the trash holds {count}.", count=trashed), ""]
        left.append(_("  U                     the trash: what was removed, to restore"))
        lines = (
            *(left if trashed else [_("Nothing has been measured in this workspace yet."), ""]),
            _("  2                     choose hardware, frameworks and cases, or a program of your own"),
            _("  6                     add machines, and see what they do"),
            _("  2 p                   presets, such as quickstart: this machine, in a minute"),
            _("  i                     import logs that somebody else has measured"),
        )
        return "\n" + "\n".join(lines)

    def show_view(self, view: CampaignsView) -> None:
        summaries = self.main.book.summaries
        self.view = view = replace(view, summaries=summaries)
        self.table.empty = no_match(view.matching, len(summaries)) if view.matching else self._empty_text()
        self.table.mark_sorting(view.column, view.descending)
        names = [item.name for item in view.shown()]
        self.table.show_rows(names, self._row)
        self.set_class(not names, "-without-campaign")
        self.set_class(len(names) > MAX_WITH_PREVIEW, "-many")
        title = _("Campaigns") if view.matching else _("Campaigns of {folder}", folder=self.workspace.root)
        set_titles(self.table, filtered_title(title, view.matching))
        self._show_selected()

    def _row(self, key: Hashable) -> Row:
        return self.view.cells(self.view.summaries.get(str(key)) or CampaignSummary(str(key)))

    @on(RowTable.Highlighted, "#campaigns")
    def _show_selected(self) -> None:
        summary = self._selected()
        text = about_campaign(summary, self.size.width - 2) if summary else ""
        self.query_one("#about-campaign", StatusLine).update(text)
        self.refresh_bindings()

    def _selected(self) -> CampaignSummary | None:
        return self.main.book.summaries.get(str(self.table.selected))

    @on(RowTable.Chosen)
    def action_watch_selected(self) -> None:
        summary = self._selected()
        if summary is not None and summary.standing is not Standing.UNREADABLE:
            self.main.watch_campaign(summary.name)

    def why_not(self, action: str) -> str:
        selected = self._selected() or action in self.REASONS
        return super().why_not(action) if selected else _("No campaign is selected.")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        summary = self._selected() if self.is_mounted else None
        if action == "repeat":
            return True if summary and can_be_chosen(summary.selection) else None
        if action in ("watch_selected", "tag"):
            return True if summary else None
        if action in ("rename", "remove"):
            return True if summary and not summary.live else None
        if action == "undo":
            return True if self._undone else None
        if action in ("find", "sort", "reverse"):
            return True if self.main.book.summaries else None
        if action == "resume":
            return True if summary and summary.standing in RESUMABLE else None
        return True

    @work
    async def action_resume(self) -> None:
        summary = self._selected()
        if summary is None or summary.standing not in RESUMABLE:
            return
        if await self.resume(self.workspace.campaign(summary.name)):
            self.main.watch_campaign(summary.name)

    def action_repeat(self) -> None:
        if summary := self._selected():
            self.settings.choice = choice_of(summary.selection)
            self.app.switch_mode("choose")

    def action_rename(self) -> None:
        if summary := self._selected():
            self.query_one(Prompt).ask("rename", _("new name"), summary.name)

    def action_tag(self) -> None:
        if summary := self._selected():
            self.query_one(Prompt).ask("tag", _("tags, with blanks between"), " ".join(summary.tags))

    def action_import_logs(self) -> None:
        label = _("logs and options of `dlperf import`, such as: a.log b.log -H h100-sxm")
        self.query_one(Prompt).ask("import", label, starts_something=True)

    def _import_logs(self, text: str) -> None:
        from dlperf.app.dialogs.command import CommandPage  # its widget takes longer than the rest of this screen

        try:
            words = import_words(text, self.settings.now())
        except ValueError as error:
            self.report(error)
            return
        self.app.push_screen(CommandPage(_("Import"), self.workspace, words))

    @on(Prompt.Typed)
    def _text_typed(self, event: Prompt.Typed) -> None:
        if event.final and event.purpose == "import" and event.text.strip():
            self._import_logs(event.text)
        if not (event.final and (summary := self._selected())):
            return
        paths, text = self.workspace.campaign(summary.name), event.text.strip()
        if event.purpose == "tag":
            self._change(tag(paths, text))
        elif event.purpose == "rename" and text != summary.name:
            self._change(rename(self.workspace, paths.name, text))

    def action_remove(self) -> None:
        if summary := self._selected():
            text = _("It goes to the trash: u brings it back at once, U later.")
            title = _("Remove {name}?", name=printable(summary.name))
            question = ConfirmScreen(title, text, _("Remove"), _("Keep"), variant="error")
            self.ask(question, partial(self._change, remove(self.workspace, summary.name)))

    def action_undo(self) -> None:
        """Take the last change back."""
        if self._undone:
            self._change(self._undone[-1], undoes=True)

    @work
    async def action_trash(self) -> None:
        """List what was removed, and restore what is chosen."""
        trashed = {item.paths.directory.name: item for item in trashed_campaigns(self.workspace)}
        rows = trash_rows(trashed.values())
        page = ListPage(_("Trash: enter restores"), trash_columns(), rows, _("The trash is empty."))
        chosen = await self.app.push_screen_wait(page)
        if chosen is not None:
            self._change(restore(self.workspace, trashed[str(chosen)].paths, trashed[str(chosen)].name))

    @work
    async def _change(self, change: CampaignChange, undoes: bool = False) -> None:
        """Make a change, remember how to undo it, and follow the campaign by its new name.

        What cannot be undone any more is forgotten: it would stand before the older changes.
        """
        found: list[CampaignChange] = []
        is_made = await self.attempt(lambda: found.append(change.make()))
        self._undone = self._undone[:-1] if undoes else [*self._undone, *found]
        self.refresh_bindings()
        if not is_made:
            return
        if self.settings.watched == change.name:
            self.settings.watched = change.renamed
        self.table.select(change.renamed)
        self.notify(change.said, markup=False, timeout=REFUSAL_SECONDS)
        self._read_campaigns()


def import_words(text: str, now: str) -> list[str]:
    """Return the command that imports the logs of a command line, as a campaign named by the time if it names none.

    Raises:
        ValueError: a quotation mark is not closed.
    """
    words = [os.path.expanduser(word) for word in shlex.split(text)]
    if not {"--campaign", "--report"} & {word.partition("=")[0] for word in words}:
        words += ["--campaign", f"{datetime.fromisoformat(now):%Y-%m-%d-%H%M%S}-imported"]
    return ["import", *words]
