"""Derive what the files of a trial give, and no value of files that are not as they were archived."""

from dataclasses import dataclass

from dlperf.derived.timeline import Derived, derive
from dlperf.evidence.logs import LogReader
from dlperf.measured.model import TrialResult
from dlperf.messages import Message, message
from dlperf.messages.finding import error
from dlperf.plan import PlannedConfiguration
from dlperf.runs.archive import ChecksumProblem, TrialFiles, is_folded
from dlperf.runs.paths import TrialPaths
from dlperf.runs.records import State, TrialStatus


@dataclass(frozen=True)
class DerivedOfArchive(Derived):
    """``result.json`` and ``timeline.json`` of archived files."""

    problem: Message | None
    """Which files are not what was archived."""
    has_no_value: bool
    """Whether the result says only that."""


def derive_archived(
    paths: TrialPaths, planned: PlannedConfiguration, status: TrialStatus, logs: LogReader
) -> DerivedOfArchive:
    """Derive both records of a trial as its archived files give them.

    A file that is gone leaves its part empty. A log or telemetry that was changed or added leaves no value, as nothing
    says what the trial left.
    """
    files = TrialFiles(paths)
    derived, broken = derive(paths, planned, status, logs, files), _problems(files, status)
    if not broken:
        return DerivedOfArchive(derived.result, derived.timeline, None, has_no_value=False)
    cause = message("files_changed", files=", ".join(f"{item.file} ({item.problem})" for item in broken))
    foreign = any(item.problem in ("changed", "added") and not is_folded(item.file) for item in broken)
    none = TrialResult(status.key.number, status.state, status.cause, findings=(error("no_figure", reason=cause),))
    return DerivedOfArchive(none if foreign else derived.result, derived.timeline, cause, foreign)


def _problems(files: TrialFiles, status: TrialStatus) -> list[ChecksumProblem]:
    """What is wrong with the archive of a trial; one that failed may have none."""
    return files.problems() if files.sealed or status.state is State.SUCCEEDED else []
