"""Turn a viewer's requests into events. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dlperf.campaign.rules import cancel_event, retry_event
from dlperf.errors import RequestError
from dlperf.messages import message
from dlperf.plan import TrialKey
from dlperf.runs.journal import trial_key
from dlperf.runs.records import CampaignStatus, Event, Request, State, TrialStatus

Trials = Mapping[TrialKey, TrialStatus]


def requested_trials(request: Request, trials: Trials) -> list[TrialStatus]:
    """Return the trials of a request: one, or all of the campaign.

    Raises:
        RequestError: there is no such trial.
    """
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
    due = [item for item in chosen if can_be_retried(item) and item.key not in retried]
    events: list[Event] = []
    known = set(trials)
    for item in due:
        event = retry_event(known, item.key, time, message("retry_asked", by=request.by or "a viewer"), "viewer")
        known.add(trial_key(event.trial or ""))
        events.append(event)
    return events


def can_be_retried(status: TrialStatus) -> bool:
    """Whether a trial ended without success; a result is never replaced by another try."""
    return status.state.finished and status.state is not State.SUCCEEDED


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
