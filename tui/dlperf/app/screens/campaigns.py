"""The campaigns of the workspace: what runs first, then what waits to be resumed, then the newest."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Static

from dlperf.app.actions import bindings_of
from dlperf.app.model.bars import bar
from dlperf.app.model.table import Column, Row, Tone, packed
from dlperf.app.screens.base import PlaceScreen
from dlperf.app.screens.pages import filtered_title
from dlperf.app.widgets.prompt import Prompt
from dlperf.app.widgets.row_table import RowTable
from dlperf.messages import N_, _
from dlperf.view.campaigns import CampaignSummary, Standing, sort_campaigns
from dlperf.view.text import local_time, printable, short_duration

GLYPHS = {
    Standing.RUNNING: "▶",
    Standing.PAUSED: "‖",
    Standing.INTERRUPTED: "!",
    Standing.FINISHED: "✓",
    Standing.LOADING: "…",
    Standing.UNREADABLE: "✗",
}
TONES: dict[Standing, Tone] = {
    Standing.RUNNING: "busy",
    Standing.PAUSED: "warn",
    Standing.INTERRUPTED: "warn",
    Standing.FINISHED: "",
    Standing.LOADING: "dim",
    Standing.UNREADABLE: "bad",
}


class CampaignsScreen(PlaceScreen):
    """The first screen."""

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

    @property
    def _summaries(self) -> Mapping[str, CampaignSummary]:
        return self.main.book.summaries

    def _show(self) -> None:
        summaries = sort_campaigns(list(self._summaries.values()), self._matching)
        table = self.query_one(RowTable)
        table.empty = self._nothing() if not self._matching else _no_match(self._matching, len(self._summaries))
        table.show_rows([summary.name for summary in summaries], self._row)
        panel = table.parent
        assert isinstance(panel, Vertical)
        title = _("Campaigns") if self._matching else _("Campaigns of {folder}", folder=self.workspace.root)
        panel.border_title = filtered_title(title, self._matching)
        self._show_selected()

    def _nothing(self) -> str:
        return "\n".join(
            (
                "",
                _("Nothing has been measured in this workspace yet."),
                "",
                _("  2                     choose hardware, frameworks and cases"),
                _("  dlperf quickstart     the main job on this machine, in a minute"),
                _("  dlperf import LOGS    take in logs that somebody else has measured"),
            )
        )

    def _row(self, key: Hashable) -> Row:
        return campaign_row(self._summaries.get(str(key)) or CampaignSummary(str(key)))

    @on(RowTable.Highlighted)
    def _show_selected(self) -> None:
        summary = self._selected()
        self.query_one("#about-campaign", Static).update(
            about_campaign(summary, self.size.width - 2) if summary else ""
        )
        self.refresh_bindings()

    def _selected(self) -> CampaignSummary | None:
        selected = self.query_one(RowTable).selected
        return self._summaries.get(str(selected)) if selected is not None else None

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
            return True if self._summaries else None
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
        self.prompt.ask("filter", _("filter"), self._matching)

    def action_escape(self) -> None:
        self._matching = ""
        self._show()

    @on(Prompt.Typed)
    def _filter(self, event: Prompt.Typed) -> None:
        self._matching = event.text
        self._show()


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
    """A campaign as a row."""
    share = summary.done / summary.total if summary.total else 0.0
    read = summary.standing not in (Standing.LOADING, Standing.UNREADABLE)
    return Row(
        (
            printable(summary.name),
            f"{GLYPHS[summary.standing]} {_(summary.standing.value)}",
            f"{bar(share, 8)} {summary.done}/{summary.total}" if read else "",
            str(summary.bad) if summary.bad else "",
            short_duration(summary.seconds_left) if summary.live else "",
            local_time(summary.created),
            " · ".join(_axes(summary)),
        ),
        tones=("", TONES[summary.standing], "", "bad" if summary.bad else "", "", "dim", "dim"),
    )


def _axes(summary: CampaignSummary) -> list[str]:
    """What it measures."""
    selection = summary.selection
    axes = (selection.hardware, selection.frameworks, selection.cases, selection.precisions, selection.scales)
    return [", ".join(axis) for axis in axes if axis]


def about_campaign(summary: CampaignSummary, width: int) -> str:
    """What the selected campaign measures and what ails it."""
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


def _no_match(matching: str, total: int) -> str:
    return "\n" + _("None of {total} matches {text}. esc shows all.", total=total, text=matching)
