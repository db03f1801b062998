"""One campaign: its trials, the log of the selected one, the machines it runs on."""

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal

from dlperf.app.actions import ACTIONS
from dlperf.app.dialogs.pages import ListPage
from dlperf.app.model.events import event_columns, event_rows
from dlperf.app.model.table import Row
from dlperf.app.model.telemetry import history_columns, history_rows, node_summaries, read_means
from dlperf.app.model.trial_rows import trial_columns
from dlperf.app.model.trials import TrialGroup, first_to_show, no_log_text, trial_to_show
from dlperf.app.screens.campaign_actions import campaign_lines
from dlperf.app.screens.log_actions import MIN_LOG_CELLS, LogActions
from dlperf.app.screens.trial_list import TrialList
from dlperf.app.watching import CampaignGoneError, WatchedCampaign
from dlperf.app.widgets.device_table import DeviceTable
from dlperf.app.widgets.log_view import LogView
from dlperf.app.widgets.prompt import Prompt
from dlperf.app.widgets.row_table import RowTable
from dlperf.app.widgets.status_line import StatusLine
from dlperf.errors import DlperfError
from dlperf.messages import N_, _
from dlperf.plan import TrialKey
from dlperf.view.campaigns import sort_campaigns
from dlperf.view.text import printable

REFRESH_SECONDS, TELEMETRY_SECONDS = 0.2, 1.0
NEEDING_A_CAMPAIGN = frozenset(action.id for action in ACTIONS["watch"]) - {"escape"}
MOST_LINES = 5
"""Of what is said above the table."""
MOST_PAGE_CELLS, PAGE_FRAME_CELLS = 160, 12
"""Width of the widest page, and what its frame and a narrow margin take."""


