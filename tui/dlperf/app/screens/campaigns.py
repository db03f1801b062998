"""The campaigns of the workspace: running ones, then interrupted ones, then the newest."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Static

from dlperf.app.actions import bindings_of
from dlperf.app.model.table import Column, Row, Tone, bar, packed
from dlperf.app.screens.base import PlaceScreen
from dlperf.app.screens.pages import filtered_title, no_match
from dlperf.app.widgets.prompt import Prompt
from dlperf.app.widgets.row_table import RowTable
from dlperf.messages import N_, _
from dlperf.view.campaigns import CampaignSummary, Standing, sort_campaigns
from dlperf.view.text import local_time, printable, short_duration

LOOKS: dict[Standing, tuple[str, Tone]] = {
    Standing.RUNNING: ("▶", "busy"),
    Standing.PAUSED: ("‖", "warn"),
    Standing.INTERRUPTED: ("!", "warn"),
    Standing.FINISHED: ("✓", ""),
    Standing.LOADING: ("…", "dim"),
    Standing.UNREADABLE: ("✗", "bad"),
}
"""Glyph and tone."""


class CampaignsScreen(PlaceScreen):
    place = "campaigns"
    about = N_(
        "The campaigns of this workspace. Enter opens one: what runs is watched, what has ended is looked back on."
    )
    BINDINGS: ClassVar[list[BindingType]] = bindings_of("campaigns")

    def __init__(self) -> None:
        super().__init__()
        self._matching = ""

    def body(self) -> ComposeResult:
        with Vertical(classes="panel"):
            yield RowTable(_columns(), id="campaigns")
        yield Static(classes="status", id="about-campaign", markup=False)

    def on_mount(self) -> None:
        self.main.book.list_names()
        self.campaigns_changed()
        self.query_one(RowTable).focus()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_selected)

    def campaigns_changed(self) -> None:
        super().campaigns_changed()
        self._show()

    def _show(self) -> None:
        summaries = self.main.book.summaries
        table = self.query_one(RowTable)
        table.empty = no_match(self._matching, len(summaries)) if self._matching else _empty_text()
        table.show_rows([item.name for item in sort_campaigns(list(summaries.values()), self._matching)], self._row)
        title = _("Campaigns") if self._matching else _("Campaigns of {folder}", folder=self.workspace.root)
        self.query_one(".panel").border_title = filtered_title(title, self._matching)
        self._show_selected()

    def _row(self, key: Hashable) -> Row:
        return campaign_row(self.main.book.summaries.get(str(key)) or CampaignSummary(str(key)))

    @on(RowTable.Highlighted)
    def _show_selected(self) -> None:
        summary = self._selected()
        text = about_campaign(summary, self.size.width - 2) if summary else ""
        self.query_one("#about-campaign", Static).update(text)
        self.refresh_bindings()

    def _selected(self) -> CampaignSummary | None:
        return self.main.book.summaries.get(str(self.query_one(RowTable).selected))

    @on(RowTable.Chosen)
    def action_watch_selected(self) -> None:
        summary = self._selected()
        if summary is not None and summary.standing is not Standing.UNREADABLE:
            self.main.watch_campaign(summary.name)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        summary = self._selected() if self.is_mounted else None
        if action == "watch_selected":
            return True if summary else None
        if action == "find":
            return True if self.main.book.summaries else None
        if action == "resume":
            return True if summary and summary.standing is Standing.INTERRUPTED else None
        return True

    @work
    async def action_resume(self) -> None:
        summary = self._selected()
        if summary is None or summary.standing is not Standing.INTERRUPTED:
            return
        from dlperf.view.start import resume_campaign

        paths = self.workspace.campaign(summary.name)
        if await self.start_engine(partial(resume_campaign, self.workspace, paths)):
            self.main.watch_campaign(summary.name)

    def action_find(self) -> None:
        self.query_one(Prompt).ask("filter", _("filter"), self._matching)

    def action_escape(self) -> None:
        self._matching = ""
        self._show()

    @on(Prompt.Typed)
    def _filter(self, event: Prompt.Typed) -> None:
        self._matching = event.text
        self._show()


def _empty_text() -> str:
    lines = (
        _("Nothing has been measured in this workspace yet."),
        "",
        _("  2                     choose hardware, frameworks and cases"),
        _("  dlperf quickstart     the main job on this machine, in a minute"),
        _("  dlperf import LOGS    take in logs that somebody else has measured"),
    )
    return "\n" + "\n".join(lines)


def _columns() -> tuple[Column, ...]:
    return (
        Column(_("campaign"), 20, importance=9, flexible=True),
        Column(_("state"), 18, importance=9),
        Column(_("done"), 20, importance=8),
        Column(_("without figure"), 14, right=True, importance=5),
        Column(_("time left"), 9, right=True, importance=6),
        Column(_("started"), 11, importance=7),
        Column(_("what"), 30, importance=1, flexible=True),
    )


def campaign_row(summary: CampaignSummary) -> Row:
    glyph, tone = LOOKS[summary.standing]
    share = summary.done / summary.total if summary.total else 0.0
    read = summary.standing not in (Standing.LOADING, Standing.UNREADABLE)
    return Row(
        (
            printable(summary.name),
            f"{glyph} {_(summary.standing.value)}",
            f"{bar(share, 8)} {summary.done}/{summary.total}" if read else "",
            str(summary.bad) if summary.bad else "",
            short_duration(summary.seconds_left) if summary.live else "",
            local_time(summary.created),
            " · ".join(_axes(summary)),
        ),
        tones=("", tone, "", "bad" if summary.bad else "", "", "dim", "dim"),
    )


def _axes(summary: CampaignSummary) -> list[str]:
    selection = summary.selection
    axes = (selection.hardware, selection.frameworks, selection.cases, selection.precisions, selection.scales)
    return [", ".join(axis) for axis in axes if axis]


def about_campaign(summary: CampaignSummary, width: int) -> str:
    if summary.problem:
        return printable(summary.problem)
    parts = _axes(summary)
    if summary.live and summary.seconds_left is not None:
        parts.append(_("about {time} left", time=short_duration(summary.seconds_left)))
    if summary.bad:
        parts.append(_("{count} without a figure", count=summary.bad))
    lines = packed(parts, width, " · ")
    lines += [
        _("{node} unreachable since {time}; what runs there goes on", node=printable(node), time=local_time(since))
        for node, since in summary.unreachable.items()
    ]
    if summary.standing is Standing.INTERRUPTED:
        lines.append(_("The engine has stopped before the end. R starts it again: what still runs is taken over."))
    return "\n".join(line for line in lines if line)
