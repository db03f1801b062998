"""What a campaign came to, as an exit code. Pure."""

from __future__ import annotations

from dlperf.errors import ExitCode
from dlperf.executors.base import UNREACHABLE
from dlperf.plan import TrialKey
from dlperf.runs.records import CampaignStatus, State, TrialStatus


def exit_code(status: CampaignStatus) -> ExitCode:
    """0 if every trial, or a later try of it, gave a figure; 3 if machines alone were the reason why not; else 1."""
    failed = failures(status)
    if not failed:
        return ExitCode.MEASURED_FAILED if without_figure(status) else ExitCode.DONE
    unreachable = all(trial.cause and trial.cause.mentions(*UNREACHABLE) for trial in failed)
    return ExitCode.UNREACHABLE if unreachable else ExitCode.MEASURED_FAILED


def failures(status: CampaignStatus) -> list[TrialStatus]:
    """The trials without success that were not tried again."""
    retried = {TrialKey(key.configuration, trial.retry_of) for key, trial in status.trials.items() if trial.retry_of}
    bad = (State.FAILED, State.TIMED_OUT, State.CANCELLED, State.LOST)
    return [trial for key, trial in status.trials.items() if trial.state in bad and key not in retried]


def without_figure(status: CampaignStatus) -> list[TrialStatus]:
    """The trials that succeeded and whose logs gave no figure."""
    return [trial for trial in status.trials.values() if trial.lacks_figure]
