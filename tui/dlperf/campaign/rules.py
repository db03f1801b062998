"""Decide on retries, stopped configurations, requests of viewers and the exit code. Pure."""

from collections.abc import Iterable, Iterator, Mapping

from dlperf.errors import ExitCode, RequestError
from dlperf.executors.base import UNREACHABLE, failure_kind
from dlperf.messages import Message, message, quoted
from dlperf.plan import TrialKey
from dlperf.runs.journal import trial_key
from dlperf.runs.records import CampaignStatus, Event, Request, State, TrialStatus

Trials = Mapping[TrialKey, TrialStatus]

MOST_RETRIES = 2
"""Automatic retries of one planned trial."""
MOST_EQUAL_FAILURES = 2
"""Failures of the same kind after which a configuration is stopped."""

BUSY = "check_gpu_idle"
"""Code of the check that fails while other processes use the GPUs."""
LEASED = "lease_held"
"""Code of the reason why a machine is waited for that another trial has."""
_INFRASTRUCTURE = (*UNREACHABLE, BUSY, "port_in_use", "lease_lost")
"""Codes of causes in the machines, not in the program."""


def is_infrastructure(status: TrialStatus) -> bool:
    """Whether the machines failed and not the program."""
    if status.state is State.LOST:
        return True
    return status.state is State.FAILED and status.cause is not None and status.cause.mentions(*_INFRASTRUCTURE)


def events_after_end(trials: Trials, ended: TrialStatus, time: str, disturbance: Message | None = None) -> list[Event]:
    """Return the events that follow from a trial's end; ``trials`` already holds its final status.

    Called only if the end leaves no machine out (``journal.py``). An infrastructure failure is retried at most twice,
    not counting tries that ran nothing because another engine took the machine first. The second failure of the same
    kind stops the configuration: its planned trials are cancelled. A disturbed trial is repeated once, whatever its
    value.

    Args:
        disturbance: what disturbed the GPUs while the trial was measured.
    """
    if ended.state is State.SUCCEEDED and disturbance and not is_repeat(trials, ended):
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


def is_repeat(trials: Trials, status: TrialStatus) -> bool:
    """Whether this trial takes the place of one that succeeded and was disturbed."""
    return any(earlier.state is State.SUCCEEDED for earlier in _earlier_tries(trials, status))


def retries_so_far(trials: Trials, status: TrialStatus) -> int:
    """Return how many earlier tries of this trial had their machines; one that lost the race for them ran nothing."""
    return sum(
        not (earlier.cause and earlier.cause.mentions("lease_lost")) for earlier in _earlier_tries(trials, status)
    )


def _earlier_tries(trials: Trials, status: TrialStatus) -> Iterator[TrialStatus]:
    while status.retry_of is not None:
        status = trials[TrialKey(status.key.configuration, status.retry_of)]
        yield status


def retry_event(trials: Iterable[TrialKey], key: TrialKey, time: str, cause: Message, source: str = "engine") -> Event:
    """Return the event that plans a new trial in place of ``key``, with the next free number."""
    number = 1 + max(other.number for other in trials if other.configuration == key.configuration)
    new = TrialKey(key.configuration, number)
    return Event(time, "planned", str(new), cause=cause, source=source, data={"retry_of": key.number})


def _stop(family: Iterable[TrialStatus], ended: TrialStatus, alike: int, time: str) -> list[Event]:
    cause = message("failed_alike", count=alike, cause=_cause(ended))
    stopped = Event(time, "configuration_stopped", cause=cause, data={"configuration": ended.key.configuration})
    rest = [status.key for status in family if status.state is State.PLANNED]
    return [stopped, *(cancel_event(key, time, message("configuration_stopped", cause=cause)) for key in rest)]


def _cause(ended: TrialStatus) -> Message:
    return ended.cause or quoted(ended.state)


def cancel_event(key: TrialKey, time: str, cause: Message, source: str = "engine") -> Event:
    """Return the event that cancels a planned trial."""
    return Event(time, "state", str(key), State.CANCELLED, cause, source)


def exit_code(status: CampaignStatus) -> ExitCode:
    """Return 0 if every trial or its retry gave a value, 3 if only unreachable machines prevented that, else 1."""
    failed = failures(status)
    if not failed:
        return ExitCode.MEASURED_FAILED if succeeded_without_value(status) else ExitCode.DONE
    unreachable = all(trial.cause and trial.cause.mentions(*UNREACHABLE) for trial in failed)
    return ExitCode.UNREACHABLE if unreachable else ExitCode.MEASURED_FAILED


