"""What a screen says of a campaign, and requests to its engine: cancel, retry, pause, resume."""

from __future__ import annotations

from functools import partial

from textual import work

from dlperf.app.model.table import bar, packed
from dlperf.app.model.trials import LOOKS, configuration_text, nodes_of
from dlperf.app.screens.base import PlaceScreen
from dlperf.app.screens.confirm import cancel_question
from dlperf.app.watching import WatchedCampaign
from dlperf.errors import DlperfError
from dlperf.messages import _, render
from dlperf.plan import TrialKey
from dlperf.runs.control import Action, ask
from dlperf.runs.records import CampaignStatus, State
from dlperf.view.campaigns import BAD, Standing, standing_of
from dlperf.view.text import local_time, printable, short_duration


class CampaignActions(PlaceScreen):
    """A screen that watches a campaign and has one trial selected."""

    campaign: WatchedCampaign | None = None

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[TrialKey, str] = {}
        """Requests that the engine has not carried out yet."""

    def selected_trial(self) -> TrialKey | None:
        raise NotImplementedError

    def standing(self) -> Standing | None:
        return standing_of(self.campaign.status, self.campaign.engine_pid) if self.campaign else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action not in ("cancel_trial", "cancel_campaign", "retry", "pause", "resume") or not self.is_mounted:
            return super().check_action(action, parameters)
        return True if self._possible(action) else None

    def _possible(self, action: str) -> bool:
        standing, key = self.standing(), self.selected_trial()
        state = self.campaign.status.trials[key].state if self.campaign and key else None
        match action:
            case "cancel_trial":
                return state is not None and not state.finished
            case "cancel_campaign":
                return bool(self._unfinished())
            case "retry":
                return state is not None and state.finished and state is not State.SUCCEEDED
            case "pause":
                return standing in (Standing.RUNNING, Standing.PAUSED)
        return standing is Standing.INTERRUPTED

    def forget_done_requests(self) -> None:
        unfinished = set(self._unfinished())
        self.asked = {key: request for key, request in self.asked.items() if key in unfinished}

    @work
    async def action_cancel_trial(self) -> None:
        key = self.selected_trial()
        if key is None or self.campaign is None or not self._possible("cancel_trial"):
            return
        if await self.app.push_screen_wait(cancel_question(self.campaign.paths.name, [self._describe(key)], False)):
            await self._ask("cancel", key)

    @work
    async def action_cancel_campaign(self) -> None:
        keys = self._unfinished()
        if self.campaign is None or not keys:
            return
        running = [key for key in keys if self.campaign.status.trials[key].state is not State.PLANNED]
        lines = [self._describe(key) for key in running]
        if len(keys) > len(running):
            lines.append(_("not started yet: {count}", count=len(keys) - len(running)))
        if await self.app.push_screen_wait(cancel_question(printable(self.campaign.paths.name), lines, True)):
            await self._ask("cancel", None)

    @work
    async def action_retry(self) -> None:
        key = self.selected_trial()
        if key is not None and self._possible("retry"):
            await self._ask("retry", key)

    @work
    async def action_pause(self) -> None:
        if self._possible("pause"):
            await self._ask("resume" if self.standing() is Standing.PAUSED else "pause", None)

    @work
    async def action_resume(self) -> None:
        if self._possible("resume"):
            await self._start_engine()

    def _unfinished(self) -> list[TrialKey]:
        trials = self.campaign.status.trials.values() if self.campaign else ()
        return [trial.key for trial in trials if not trial.state.finished]

    def _describe(self, key: TrialKey) -> str:
        assert self.campaign is not None
        planned = self.campaign.planned(key.configuration)
        name = configuration_text(planned.configuration) if planned else key.configuration
        state = _(LOOKS[self.campaign.status.trials[key].state].name)
        nodes = ", ".join(printable(node) for node in nodes_of(self.campaign.record, key))
        return f"{name} #{key.number}  {state}  {nodes}"

    async def _ask(self, action: Action, key: TrialKey | None) -> None:
        """Write the request for the engine; start one where none runs to take it."""
        assert self.campaign is not None
        try:
            ask(self.campaign.paths, action, key)
        except DlperfError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        if action in ("cancel", "retry"):
            self.asked |= dict.fromkeys([key] if key else self._unfinished(), action)
        self.campaign.refresh_engine()
        if self.campaign.engine_pid is None and action in ("retry", "cancel"):
            await self._start_engine()

    async def _start_engine(self) -> None:
        assert self.campaign is not None
        from dlperf.view.start import resume_campaign

        await self.start_engine(partial(resume_campaign, self.workspace, self.campaign.paths))


def campaign_lines(campaign: WatchedCampaign, width: int) -> list[str]:
    standing = standing_of(campaign.status, campaign.engine_pid)
    return [*_progress_lines(campaign, standing, width), *_problems(campaign.status, standing)]


def _progress_lines(campaign: WatchedCampaign, standing: Standing, width: int) -> list[str]:
    status = campaign.status
    total = len(status.trials)
    done = sum(trial.state.finished for trial in status.trials.values())
    parts = [
        printable(campaign.paths.name),
        _(standing.value),
        bar(done / total if total else 0.0, 12 if width >= 100 else 6),
        _("{done} of {total}", done=f"{done:,}", total=f"{total:,}"),
    ]
    if running := status.count(State.RUNNING):
        parts.append(_("{count} running", count=running))
    if bad := status.count(*BAD):
        parts.append(_("{count} without a figure", count=bad))
    left = campaign.progress.seconds_left if campaign.progress and campaign.engine_pid is not None else None
    if left is not None and standing in (Standing.RUNNING, Standing.PAUSED):
        parts.append(_("about {time} left", time=short_duration(left)))
    return packed(parts, width)


def _problems(status: CampaignStatus, standing: Standing) -> list[str]:
    if standing is Standing.INTERRUPTED:
        return [_("The engine has stopped before the end. R starts it again: what still runs is taken over.")]
    if standing is Standing.FINISHED:
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
        lines.append(_("Paused: no new trial starts; p goes on."))
    return lines
