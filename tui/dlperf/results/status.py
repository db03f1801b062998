"""Why a configuration has no figure. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from dlperf.messages import message
from dlperf.results.causes import is_out_of_memory
from dlperf.results.model import Status, TrialResult
from dlperf.runs.records import State, TrialStatus


def status_without_figure(trials: Sequence[TrialResult], statuses: Sequence[TrialStatus]) -> Status:
    """What to show in place of a figure that no trial gave: the reason of the last trial that ended by itself.

    Args:
        trials: results of the trials that ended, by number.
        statuses: every trial of the configuration, as the journal tells it.
    """
    if any(status.state in (State.SUBMITTED, State.RUNNING) for status in statuses):
        return Status("running")
    by_itself = [trial for trial in trials if trial.state != State.CANCELLED]
    ended = by_itself or list(trials)
    return _status_of(ended[-1]) if ended else Status("not_run")


def _status_of(trial: TrialResult) -> Status:
    if is_out_of_memory(trial.cause):
        return Status("out_of_memory")
    if trial.state == State.SUCCEEDED:
        errors = [finding.message for finding in trial.findings if finding.severity == "error"]
        return Status("failed", errors[0] if errors else message("no_figure_in_log"))
    return Status(trial.state, None if trial.state == State.CANCELLED else trial.cause)
