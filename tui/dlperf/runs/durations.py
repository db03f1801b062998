"""How long trials took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import median

from dlperf.runs.clock import seconds_between
from dlperf.runs.records import State, TrialStatus


def trial_seconds(trials: Iterable[TrialStatus]) -> dict[str, float]:
    """Return the median seconds of the trials that succeeded, by configuration id."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for trial in trials:
        if trial.state is State.SUCCEEDED and trial.started and trial.ended:
            seconds[trial.key.configuration].append(seconds_between(trial.started, trial.ended))
    return {configuration: median(values) for configuration, values in seconds.items()}
