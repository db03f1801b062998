"""``progress.json``: what runs now and how long the rest will take, for whoever watches."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from dlperf.campaign.estimates import campaign_seconds_left, trial_seconds_left
from dlperf.campaign.journal import EngineJournal
from dlperf.campaign.machines import Demand
from dlperf.campaign.running import RunningTrial
from dlperf.plan import TrialKey
from dlperf.runs.clock import trial_seconds, utc_now
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.records import Progress, TrialProgress
from dlperf.runs.store import write_record


class ProgressFile:
    """Rewrites ``progress.json``, whole, every so many seconds."""

    def __init__(
        self, paths: CampaignPaths, journal: EngineJournal, demands: Mapping[str, tuple[Demand, ...]], seconds: float
    ) -> None:
        self._path = paths.progress
        self._journal = journal
        self._machines = {name: frozenset(item.machine for item in items) for name, items in demands.items()}
        self._seconds = seconds
        self._written = float("-inf")

    def write_if_due(self, running: Mapping[TrialKey, RunningTrial]) -> None:
        """Write unless it was written a moment ago."""
        if time.monotonic() - self._written >= self._seconds:
            self.write(running)

    def write(self, running: Mapping[TrialKey, RunningTrial]) -> None:
        """Write what is known now."""
        self._written = time.monotonic()
        write_record(self._path, self._progress(running), durable=False)

    def _progress(self, running: Mapping[TrialKey, RunningTrial]) -> Progress:
        now = utc_now()
        trials = self._journal.trials
        known = trial_seconds(trials.values())
        shown = {}
        for key, item in running.items():
            progress = _of_trial(item)
            usual = trial_seconds_left(trials[key], known, now)
            shown[key] = progress if progress.seconds_left is not None else replace(progress, seconds_left=usual)
        left = {key: progress.seconds_left for key, progress in shown.items()}
        return Progress(
            updated=now,
            trials={str(key): progress for key, progress in shown.items()},
            done=sum(status.state.finished for status in trials.values()),
            total=len(trials),
            seconds_left=campaign_seconds_left(trials, left, self._machines, now),
        )


def _of_trial(running: RunningTrial) -> TrialProgress:
    observation = running.observation
    nodes = observation.nodes if observation else ()
    return replace(
        running.live.progress(),
        unreachable_since={node.node: node.unreachable_since for node in nodes if node.unreachable_since},
        pending_reason=observation.pending_reason if observation else None,
    )
