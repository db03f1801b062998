"""What a viewer's request comes to, as events. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dlperf.campaign.rules import cancelled, retry_event
from dlperf.errors import RequestError
from dlperf.messages import message
from dlperf.plan import TrialKey
from dlperf.runs.journal import trial_key
from dlperf.runs.records import CampaignStatus, Event, Request, State, TrialStatus

Trials = Mapping[TrialKey, TrialStatus]


class RequestRefusedError(ValueError):
    """A request that cannot be done; ``str()`` says why."""


def subjects(request: Request, trials: Trials) -> list[TrialStatus]:
    """The trials that a request is about: one, or all of the campaign.

    Raises:
        RequestRefusedError: there is no such trial.
    """
    if request.trial is None:
        return list(trials.values())
    try:
        return [trials[trial_key(request.trial)]]
    except (KeyError, ValueError):
        raise RequestRefusedError(f"no trial {request.trial!r} in this campaign") from None


def effects(request: Request, trials: Trials, time: str) -> list[Event]:
    """The events that a request comes to, beside the one that records it.

    Trials that run are not ended by an event: the engine asks their machines, see ``to_cancel``.

    Raises:
        RequestRefusedError: it cannot be done.
    """
    match request.action:
        case "pause":
            return [Event(time, "paused", source="viewer")]
        case "resume":
            return [Event(time, "unpaused", source="viewer")]
        case "cancel":
            planned = [item for item in subjects(request, trials) if item.state is State.PLANNED]
            return [cancelled(item.key, time, message("cancelled_before"), "viewer") for item in planned]
        case "retry":
            return _retries(request, trials, time)
    raise RequestRefusedError(f"unknown action {request.action!r}")


def to_cancel(request: Request, trials: Trials) -> list[TrialKey]:
    """The trials whose machines must be asked to end them."""
    if request.action != "cancel":
        return []
    alive = (State.SUBMITTED, State.RUNNING)
    return [item.key for item in subjects(request, trials) if item.state in alive]


def _retries(request: Request, trials: Trials, time: str) -> list[Event]:
    retried = {TrialKey(key.configuration, item.retry_of) for key, item in trials.items() if item.retry_of is not None}
    chosen = subjects(request, trials)
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
    """A trial that ended without a figure. What succeeded is never run again in the hope of a better one."""
    return status.state.finished and status.state is not State.SUCCEEDED


def _refuse(status: TrialStatus, retried: Iterable[TrialKey]) -> None:
    if not status.state.finished:
        raise RequestRefusedError(f"trial {status.key} is {status.state}: only one that ended can be run again")
    if status.state is State.SUCCEEDED:
        raise RequestRefusedError(f"trial {status.key} succeeded: a result is not replaced by another try")
    if status.key in retried:
        raise RequestRefusedError(f"trial {status.key} was run again already: retry its last try")


def check_request(action: str, key: TrialKey | None, status: CampaignStatus) -> None:
    """Refuse what an engine would refuse, before it is asked.

    Raises:
        RequestError: it cannot be done, or there is nothing to do.
    """
    request = Request("", action, str(key) if key else None)
    try:
        follow = effects(request, status.trials, "")
    except RequestRefusedError as error:
        raise RequestError(str(error)) from None
    if not follow and not to_cancel(request, status.trials):
        subject = f"trial {key} is {status.trials[key].state}" if key else f"campaign {status.name!r}"
        raise RequestError(f"{subject}: nothing to {action}")