def failures(status: CampaignStatus) -> list[TrialStatus]:
    """Return the trials without success that were not retried."""
    retried = {TrialKey(key.configuration, trial.retry_of) for key, trial in status.trials.items() if trial.retry_of}
    bad = (State.FAILED, State.TIMED_OUT, State.CANCELLED, State.LOST)
    return [trial for key, trial in status.trials.items() if trial.state in bad and key not in retried]


def succeeded_without_value(status: CampaignStatus) -> list[TrialStatus]:
    """Return the trials that succeeded and whose logs gave no value."""
    return [trial for trial in status.trials.values() if trial.lacks_figure]


def requested_trials(request: Request, trials: Trials) -> list[TrialStatus]:
    """Return the trials of a request: one, or all of the campaign. Raises RequestError: there is no such trial."""
    if request.trial is None:
        return list(trials.values())
    try:
        return [trials[trial_key(request.trial)]]
    except (KeyError, ValueError):
        raise RequestError(f"no trial {request.trial!r} in this campaign") from None


def events_of_request(request: Request, trials: Trials, time: str) -> list[Event]:
    """Return the events of a request. Running trials are ended by their machines, see ``trials_to_cancel``.

    Raises:
        RequestError: the request cannot be carried out.
    """
    match request.action:
        case "pause":
            return [Event(time, "paused", source="viewer")]
        case "resume":
            return [Event(time, "unpaused", source="viewer")]
        case "cancel":
            planned = [item for item in requested_trials(request, trials) if item.state is State.PLANNED]
            return [cancel_event(item.key, time, message("cancelled_before"), "viewer") for item in planned]
        case "retry":
            return _retries(request, trials, time)
        case "add":
            return _added(request, trials, time)
    raise RequestError(f"unknown action {request.action!r}")


def trials_to_cancel(request: Request, trials: Trials) -> list[TrialKey]:
    """Return the running trials that a request cancels."""
    if request.action != "cancel":
        return []
    alive = (State.SUBMITTED, State.RUNNING)
    return [item.key for item in requested_trials(request, trials) if item.state in alive]


def _retries(request: Request, trials: Trials, time: str) -> list[Event]:
    retried = {TrialKey(key.configuration, item.retry_of) for key, item in trials.items() if item.retry_of is not None}
    chosen = requested_trials(request, trials)
    if request.trial is not None:
        _refuse(chosen[0], retried)
    # a result is never replaced by another try
    ended = [item for item in chosen if item.state.finished and item.state is not State.SUCCEEDED]
    due = [item for item in ended if item.key not in retried]
    events: list[Event] = []
    known = set(trials)
    for item in due:
        event = retry_event(known, item.key, time, message("retry_asked", by=request.by or "a viewer"), "viewer")
        known.add(trial_key(event.trial or ""))
        events.append(event)
    return events


def _added(request: Request, trials: Trials, time: str) -> list[Event]:
    """Return the event that plans one more trial of a configuration, whose number follows its last."""
    try:
        key = trial_key(request.trial or "")
    except ValueError:
        raise RequestError(f"no trial {request.trial!r} can be added") from None
    last = max((other.number for other in trials if other.configuration == key.configuration), default=0)
    if not last or key.number != last + 1:
        raise RequestError(f"trial {key}: the next one of its configuration is {last + 1}")
    return [Event(time, "planned", str(key), source="viewer")]


def _refuse(status: TrialStatus, retried: Iterable[TrialKey]) -> None:
    if not status.state.finished:
        raise RequestError(f"trial {status.key} is {status.state}: only a trial that has ended can be retried")
    if status.state is State.SUCCEEDED:
        raise RequestError(f"trial {status.key} succeeded: a result is never replaced")
    if status.key in retried:
        raise RequestError(f"trial {status.key} was already retried: retry its latest trial")


def check_request(action: str, key: TrialKey | None, status: CampaignStatus) -> None:
    """Check a request before it is sent to the engine.

    Raises:
        RequestError: it cannot be carried out, or has no effect.
    """
    request = Request("", action, str(key) if key else None)
    follow = events_of_request(request, status.trials, "")
    if not follow and not trials_to_cancel(request, status.trials):
        subject = f"trial {key} is {status.trials[key].state}" if key else f"campaign {status.name!r}"
        raise RequestError(f"{subject}: nothing to {action}")