class WatchScreen(TrialList, LogActions):
    place = "watch"
    about = N_(
        "One campaign. Above, its trials by configuration; below, the log of the selected trial as its node writes it, "
        "and what its machines do. Closing this window ends nothing."
    )
    kept = ("_matching", "_folded", "_ranked", "_failed_only")

    def __init__(self) -> None:
        super().__init__()
        self._campaign_name: str | None = None
        self._gone: str | None = None
        """Name of a campaign that is said to be gone."""
        self._shows_side_logs = False
        self._shown: TrialKey | None = None

    def body(self) -> ComposeResult:
        yield StatusLine("campaign-line")
        yield RowTable(trial_columns(), id="trials")
        with Horizontal(id="below"):
            yield LogView(id="log")
            yield DeviceTable()

    def on_mount(self) -> None:
        self.trials.border_title = _("Trials")
        self.trials.focus()

    def on_screen_resume(self) -> None:
        """Show the campaign that was chosen, else one that runs, else the newest."""
        name = self.settings.watched
        if self._gone is not None and name == self._gone:  # which the screen says
            return
        if name is None:
            self.main.book.list_names()
            name = next((item.name for item in sort_campaigns(list(self.main.book.summaries.values()))), None)
        if name is None:
            self._show_nothing(_("There is no campaign in this workspace yet. 2 chooses what to measure."))
            self.add_class("-without-campaign")
        elif name != self._campaign_name:
            self._campaign_name = name
            self.campaign = None
            self.remove_class("-without-campaign")
            self._show_nothing(_("Reading {name} …", name=printable(name)))
            self._open(name)

    def on_screen_suspend(self) -> None:
        self.settings.watched, self._gone = self._campaign_name, None  # to stay with it

    @property
    def devices(self) -> DeviceTable:
        return self.query_one(DeviceTable)

    def _show_nothing(self, text: str) -> None:
        self.trials.empty = "\n" + text
        self.trials.show_rows([], lambda _key: Row(()))
        self.trials.forget_widths()
        self.query_one("#campaign-line", StatusLine).update("")
        self.log_view.show_log(None)

    @work(thread=True, exclusive=True, group="open")
    def _open(self, name: str) -> None:
        try:
            campaign = WatchedCampaign(self.workspace.campaign(name))
        except DlperfError as error:
            self.call_later(self._show_nothing, printable(str(error)))
            return
        self.call_later(self._opened, name, campaign)

    def report(self, error: Exception) -> None:
        if not isinstance(error, CampaignGoneError):
            super().report(error)
            return
        if self.settings.watched not in (None, self._campaign_name):  # renamed in the list: it is about to be shown
            return
        self.settings.watched = self._gone = self._campaign_name
        self.campaign = self._campaign_name = None
        self.add_class("-without-campaign")
        self._show_nothing("\n".join((printable(str(error)), _("1 or esc lists the campaigns."))))
        self.refresh_bindings()

    def _opened(self, name: str, campaign: WatchedCampaign) -> None:
        if name != self._campaign_name:
            return
        self.campaign = campaign
        recalled = self.trials.awaits
        if not recalled:
            self._folded.clear()
        campaign.refresh_engine()
        self._status_changed()
        if not recalled:
            self.trials.select(first_to_show(campaign.status))
            self._followed, self._follows_running = self.trials.selected, True
            self._draw_title()
        self._show_selected()

    def frame(self) -> None:
        super().frame()
        self.poll_logs()
        if self.campaign is None:
            return
        if self.is_due(REFRESH_SECONDS):
            changed = self.campaign.refresh()
            if self.campaign.status is not self._drawn_status:  # also where another screen has read what was added
                self._status_changed()
            elif changed:
                self._progress_changed()
        if self.is_due(TELEMETRY_SECONDS):
            if self.campaign.refresh_engine():
                self.refresh_bindings()
            self._progress_changed()
            self._show_selected()

    def _progress_changed(self) -> None:
        self.trials.refresh_rows()
        self._draw_line()

    def on_resize(self) -> None:
        """A narrow window has a line for the machines instead of a table."""
        self.call_after_refresh(self._draw_line)

    @on(DeviceTable.Changed)
    def _draw_line(self) -> None:
        if self.campaign is None:
            return
        lines = campaign_lines(self.campaign, self.size.width - 2, self.settings.now(), self.main.book.trial_seconds)
        shown = self.campaign.status.trials.get(self._shown) if self._shown else None
        if self.has_class("-narrow") and shown is not None:
            lines = [*lines, *node_summaries(self.devices.devices, shown.state.finished)]
        self.query_one("#campaign-line", StatusLine).update("\n".join(lines[:MOST_LINES]))

    @on(RowTable.Highlighted, "#trials")
    def _selection_changed(self) -> None:
        if self._follows_running and self.trials.has_focus and self.trials.selected != self._followed:
            self._follows_running = False
            self._draw_title()
        self._show_selected()
        self.refresh_bindings()

    def _show_selected(self) -> None:
        selected = self.trials.selected
        if self.campaign is None or not isinstance(selected, (TrialGroup, TrialKey)):
            return
        if (key := trial_to_show(selected, self.campaign.status)) is None:
            return
        if key != self._shown:
            self._shown = key
            self.forget_stream()
        trial = self.campaign.status.trials[key]
        live, streams = not trial.state.finished, self.campaign.streams(key)
        self.show_streams(streams, no_log_text(trial, self.campaign.progress_of(key)), self.campaign.name_of(key), live)
        self._update_side_logs()
        self.devices.show_trial(self.campaign, key, self.now)

    @on(RowTable.Chosen, "#devices")
    @work(thread=True, exclusive=True, group="history")
    def action_history(self) -> None:
        """Show what each GPU did from the start of the trial on."""
        campaign, shown = self.campaign, self._shown
        if campaign is None or shown is None:
            return
        nodes = campaign.nodes(shown)
        devices = [item for node in nodes for item in read_means(node.telemetry, node.directory.name)]
        rows = history_rows(devices, min(MOST_PAGE_CELLS, self.app.size.width) - PAGE_FRAME_CELLS)
        page = ListPage(_("Machines over time"), history_columns(), rows, chooses=False)
        self.call_later(self.app.push_screen, page)

    @on(RowTable.Chosen, "#trials")
    def action_open_trial(self) -> None:
        selected = self.trials.selected
        if isinstance(selected, TrialGroup):
            self.action_fold()
        elif isinstance(selected, TrialKey) and self.campaign is not None:
            from dlperf.app.screens.trial import TrialScreen

            self.app.push_screen(TrialScreen(self.campaign, selected))

    def action_events(self) -> None:
        if self.campaign is not None:
            rows = event_rows(self.campaign.paths)
            self.app.push_screen(ListPage(_("Events"), event_columns(), rows, chooses=False))

    def action_maximize_log(self) -> None:
        if self.maximized is None:
            self.set_focus(self.log_view)
        self.main.action_zoom()

    def action_split_logs(self) -> None:
        self._shows_side_logs = not self._shows_side_logs
        self.set_class(self._shows_side_logs, "-split-logs")
        self._update_side_logs()
        if self._shows_side_logs and self.campaign and len(self.campaign.side_logs(self._shown)) < 2:
            self.notify(_("There is no other log to show: the trial has one, and no other trial runs."), markup=False)
        elif self._shows_side_logs and self.size.width < 2 * MIN_LOG_CELLS:
            self.notify(_("There is room for a second log from {count} columns on.", count=2 * MIN_LOG_CELLS))

    def _update_side_logs(self) -> None:
        self.show_side_logs(self.campaign.side_logs(self._shown) if self._shows_side_logs and self.campaign else {})

    def why_not(self, action: str) -> str:
        if self.campaign is None:
            return _("No campaign is shown: 1 lists those that can be watched.")
        return super().why_not(action)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self.campaign is None and action in NEEDING_A_CAMPAIGN:
            return None
        if action == "history":
            return True if self.devices.devices else None
        return super().check_action(action, parameters)

    def action_find(self) -> None:
        if self.log_view.has_focus:
            self.ask_search()
            return
        label = _("filter trials: words of configuration, state or cause")
        self.query_one(Prompt).ask("filter", label, self._matching)

    def action_escape(self) -> None:
        """Clear filter and search; where there is none, go back to the campaigns."""
        if not (self._matching or self._failed_only or self.log_view.only_matching or self.log_view.pattern):
            self.app.switch_mode("campaigns")
        self.clear_search()
        self._matching, self._failed_only = "", False
        self._status_changed()

    @on(Prompt.Typed)
    def _typed(self, event: Prompt.Typed) -> None:
        if event.purpose == "filter":
            self._matching = event.text
            self._status_changed()
        else:
            self.search_typed(event)
