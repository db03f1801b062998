"""One trial: curve, figure and findings, environment, command, log."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Static
from textual.worker import get_current_worker

from dlperf.app.campaigns import modified
from dlperf.app.dialogs.comparing import choose_trial, show_side_by_side
from dlperf.app.dialogs.pages import links
from dlperf.app.model.choice import choice_of_points
from dlperf.app.model.curve import Series
from dlperf.app.model.results.side_by_side import title_of
from dlperf.app.model.trial_pages import command_text, environment_lines, figure_lines, read_environment
from dlperf.app.model.trials import no_log_text, state_text
from dlperf.app.screens.log_actions import LogActions
from dlperf.app.series import SeriesReader, log_of_the_figure, reader_of
from dlperf.app.watching import CampaignGoneError, WatchedCampaign
from dlperf.app.widgets.curve_view import CurveView
from dlperf.app.widgets.log_view import LogView
from dlperf.app.widgets.prompt import Prompt
from dlperf.app.widgets.status_line import StatusLine
from dlperf.errors import DlperfError
from dlperf.evidence.logs import log_reader
from dlperf.messages import N_, _, render
from dlperf.plan import PlannedConfiguration, TrialKey
from dlperf.runs.records import State, TrialStatus
from dlperf.table.model import ConfigurationResult
from dlperf.view.text import printable

PAGES = {
    "curve": N_("Curve"),
    "figure": N_("Figure"),
    "environment": N_("Environment"),
    "command": N_("Command"),
    "log": N_("Log"),
}
REFRESH_SECONDS = 1.0
ROOM_FOR_TWO = 150
"""Cells of a window that shows the figure beside its curve."""


class TrialScreen(LogActions):
    place = "trial"
    about = N_(
        "One trial: its throughput curve with the warm-up shaded and the measured window marked, its throughput and "
        "caveats, the environment of its nodes, the exact command, and its log."
    )
    REASONS: ClassVar[dict[str, str]] = {"turn": N_("The trial has one log.")}

    def __init__(self, campaign: WatchedCampaign, key: TrialKey) -> None:
        super().__init__()
        self._campaign, self._key = campaign, key
        self._series: SeriesReader | None = None
        self._overlaid = self._reading = False
        self._shown_status: object = None
        self._read_of: object = None
        """Trial, log and when it was written, as the curve was read last."""
        self._page = "curve"
        self._texts: dict[str, str] = {}

    def body(self) -> ComposeResult:
        yield StatusLine("trial-line")
        yield StatusLine("pages-line")
        with Horizontal(id="trial-body"):
            yield CurveView()
            with VerticalScroll(id="text-page"):
                yield Static(id="page-text", markup=False)
            yield LogView()

    def on_mount(self) -> None:
        self.action_show_page("curve")
        self._show_line()
        self.call_after_refresh(self._read)

    def _read(self) -> None:
        self._show_texts()
        self._show_log()
        self._read_curve_if_new()

    def frame(self) -> None:
        super().frame()
        self.poll_logs()
        if self.is_due(REFRESH_SECONDS):
            self._campaign.refresh()
            self._show_log()
            if self._trial is not self._shown_status:
                self._show_texts()
            self._read_curve_if_new()

    def report(self, error: Exception) -> None:
        super().report(error)
        if isinstance(error, CampaignGoneError) and self.app.screen is self:
            self.app.pop_screen()

    @property
    def _trial(self) -> TrialStatus:
        return self._campaign.status.trials[self._key]

    def _show_texts(self) -> None:
        self._shown_status = trial = self._trial
        self._show_line()
        if planned := self._campaign.planned(self._key.configuration):
            self._read_texts(trial, planned)

    def _show_line(self) -> None:
        trial = self._trial
        now = self._campaign.progress_of(self._key) if not trial.state.finished else None
        why = now.pending_reason if now else trial.cause if trial.state is not State.SUCCEEDED else None
        parts = (self._campaign.name_of(self._key), state_text(trial.state), printable(render(why)) if why else "")
        self.query_one("#trial-line", StatusLine).update("  ".join(filter(None, parts)))

    @work(thread=True, group="curve")
    def _read_texts(self, trial: TrialStatus, planned: PlannedConfiguration) -> None:
        paths = self._campaign.paths.trial(self._key)
        texts = {
            "figure": "\n".join(figure_lines(trial, self._campaign.result_of(self._key))),
            "environment": "\n".join(environment_lines(planned, read_environment(paths))),
            "command": command_text(paths, planned, trial.state.finished),
        }
        self.call_later(self._texts_read, texts)

    def _texts_read(self, texts: dict[str, str]) -> None:
        self._texts = texts
        self._show_text()

    def _show_text(self) -> None:
        page = "figure" if self._page == "curve" else self._page
        self.query_one("#page-text", Static).update(self._texts.get(page, ""))

    def _show_log(self) -> None:
        live = not self._trial.state.finished
        message = no_log_text(self._trial, self._campaign.progress_of(self._key))
        self.show_streams(self._campaign.streams(self._key), message, f"#{self._key.number}", live)

    def _read_curve_if_new(self) -> None:
        """Read the curve where its log has grown, or the trial has ended, since it was read."""
        log = log_of_the_figure(self._campaign, self._key)
        if log is None:
            self._show_curve(Series((), ()))
        if self._reading or log is None:
            return
        if self._read_of != (now := (self._trial, log, modified(log))):
            self._read_of, self._reading = now, True
            self._read_curve(log)

    @work(thread=True, group="curve")
    def _read_curve(self, log: Path) -> None:
        series = None
        try:
            if self._series is None or self._series.path != log:
                self._series = reader_of(self._campaign, self._key, log_reader(self.workspace))
            if reader := self._series:
                series = reader.whole() if self._trial.state.finished else reader.advance()
        except DlperfError:
            pass
        finally:
            self._reading = False
        if not get_current_worker().is_cancelled:
            self.call_later(self._show_curve, series or Series((), ()))

    @work(thread=True, group="curve")
    def _read_others(self) -> None:
        """Read the curves of the other trials of the configuration."""
        found = []
        for key in self._trials():
            if key != self._key and (reader := reader_of(self._campaign, key, log_reader(self.workspace))):
                with suppress(DlperfError):
                    found.append(reader.whole())
        others = [series for series in found if series]
        self.call_later(lambda: self.query_one(CurveView).show_behind(others))

    def _trials(self) -> list[TrialKey]:
        keys = self._campaign.status.trials
        return sorted(key for key in keys if key.configuration == self._key.configuration)

    def _show_curve(self, series: Series) -> None:
        planned = self._campaign.planned(self._key.configuration)
        skip = planned.protocol.skip_steps if planned else None
        result = self._campaign.result_of(self._key)
        window = None
        if result is not None and result.first_step is not None and result.last_step is not None:
            window = (float(result.first_step), float(result.last_step))
        if result is not None and result.unit == series.unit:
            series = replace(series, result=result.value)
        self.query_one(CurveView).show(series, float(skip) if skip else None, window)

    def action_show_trial(self, by: int) -> None:
        keys = self._trials()
        following = keys[(keys.index(self._key) + by) % len(keys)]
        self.app.switch_screen(TrialScreen(self._campaign, following))

    def action_overlay(self) -> None:
        self.action_show_page("curve")
        self._overlaid = not self._overlaid
        if self._overlaid:
            self._read_others()
        else:
            self.query_one(CurveView).show_behind(())

    @work
    async def action_compare(self) -> None:
        if found := await self._choose_trial():
            await show_side_by_side(self, found)

    async def _choose_trial(self) -> tuple[ConfigurationResult, ConfigurationResult] | None:
        planned = self._campaign.planned(self._key.configuration)
        return await choose_trial(self, self._campaign.paths.name, planned, self._key) if planned else None

    def action_repeat(self) -> None:
        """Choose the configuration, so that one of its values can be changed before it runs again."""
        if planned := self._campaign.planned(self._key.configuration):
            self.settings.choice = choice_of_points([planned.configuration])
            self.app.pop_screen()
            self.app.switch_mode("choose")

    @work
    async def action_plot_with(self) -> None:
        """Draw the curve of another trial into the same plot."""
        if found := await self._choose_trial():
            self.action_show_page("curve")
            self._read_second(found[1])

    @work(thread=True, group="curve")
    def _read_second(self, row: ConfigurationResult) -> None:
        campaign = WatchedCampaign(self.workspace.campaign(row.campaign))
        if reader := reader_of(campaign, TrialKey(row.id, row.trials[0].number), log_reader(self.workspace)):
            series = reader.whole()
            second = replace(series, name=title_of(row)) if series else None
            self.call_later(lambda: self.query_one(CurveView).show_second(second))

    def action_zoom_curve(self, factor: float) -> None:
        self.query_one(CurveView).zoom(factor)

    def action_pan_curve(self, share: float) -> None:
        self.query_one(CurveView).pan(share)

    def action_turn_page(self, by: int) -> None:
        names = list(PAGES)
        self.action_show_page(names[(names.index(self._page) + by) % len(names)])

    def action_show_page(self, page: str) -> None:
        self._page = page
        self._show_parts()
        self.set_focus({"curve": None, "log": self.log_view}.get(page, self.query_one("#text-page")))
        titles = {name: f"[{_(title)}]" if name == page else f" {_(title)} " for name, title in PAGES.items()}
        self.query_one("#pages-line", StatusLine).update(
            links(*((title, f"screen.show_page({name!r})") for name, title in titles.items()), gap=" ")
        )
        self._show_text()

    def _show_parts(self) -> None:
        """Show the curve, a text or the log; a wide window has room for the figure beside its curve."""
        with_curve = self._page == "curve" and self.app.size.width >= ROOM_FOR_TWO
        text = self.query_one("#text-page")
        text.set_class(with_curve, "-with-curve")
        text.display = with_curve or self._page not in ("curve", "log")
        self.query_one(CurveView).display = self._page == "curve"
        self.query_one(LogView).display = self._page == "log"

    def on_resize(self) -> None:
        self._show_parts()

    def action_find(self) -> None:
        self.action_show_page("log")
        self.ask_search()

    def action_first_error(self) -> None:
        self.action_show_page("log")
        super().action_first_error()

    def action_measured_lines(self) -> None:
        result = self._campaign.result_of(self._key)
        if result is None or result.first_line is None:
            self.notify(_("No figure, so no lines that gave one."))
            return
        self.action_show_page("log")
        self.log_view.show_lines(result.first_line, result.last_line or result.first_line)

    def action_escape(self) -> None:
        """Clear the search; where there is none, go back to where the trial was opened."""
        if self._page == "log" and (self.log_view.only_matching or self.log_view.pattern):
            self.clear_search()
        else:
            self.app.pop_screen()

    @on(Prompt.Typed)
    def _typed(self, event: Prompt.Typed) -> None:
        self.search_typed(event)
