"""Write ``progress.json``: what runs now and the estimated time left."""

import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from statistics import median

from dlperf.campaign.journal import EngineJournal
from dlperf.campaign.machines import Demand
from dlperf.campaign.running import RunningTrial
from dlperf.errors import StorageError
from dlperf.plan import TrialKey
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.records import Progress, TrialProgress, TrialStatus, seconds_between, trial_seconds, utc_now
from dlperf.runs.store import write_record


class ProgressFile:
    """Rewrite ``progress.json`` every few seconds."""

    def __init__(
        self, paths: CampaignPaths, journal: EngineJournal, demands: Mapping[str, tuple[Demand, ...]], seconds: float
    ) -> None:
        self._path = paths.progress
        self._journal = journal
        self._machines = {name: frozenset(item.machine for item in items) for name, items in demands.items()}
        self._seconds = seconds
        self._written = float("-inf")

    def write_if_due(self, running: Mapping[TrialKey, RunningTrial]) -> None:
        if time.monotonic() - self._written >= self._seconds:
            self.write(running)

    def write(self, running: Mapping[TrialKey, RunningTrial]) -> None:
        """Write the file; where that fails, viewers miss it and the engine goes on, as long as it has a journal."""
        self._written = time.monotonic()
        with suppress(StorageError):
            write_record(self._path, self._progress(running), durable=False)

    def _progress(self, running: Mapping[TrialKey, RunningTrial]) -> Progress:
        now = utc_now()
        trials = self._journal.trials
        known = trial_seconds(trials.values())
        shown = {}
        for key, item in running.items():
            progress = _of_trial(item)
            left = progress.seconds_left
            if progress.unreachable_since:
                left = None
            elif left is None:
                left = trial_seconds_left(trials[key], known, now)
            shown[key] = replace(progress, seconds_left=left)
        seconds_left = {key: progress.seconds_left for key, progress in shown.items()}
        return Progress(
            updated=now,
            trials={str(key): progress for key, progress in shown.items()},
            done=sum(status.state.finished for status in trials.values()),
            total=len(trials),
            seconds_left=campaign_seconds_left(trials, seconds_left, self._machines, now),
        )


def _of_trial(running: RunningTrial) -> TrialProgress:
    observation = running.observation
    nodes = observation.nodes if observation else ()
    return replace(
        running.live.progress_now(),
        unreachable_since={node.node: node.unreachable_since for node in nodes if node.unreachable_since},
        pending_reason=observation.pending_reason if observation else None,
    )


def trial_seconds_left(status: TrialStatus, known: Mapping[str, float], now: str) -> float | None:
    """Return the seconds that a running trial still takes if it lasts as long as the others of its configuration."""
    usual = known.get(status.key.configuration)
    if usual is None or status.started is None:
        return None
    return round(max(0.0, usual - seconds_between(status.started, now)), 1)


def _whole_seconds(
    trials: Mapping[TrialKey, TrialStatus], running: Mapping[TrialKey, float | None], now: str
) -> dict[str, float]:
    """Return the seconds that a running trial will have taken, by configuration id, where it knows its time left."""
    begun = {key: trials[key].started for key, left in running.items() if left is not None}
    return {
        key.configuration: seconds_between(started, now) + (running[key] or 0.0)
        for key, started in begun.items()
        if started is not None
    }


def campaign_seconds_left(
    trials: Mapping[TrialKey, TrialStatus],
    running: Mapping[TrialKey, float | None],
    machines: Mapping[str, frozenset[str]],
    now: str,
) -> float | None:
    """Return the seconds until the campaign ends: the longest queue of any machine.

    Args:
        trials: every trial of the campaign.
        running: trial → its seconds left as they are shown, None where unknown.
        machines: configuration id → the machines that its trials take.
        now: by the same clock as the trials' times.

    Returns:
        None while trials are left, none has succeeded and none that runs knows its own time.
    """
    left = [status for status in trials.values() if not status.state.finished]
    known = _whole_seconds(trials, running, now) | trial_seconds(trials.values())
    if not left:
        return 0.0
    if not known:
        return None
    usual = median(known.values())
    busy: dict[str, float] = defaultdict(float)
    for status in left:
        own = running.get(status.key)
        if own is None:
            own = trial_seconds_left(status, known, now)
        seconds = known.get(status.key.configuration, usual) if own is None else own
        for machine in machines.get(status.key.configuration, ()):
            busy[machine] += seconds
    return round(max(busy.values(), default=0.0), 1)
