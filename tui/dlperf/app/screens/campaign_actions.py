"""What can be asked of a campaign's engine: cancel, retry, pause, resume."""

from __future__ import annotations

from functools import partial

from textual import work

from dlperf.app.model.trials import STATE_NAMES, configuration_text, nodes_of
from dlperf.app.screens.base import PlaceScreen
from dlperf.app.screens.confirm import cancel_question
from dlperf.app.watching import WatchedCampaign
from dlperf.errors import DlperfError
from dlperf.messages import _
from dlperf.plan import TrialKey
from dlperf.runs.control import Action, ask
from dlperf.runs.records import State
from dlperf.view.campaigns import Standing
from dlperf.view.text import printable


class CampaignActions(PlaceScreen):
    """A screen that watches a campaign and has one trial selected."""

    campaign: WatchedCampaign | None = None

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[TrialKey, str] = {}
        """What was asked of a trial and has not been done yet."""

    def selected_trial(self) -> TrialKey | None:
        """The trial under the cursor."""
        raise NotImplementedError

    def standing(self) -> Standing | None:
        """How the campaign stands."""
        raise NotImplementedError

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

    def forget_what_was_done(self) -> None:
        """Requests about trials that have ended since are done."""
        if self.campaign is not None:
            trials = self.campaign.status.trials
            self.asked = {
                key: what for key, what in self.asked.items() if key in trials and not trials[key].state.finished
            }

    @work
    async def action_cancel_trial(self) -> None:
        key = self.selected_trial()
        if key is None or self.campaign is None or not self._possible("cancel_trial"):
            return
        if await self.app.push_screen_wait(cancel_question(self.campaign.paths.name, [self._in_words(key)], False)):
            await self._ask("cancel", key)

    @work
    async def action_cancel_campaign(self) -> None:
        keys = self._unfinished()
        if self.campaign is None or not keys:
            return
        running = [key for key in keys if self.campaign.status.trials[key].state is not State.PLANNED]
        words = [self._in_words(key) for key in running]
        if len(keys) > len(running):
            words.append(_("not started yet: {count}", count=len(keys) - len(running)))
        if await self.app.push_screen_wait(cancel_question(printable(self.campaign.paths.name), words, True)):
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

    def _in_words(self, key: TrialKey) -> str:
        assert self.campaign is not None
        planned = self.campaign.planned(key.configuration)
        name = configuration_text(planned.configuration) if planned else key.configuration
        state = _(STATE_NAMES[self.campaign.status.trials[key].state])
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
