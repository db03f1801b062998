"""How long what is left will take, from how long its like took. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import median

from dlperf.plan import TrialKey
from dlperf.runs.clock import seconds_between, trial_seconds
from dlperf.runs.records import TrialStatus


def trial_seconds_left(status: TrialStatus, known: Mapping[str, float], now: str) -> float | None:
    """Seconds that a running trial still takes if it is like the others of its configuration."""
    usual = known.get(status.key.configuration)
    if usual is None or status.started is None:
        return None
    return round(max(0.0, usual - seconds_between(status.started, now)), 1)


def campaign_seconds_left(
    trials: Mapping[TrialKey, TrialStatus],
    running: Mapping[TrialKey, float | None],
    machines: Mapping[str, frozenset[str]],
    now: str,
) -> float | None:
    """Seconds until the campaign ends: the longest of what its machines still have to do, one trial after the other.

    Args:
        trials: every trial of the campaign.
        running: trial → its own seconds left, where its log tells.
        machines: configuration id → the machines that its trials take.
        now: the time by the same clock as the trials' own.

    Returns:
        None while nothing has succeeded that could be compared with, and something is left to do.
    """
    left = [status for status in trials.values() if not status.state.finished]
    known = trial_seconds(trials.values())
    if not left:
        return 0.0
    if not known:
        return None
    usual = median(known.values())
    busy: dict[str, float] = defaultdict(float)
    for status in left:
        seconds = _seconds(status, running, known, usual, now)
        for machine in machines.get(status.key.configuration, ()):
            busy[machine] += seconds
    return round(max(busy.values(), default=0.0), 1)


def _seconds(
    status: TrialStatus,
    running: Mapping[TrialKey, float | None],
    known: Mapping[str, float],
    usual: float,
    now: str,
) -> float:
    own = running.get(status.key)
    if own is None:
        own = trial_seconds_left(status, known, now)
    return known.get(status.key.configuration, usual) if own is None else own
