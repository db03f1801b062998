"""What follows when a trial has ended: another try, or no more tries of its configuration. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dlperf.executors.base import UNREACHABLE, failure_kind
from dlperf.messages import Message, message, quoted
from dlperf.plan import TrialKey
from dlperf.runs.records import Event, State, TrialStatus

MOST_RETRIES = 2
"""Of one planned trial, by the engine's own decision."""
MOST_EQUAL_FAILURES = 2
"""A configuration that failed so often the same way is not tried any more."""

BUSY = "check_gpu_idle"
"""Code of the check that fails while somebody else computes on the GPUs."""
_INFRASTRUCTURE = (*UNREACHABLE, BUSY, "port_in_use")
"""Codes of causes that lie in the machines and not in what was measured on them."""


def is_infrastructure(status: TrialStatus) -> bool:
    """Whether the machines failed and not what was measured on them; only then the engine itself tries again."""
    if status.state is State.LOST:
        return True
    return status.state is State.FAILED and status.cause is not None and status.cause.mentions(*_INFRASTRUCTURE)


def consequences(
    trials: Mapping[TrialKey, TrialStatus], ended: TrialStatus, time: str, disturbance: Message | None = None
) -> list[Event]:
    """The events that follow from a trial's end; ``trials`` holds it as it ended.

    An infrastructure failure is tried again, twice at most. Any other failure that is the second of its kind ends the
    configuration: what is still planned of it is cancelled, the rest of the campaign goes on. A trial that succeeded
    and was disturbed is repeated once, whatever its figure; a repeat is not repeated.

    Args:
        disturbance: what disturbed the GPUs while the trial was measured.
    """
    if ended.state is State.SUCCEEDED and disturbance and not _is_repeat(trials, ended):
        return [retry_event(trials, ended.key, time, message("retry_disturbed", disturbance=disturbance))]
    if ended.state in (State.SUCCEEDED, State.CANCELLED) or not ended.state.finished:
        return []
    family = [status for key, status in trials.items() if key.configuration == ended.key.configuration]
    if is_infrastructure(ended) and retries_so_far(trials, ended) < MOST_RETRIES:
        return [retry_event(trials, ended.key, time, message("retry_infrastructure", cause=_cause(ended)))]
    kind = (ended.state, failure_kind(ended.cause))
    alike = sum((status.state, failure_kind(status.cause)) == kind for status in family)
    if alike < MOST_EQUAL_FAILURES:
        return []
    return _stop(family, ended, alike, time)


def retries_so_far(trials: Mapping[TrialKey, TrialStatus], status: TrialStatus) -> int:
    """How many trials this one is a retry of, one after the other."""
    return sum(1 for _ in _earlier_tries(trials, status))


def _is_repeat(trials: Mapping[TrialKey, TrialStatus], status: TrialStatus) -> bool:
    """Whether an earlier try succeeded: this one is there because that one was disturbed."""
    return any(earlier.state is State.SUCCEEDED for earlier in _earlier_tries(trials, status))


def _earlier_tries(trials: Mapping[TrialKey, TrialStatus], status: TrialStatus) -> Iterator[TrialStatus]:
    while status.retry_of is not None:
        status = trials[TrialKey(status.key.configuration, status.retry_of)]
        yield status


def retry_event(trials: Iterable[TrialKey], key: TrialKey, time: str, cause: Message, source: str = "engine") -> Event:
    """A new trial in place of ``key``, with the configuration's next free number."""
    number = 1 + max(other.number for other in trials if other.configuration == key.configuration)
    new = TrialKey(key.configuration, number)
    return Event(time, "planned", str(new), cause=cause, source=source, data={"retry_of": key.number})


def _stop(family: Iterable[TrialStatus], ended: TrialStatus, alike: int, time: str) -> list[Event]:
    cause = message("failed_alike", count=alike, cause=_cause(ended))
    stopped = Event(time, "configuration_stopped", cause=cause, data={"configuration": ended.key.configuration})
    rest = [status.key for status in family if status.state is State.PLANNED]
    return [stopped, *(cancelled(key, time, message("configuration_stopped", cause=cause)) for key in rest)]


def _cause(ended: TrialStatus) -> Message:
    return ended.cause or quoted(ended.state)


def cancelled(key: TrialKey, time: str, cause: Message, source: str = "engine") -> Event:
    """A planned trial is not run."""
    return Event(time, "state", str(key), State.CANCELLED, cause, source)
