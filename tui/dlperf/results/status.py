"""Why a configuration has no figure, in the words of a table's cell. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from dlperf.results.causes import OUT_OF_MEMORY, is_out_of_memory
from dlperf.results.model import TrialResult
from dlperf.runs.records import State, TrialStatus
from dlperf.sentences import sentence

MEASURED = "measured"
PUBLISHED = "published"
NOT_RUN = "not run"
RUNNING = "running"
LONGEST_CAUSE = 160
"""Characters: a table's cell, not a log."""


def not_supported(reason: str) -> str:
    """A configuration that cannot run."""
    return f"not supported: {_short(reason)}" if reason else "not supported"


def reason_without_figure(trials: Sequence[TrialResult], statuses: Sequence[TrialStatus]) -> str:
    """What to show in place of a figure that no trial gave: the reason of the last trial that ended by itself.

    Args:
        trials: results of the trials that ended, by number.
        statuses: every trial of the configuration, as the journal tells it.
    """
    if any(status.state in (State.SUBMITTED, State.RUNNING) for status in statuses):
        return RUNNING
    by_itself = [trial for trial in trials if trial.state != State.CANCELLED]
    ended = by_itself or list(trials)
    return _reason_of(ended[-1]) if ended else NOT_RUN


def _reason_of(trial: TrialResult) -> str:
    if is_out_of_memory(trial.cause):
        return OUT_OF_MEMORY
    if trial.state == State.SUCCEEDED:
        errors = [finding.message for finding in trial.findings if finding.severity == "error"]
        return f"failed: {_short(errors[0] if errors else sentence('no_figure'))}"
    ended = trial.state.replace("_", " ")
    tells_more = trial.cause and trial.state != State.CANCELLED
    return f"{ended}: {_short(trial.cause or '')}" if tells_more else ended


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_CAUSE else line[: LONGEST_CAUSE - 1] + "…"
