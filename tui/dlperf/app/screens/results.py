"""All results of the workspace and of published reports, or two campaigns compared."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult

from dlperf.app.dialogs.comparing import show_side_by_side
from dlperf.app.dialogs.pages import ListPage, TextPage, filtered_title, no_match
from dlperf.app.model.choice import choice_of_points
from dlperf.app.model.results.comparison import ComparisonView, comparable, comparison_of
from dlperf.app.model.results.table import ResultsView, name_of, number_of_evidence, peers_key, version_lines
from dlperf.app.model.table import Column, Row, packed
from dlperf.app.screens.sorted_table import SortedTableScreen
from dlperf.app.watching import WatchedCampaign
from dlperf.app.widgets.row_table import RowTable
from dlperf.app.widgets.status_line import StatusLine, set_titles
from dlperf.errors import DlperfError
from dlperf.messages import N_, _
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.inference.policies import CLAIM, LEVEL
from dlperf.view.campaigns import Standing
from dlperf.view.text import printable

FRAME_ROWS, MIN_ROWS, MAX_COMPACT_ROWS = 3, 8, 30
"""Rows of the table: of its border and header, of the smallest, and of the longest that leaves room for the peers."""


class ResultsScreen(SortedTableScreen):
    place = "results"
    about = N_(
        "Every figure of this workspace and of the published reports. A figure is the median of its trials; spread is "
        "(max - min) / median. Better is claimed only with equal numerics, on the same GPUs, with at least {trials} "
        "trials each in turns and p ≤ {p} for all that is compared at once; the site tests all of its claims together, "
        "and may claim less, as `dlperf compare A B` says. † marks a figure with caveats, which o lists."
    )
    kept = ("view", "_all")
    REASONS: ClassVar[dict[str, str]] = {
        "published": N_("A comparison has no results of published reports: esc leaves it."),
        "swap": N_("Two campaigns are compared by c; b makes the other one the baseline then."),
        "repeat": N_("Results of published reports cannot be repeated here."),
    }

    def __init__(self) -> None:
        super().__init__()
        self._all = ResultsView()
        self.view: ResultsView | ComparisonView = self._all
        self._kind: type[ResultsView | ComparisonView] = ResultsView
        self._items: list[Any] = []
        self._shown_peers: Sequence[ConfigurationResult] = ()
        self._problem = ""
        self._ended: dict[str, tuple[int, Standing]] | None = None
        """What had ended in each campaign when its results were read."""

    def help_text(self) -> str:
        return _(self.about, trials=CLAIM.least, p=LEVEL)

    def body(self) -> ComposeResult:
        yield RowTable(self.view.columns(), id="results")
        yield StatusLine("left-out")
        yield StatusLine("selected-line")
        yield RowTable(self.view.columns(), id="peers")

    def on_mount(self) -> None:
        self.query_one("#peers").border_title = _("Same case, precision and number of GPUs")
        self.table.focus()
        self.table.empty = "\n" + _("Reading …")
        self._ended = self._ended_trials()
        self.action_reload()

    def campaigns_changed(self) -> None:
        """Read the results again where a trial has ended since they were read."""
        super().campaigns_changed()
        ended = self._ended_trials()
        if ended is not None and ended != self._ended:
            self._ended = ended
            self.action_reload()

    def _ended_trials(self) -> dict[str, tuple[int, Standing]] | None:
        """Return what has ended in each campaign; None while they are being read."""
        summaries = self.main.book.summaries.values()
        loading = any(item.standing is Standing.LOADING for item in summaries)
        return None if loading else {item.name: (item.done, item.standing) for item in summaries}

    @property
    def table(self) -> RowTable:
        return self.query_one("#results", RowTable)

    @work(thread=True, exclusive=True, group="results")
    def action_reload(self) -> None:
        from dlperf.table.load import load_results

        problems: list[DlperfError] = []
        try:
            rows = load_results(self.workspace, complain=problems.append)
        except DlperfError as error:
            rows, problems = [], [error]
        self.call_later(self._loaded, tuple(rows), [printable(str(problem)) for problem in problems])

    def _loaded(self, rows: tuple[ConfigurationResult, ...], problems: list[str]) -> None:
        self._problem = _("{count} left out: {reason}", count=len(problems), reason=problems[0]) if problems else ""
        view = self.view
        if rows != self._all.rows:
            self._all = replace(self._all, rows=rows)
            if isinstance(view, ComparisonView) and (found := comparison_of(rows, view.before, view.after)):
                view = replace(view, points=found.points, not_compared=found.not_compared)
            else:
                view = self._all
        self.show_view(view)

    def show_view(self, view: ResultsView | ComparisonView) -> None:
        other = type(view) is not self._kind
        self._kind = type(view)
        if other:
            self.table.show_columns(view.columns())
        if isinstance(view, ResultsView):
            self._all = view
        self.view, self._items = view, list[Any](view.shown())
        self.table.empty = self._empty_text()
        rows = [view.result(item) for item in self._items]
        keys = [(row.campaign, row.id, index) for index, row in enumerate(rows)]
        self.table.mark_sorting(view.column, view.descending)
        self.table.show_rows(keys, self._row)
        self.table.refresh()
        if other and not self.table.awaits:
            self.table.action_first()
        set_titles(self.table, filtered_title(view.title(), view.matching))
        self.query_one("#peers").display = bool(self._items)
        self.table.set_class(not self._items, "-alone")
        self.set_class(len(self._items) > MAX_COMPACT_ROWS, "-many")
        self.table.limit_height(max(MIN_ROWS, len(self._items) + FRAME_ROWS))
        lines = [line for line in (view.summary(), self._problem) if line]
        self.query_one("#left-out", StatusLine).update("\n".join(lines))
        self.query_one("#left-out").display = bool(lines)
        self._show_selected()
        self.refresh_bindings()

    def _empty_text(self) -> str:
        if not self._all.rows:
            return "\n" + _("No results yet: 2 chooses what to measure, `dlperf import` takes in logs.")
        return no_match(self.view.matching, len(self.view.items()))

    def _row(self, key: Hashable) -> Row:
        assert isinstance(key, tuple)
        return self.view.cells(self._items[key[2]])

    def _selected(self) -> Any:
        key = self.table.selected
        return self._items[key[2]] if isinstance(key, tuple) and key[2] < len(self._items) else None

    @on(RowTable.Highlighted, "#results")
    def _show_selected(self) -> None:
        item = self._selected()
        about = self.view.about(item)[1:] if item else []
        row = self.view.result(item) if item else None
        if row and isinstance(self.view, ResultsView):
            about = [printable(row.campaign), *(f"  {line}" for line in about)]
        parts = [packed(part, self.size.width - 2, " · ") for part in _parts(about)]
        self.query_one("#selected-line", StatusLine).update("\n".join(line for part in parts for line in part))
        peers = self._all.peers.get(peers_key(row), ()) if row else ()
        if peers != self._shown_peers:
            self._shown_peers = peers
            table = self.query_one("#peers", RowTable)
            table.show_items(ResultsView(rows=tuple(peers)))
            table.forget_widths()

    def why_not(self, action: str) -> str:
        return super().why_not(action) if self._all.rows else _("There are no results yet.")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "published" and isinstance(self.view, ComparisonView):
            return None
        if action == "swap":
            return True if isinstance(self.view, ComparisonView) else None
        if action == "repeat":
            return True if self._repeatable() else None
        return True if self._all.rows or action in ("reload", "escape") else None

    @on(RowTable.Chosen, "#results")
    def action_open_trials(self) -> None:
        """Open the trial that gave the figure; where no trial is here, all that is known."""
        item = self._selected()
        row = self.view.result(item) if item else None
        if row is not None and row.is_third_party:
            self.action_open_result()
        elif row is not None:
            self._open_campaign(row)

    @work(thread=True, exclusive=True, group="open")
    def _open_campaign(self, row: ConfigurationResult) -> None:
        try:
            campaign = WatchedCampaign(self.workspace.campaign(row.campaign))
        except DlperfError as error:
            self.call_later(self.report, error)
            return
        self.call_later(self._open_trial, campaign, row)

    def _open_trial(self, campaign: WatchedCampaign, row: ConfigurationResult) -> None:
        from dlperf.app.screens.trial import TrialScreen

        keys = [key for key in campaign.status.trials if key.configuration == row.id]
        number = number_of_evidence(row)
        key = next((key for key in keys if key.number == number), max(keys, default=None))
        if key is not None:
            campaign.refresh_engine()
            self.app.push_screen(TrialScreen(campaign, key))

    @work(exclusive=True, group="details")
    async def action_open_result(self) -> None:
        """Show all that is known of the selected figure, with the version of its framework."""
        from dlperf.verdicts.workspace import stated_conditions

        if (item := self._selected()) is None:
            return
        about, row = self.view.about(item), self.view.result(item)
        await self.attempt(lambda: about.extend(version_lines(*stated_conditions(self.workspace, [row]))))
        self.app.push_screen(TextPage(_("Selected"), "\n".join(about)))

    def action_published(self) -> None:
        self.show_view(replace(self._all, published=not self._all.published))

    def action_mark(self) -> None:
        if isinstance(self.view, ResultsView) and (item := self._selected()) is not None:
            self.show_view(replace(self.view, marked=self.view.marked ^ {name_of(item)}))

    def _marked(self) -> list[ConfigurationResult]:
        return self.view.chosen() if isinstance(self.view, ResultsView) and self.view.marked else []

    def _repeatable(self) -> list[ConfigurationResult]:
        """Return the marked rows, or the selected one, without those of published reports."""
        item = self._selected()
        rows = self._marked() or ([self.view.result(item)] if item is not None else [])
        return [row for row in rows if not row.is_third_party]

    def action_repeat(self) -> None:
        if rows := self._repeatable():
            self.settings.choice = choice_of_points(rows)
            self.app.switch_mode("choose")

    @work
    async def action_compare(self) -> None:
        item, marked = self._selected(), self._marked()
        if len(marked) > 1:
            await show_side_by_side(self, marked, self._all.rows)
            return
        if isinstance(self.view, ComparisonView) or item is None:
            self.show_view(self._all)
            return
        after = self.view.result(item).campaign
        views = comparable(self._all.rows, after)
        if not views:
            self.notify(_("No other campaign has a configuration of {name}.", name=printable(after)), markup=False)
            return
        rows: dict[Hashable, Row] = {name: Row((printable(name), view.summary())) for name, view in views.items()}
        columns = (Column(_("campaign"), 20, importance=9, flexible=True), Column("", 30, flexible=True))
        title = _("Compare {name} with", name=printable(after))
        chosen = await self.app.push_screen_wait(ListPage(title, columns, rows))
        if chosen is not None:
            self.show_view(views[str(chosen)])

    def action_swap(self) -> None:
        view = self.view
        if isinstance(view, ComparisonView) and (found := comparison_of(self._all.rows, view.after, view.before)):
            self.show_view(replace(found, matching=view.matching))

    def action_copy_row(self) -> None:
        if self.table.selected is not None:
            self.copy(self.table.text_of(self.table.selected))

    def action_copy_table(self, form: str) -> None:
        self.app.copy_to_clipboard(self.view.as_text(form))
        self.notify(_("Copied {count} rows to the clipboard.", count=len(self.view.chosen())))

    def action_escape(self) -> None:
        """Leave a comparison; else clear the filter and the marks."""
        if isinstance(self.view, ComparisonView):
            self.show_view(self._all)
        else:
            self.show_view(replace(self._all, matching="", marked=frozenset()))
            self.table.forget_widths()


def _parts(lines: Sequence[str]) -> list[list[str]]:
    """Return lines with those below them that are indented."""
    parts: list[list[str]] = []
    for line in lines:
        if line.startswith(" ") and parts:
            parts[-1].append(line.strip())
        else:
            parts.append([line.strip()])
    return parts
