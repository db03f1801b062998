"""What a screen says of a campaign, and requests to its engine: cancel, retry, pause, resume."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from functools import partial
from typing import ClassVar, TypeAlias

from textual import work

from dlperf.app.dialogs.confirm import cancel_question
from dlperf.app.model.campaigns_table import counts_text, look_of, why_stopped
from dlperf.app.model.planned import estimate
from dlperf.app.model.table import bar, packed
from dlperf.app.model.trial_rows import NO_SILENCE
from dlperf.app.model.trials import LOOKS, nodes_of
from dlperf.app.screens.base import NOT_RESUMABLE, PlaceScreen
from dlperf.app.watching import WatchedCampaign
from dlperf.errors import DlperfError
from dlperf.messages import N_, _, render
from dlperf.plan import TrialKey
from dlperf.runs.control import Action, ask
from dlperf.runs.records import CampaignStatus, State, seconds_between
from dlperf.view.campaigns import RESUMABLE, Standing, standing_of, summary_of
from dlperf.view.text import local_time, printable, short_duration

History: TypeAlias = Callable[[], Mapping[str, float]]


class CampaignActions(PlaceScreen):
    """A screen that watches a campaign and has one trial selected."""

    REASONS: ClassVar[dict[str, str]] = {
        "cancel_trial": N_("What is selected has ended."),
        "cancel_campaign": N_("Every trial has ended."),
        "retry": N_("What is selected has not failed, was retried already, or was imported."),
        "pause": N_("No engine is running that could pause."),
        "resume": NOT_RESUMABLE,
        "history": N_("Nothing is known of the machines of this trial."),
        "turn": N_("The trial has one log."),
    }
    campaign: WatchedCampaign | None = None

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[TrialKey, str] = {}
        """Requests that the engine has not carried out yet."""

    def selected_trials(self) -> Collection[TrialKey]:
        """Return the selected trial, or those of the selected configuration."""
        raise NotImplementedError

    def standing(self) -> Standing | None:
        return standing_of(self.campaign.status, self.campaign.engine_pid) if self.campaign else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        concerned = {
            "cancel_trial": self._selected_unfinished,
            "cancel_campaign": self._unfinished,
            "retry": self._selected_failures,
        }
        if action in concerned:
            return True if self.is_mounted and concerned[action]() else None
        if action == "pause" and self.standing() in RESUMABLE:
            return False  # the key resumes
        if action == "pause":
            return True if self.standing() is Standing.RUNNING else None
        if action == "resume":
            return True if self.standing() in RESUMABLE else None
        return super().check_action(action, parameters)

    def forget_done_requests(self) -> None:
        unfinished = set(self._unfinished())
        self.asked = {key: request for key, request in self.asked.items() if key in unfinished}

    def action_cancel_trial(self) -> None:
        """Cancel the selected trial, or those of the selected configuration."""
        self._cancel(self._selected_unfinished(), everything=False)

    def action_cancel_campaign(self) -> None:
        self._cancel(self._unfinished(), everything=True)

    def _cancel(self, keys: list[TrialKey], everything: bool) -> None:
        if self.campaign is None or not keys:
            return
        begun = [key for key in keys if self.campaign.status.trials[key].state is not State.PLANNED]
        lines = [_described(self.campaign, key) for key in begun]
        if len(keys) > len(begun):
            lines.append(_("not started yet: {count}", count=len(keys) - len(begun)))
        question = cancel_question(printable(self.campaign.paths.name), lines, everything, len(keys))
        asked: list[TrialKey | None] = [None] if everything else [*keys]
        self.ask(question, partial(self._ask, self.campaign, "cancel", *asked))

    def action_retry(self) -> None:
        """Retry the selected trial, or those of the selected configuration."""
        if self.campaign is not None and (keys := self._selected_failures()):
            self._ask(self.campaign, "retry", *keys)

    def action_pause(self) -> None:
        if self.campaign is not None:
            self._ask(self.campaign, "pause", None)

    @work
    async def action_resume(self) -> None:
        if self.campaign is not None and self.standing() in RESUMABLE:
            await self.resume(self.campaign.paths)

    def _unfinished(self) -> list[TrialKey]:
        trials = self.campaign.status.trials.values() if self.campaign else ()
        return [trial.key for trial in trials if not trial.state.finished]

    def _selected_failures(self) -> list[TrialKey]:
        """Return those selected trials that ended without success and can be retried."""
        if self.campaign is None or self.campaign.record.imported:
            return []
        trials = self.campaign.status.trials
        retried = {(trial.key.configuration, trial.retry_of) for trial in trials.values()}
        ended = [trials[key] for key in self.selected_trials() if trials[key].state.finished]
        failed = [trial.key for trial in ended if trial.state is not State.SUCCEEDED]
        return [key for key in failed if (key.configuration, key.number) not in retried]

    def _selected_unfinished(self) -> list[TrialKey]:
        selected = self.selected_trials()
        return [key for key in self._unfinished() if key in selected]

    @work
    async def _ask(self, campaign: WatchedCampaign, action: Action, *keys: TrialKey | None) -> None:
        """Write requests for the engine, of trials or (None) the campaign; start an engine where none runs."""
        try:
            for key in keys:
                ask(campaign.paths, action, key)
        except DlperfError as error:
            self.report(error)
            return
        if action in ("cancel", "retry"):
            self.asked |= dict.fromkeys(filter(None, keys) if any(keys) else self._unfinished(), action)
        campaign.refresh_engine()
        if campaign.engine_pid is None and action in ("retry", "cancel"):
            await self.resume(campaign.paths)


def _described(campaign: WatchedCampaign, key: TrialKey) -> str:
    state = _(LOOKS[campaign.status.trials[key].state].name)
    nodes = ", ".join(printable(node) for node in nodes_of(campaign.record, key))
    return f"{campaign.name_of(key)}  {state}  {nodes}"


def campaign_lines(campaign: WatchedCampaign, width: int, now: str, history: History) -> list[str]:
    """Return what is said of a campaign.

    Args:
        history: returns the seconds of a trial by configuration id, of earlier campaigns.
    """
    standing = standing_of(campaign.status, campaign.engine_pid)
    stopped = why_stopped(standing, campaign.stop_reason, campaign.damaged_lines)
    return [*_progress_lines(campaign, standing, width, now, history), *stopped, *_problems(campaign.status, standing)]


def _progress_lines(campaign: WatchedCampaign, standing: Standing, width: int, now: str, history: History) -> list[str]:
    summary = summary_of(campaign.record, campaign.status, campaign.progress, campaign.engine_pid)
    parts = [printable(summary.name), _(look_of(summary)[1])]
    if standing is not Standing.FINISHED:
        parts.append(bar(summary.done / max(1, summary.total), 12 if width >= 100 else 6))
        parts.append(_("{done} of {total}", done=f"{summary.done:,}", total=f"{summary.total:,}"))
    if summary.done or standing is Standing.FINISHED:
        parts.append(counts_text(summary.succeeded, summary.bad, summary.cancelled))
    if running := campaign.status.count(State.RUNNING):
        parts.append(_("{count} running", count=running))
    if standing in (Standing.RUNNING, Standing.PAUSED):
        passed = seconds_between(campaign.record.created, now)
        parts.append(_("{time} so far", time=short_duration(passed)))
        left = summary.seconds_left
        if left is None and standing is Standing.RUNNING and not summary.done:
            left = _by_earlier_campaigns(campaign, history(), now)
        parts += _time_left(campaign, left, datetime.fromisoformat(now).timestamp())
    elif summary.seconds is not None:
        parts.append(_("took {time}", time=short_duration(summary.seconds)))
    return packed(parts, width)


def _by_earlier_campaigns(campaign: WatchedCampaign, history: Mapping[str, float], now: str) -> float | None:
    """Return the seconds left if every trial takes as long as in earlier campaigns; None where one never ran."""
    whole = estimate(campaign.record.configurations, history)
    begun = min((trial.started for trial in campaign.status.trials.values() if trial.started), default=now)
    return None if whole.unknown else max(0.0, whole.seconds - seconds_between(begun, now))


def _time_left(campaign: WatchedCampaign, seconds: float | None, now: float) -> list[str]:
    """Return the estimate; a trial that hangs makes it the least."""
    if seconds is None:
        return []
    running = [trial.key for trial in campaign.status.trials.values() if trial.state is State.RUNNING]
    hangs = any(campaign.silences(key, now) != NO_SILENCE for key in running)
    return [
        (
            _("at least {time} left", time=short_duration(seconds))
            if hangs
            else _("about {time} left", time=short_duration(seconds))
        )
    ]


def _problems(status: CampaignStatus, standing: Standing) -> list[str]:
    if standing in (Standing.INTERRUPTED, Standing.FINISHED):
        return []
    lines = [
        _(
            "{node} unreachable since {time}: {reason}",
            node=printable(node),
            time=local_time(since),
            reason=printable(render(status.silence[node])),
        )
        for node, since in status.unreachable.items()
    ]
    lines += [
        _("{node} is left out: {cause}", node=printable(node), cause=printable(render(cause)))
        for node, cause in status.left_out.items()
    ]
    if standing is Standing.PAUSED:
        lines.append(_("Paused: no new trial starts; R resumes."))
    return lines
