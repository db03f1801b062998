"""The table of a campaign's trials: what it shows and hides, in which order, and what its cursor follows."""

from collections.abc import Collection, Hashable

from dlperf.app.dialogs.pages import filtered_title, no_match
from dlperf.app.model.table import Row
from dlperf.app.model.trial_rows import NO_SILENCE
from dlperf.app.model.trials import TrialGroup, by_configuration, row_keys, shares_of_best
from dlperf.app.screens.campaign_actions import CampaignActions
from dlperf.app.widgets.row_table import RowTable
from dlperf.app.widgets.status_line import set_titles
from dlperf.messages import _
from dlperf.plan import TrialKey
from dlperf.runs.records import CampaignStatus, State, TrialStatus
from dlperf.view.campaigns import Standing

FRAME_ROWS, MIN_ROWS = 3, 8
"""Rows of the table: of its border and header, and of the smallest."""


class TrialList(CampaignActions):
    def __init__(self) -> None:
        super().__init__()
        self._matching = ""
        self._folded: set[str] = set()
        self._groups: dict[str, list[TrialStatus]] = {}
        self._shares: dict[str, float] = {}
        self._ranked = self._failed_only = False
        self._follows_running = True
        """The cursor goes to the trial that runs, until it is moved by hand."""
        self._followed: object = None
        """Row that the cursor was put on, to follow what runs."""
        self._drawn_status: CampaignStatus | None = None

    def _draw_line(self) -> None:
        """Draw what is said of the campaign above its trials."""
        raise NotImplementedError

    @property
    def trials(self) -> RowTable:
        return self.query_one("#trials", RowTable)

    def _status_changed(self) -> None:
        if self.campaign is None:
            return
        self._drawn_status = self.campaign.status
        self._groups = dict(by_configuration(self.campaign.status))
        values = {name: self.campaign.value_of(name, trials) for name, trials in self._groups.items()}
        self._shares = shares_of_best(self.campaign.record, values)
        self.forget_done_requests()
        self.trials.empty = no_match(self._matching or _("failed"), len(self.campaign.status.trials))
        ranks = self._shares if self._ranked else {}
        keys = row_keys(self.campaign.status, self._matching, self._folded, ranks, self._failed_only)
        self.trials.show_rows(keys, self._row)
        self._draw_title()
        room_for_all = len(self.campaign.status.trials) + len(self._groups) + FRAME_ROWS
        self.trials.limit_height(max(MIN_ROWS, room_for_all))
        if self.standing() is Standing.FINISHED:
            self.trials.forget_widths()
        self._select_running()
        self._draw_line()
        self.refresh_bindings()

    def _draw_title(self) -> None:
        """Say above the table what is hidden, and whether the cursor follows what runs."""
        parts = [_("Trials"), *([_("failed ones only (!)")] if self._failed_only else [])]
        trials = self.campaign.status.trials if self.campaign else {}
        runs = (key in trials and trials[key].state is State.RUNNING for key in self.trials.keys)
        parts += [_("following what runs (F)")] if self._follows_running and any(runs) else []
        set_titles(self.trials, filtered_title(" · ".join(parts), self._matching))

    def _row(self, key: Hashable) -> Row:
        assert self.campaign is not None
        if isinstance(key, TrialGroup):
            name = key.configuration
            return self.campaign.group_row(name, self._groups.get(name, []), self._shares.get(name))
        assert isinstance(key, TrialKey)
        return self.campaign.trial_row(key, self.asked.get(key), self.now)

    def action_follow_running(self) -> None:
        self._follows_running = not self._follows_running
        self._select_running()
        self._draw_title()

    def _select_running(self) -> None:
        """Select a trial that runs, where none is selected; one that sends something before one that does not."""
        if self._follows_running and (campaign := self.campaign) is not None:
            running = [trial.key for trial in campaign.status.trials.values() if trial.state is State.RUNNING]
            if running and self.trials.selected not in running:
                self.trials.select(min(running, key=lambda key: campaign.silences(key, self.now) != NO_SILENCE))
        self._followed = self.trials.selected

    def action_rank(self) -> None:
        self._ranked = not self._ranked
        self._status_changed()

    def action_fold(self) -> None:
        selected = self.trials.selected
        if isinstance(selected, (TrialGroup, TrialKey)):
            self._folded ^= {selected.configuration}
            self._status_changed()
            self.trials.select(TrialGroup(selected.configuration))

    def action_fold_all(self) -> None:
        self._folded = set() if self._folded else set(self._groups)
        self._status_changed()

    def action_failed_only(self) -> None:
        self._failed_only = not self._failed_only
        self._status_changed()

    def selected_trials(self) -> Collection[TrialKey]:
        selected = self.trials.selected if self.campaign else None
        if isinstance(selected, TrialGroup):
            return [trial.key for trial in self._groups.get(selected.configuration, ())]
        return [selected] if isinstance(selected, TrialKey) else []
