"""Format the progress and the notes of a trial for screens and commands."""

from __future__ import annotations

from dlperf.messages import _, render
from dlperf.runs.records import State, TrialProgress, TrialStatus
from dlperf.view.text import local_time, printable


def step_text(progress: TrialProgress | None) -> str:
    """Return ``1,200/10,000``, or ``1,200`` if the number of steps is unknown."""
    if progress is None or progress.step is None:
        return ""
    return f"{progress.step:,}/{progress.steps:,}" if progress.steps else f"{progress.step:,}"


def trial_notes(trial: TrialStatus, progress: TrialProgress | None) -> list[str]:
    """Return why a trial waits, which trial it repeats, and why it ended, in the current language."""
    notes = []
    if progress and not trial.state.finished:
        for node, since in progress.unreachable_since.items():
            notes.append(_("{node} unreachable since {time}", node=printable(node), time=local_time(since)))
        if progress.pending_reason:
            notes.append(_("waits: {reason}", reason=printable(render(progress.pending_reason))))
    if trial.retry_of is not None:
        notes.append(_("again after #{number}", number=trial.retry_of))
    if trial.cause and trial.state is not State.SUCCEEDED and trial.cause.code != trial.state:
        notes.append(printable(render(trial.cause)))
    return notes
