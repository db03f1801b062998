"""Times of records, and how long trials took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from statistics import median

from dlperf.runs.records import State, TrialStatus


def utc_now() -> str:
    """Return the present time as ISO 8601 in UTC with microseconds: ``2026-05-04T03:02:01.000000Z``."""
    return record_time(datetime.now(UTC))


def record_time(moment: datetime) -> str:
    """Return a time as records hold it; two of them compare as the times do."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def seconds_between(start: str, end: str) -> float:
    """Return the seconds from one record's time to another's; negative where the clock was set back."""
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()


def trial_seconds(trials: Iterable[TrialStatus]) -> dict[str, float]:
    """Return the median seconds of the trials that succeeded, by configuration id."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for trial in trials:
        if trial.state is State.SUCCEEDED and trial.started and trial.ended:
            seconds[trial.key.configuration].append(seconds_between(trial.started, trial.ended))
    return {configuration: median(values) for configuration, values in seconds.items()}
