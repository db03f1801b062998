"""Measure a trial from its files."""

from __future__ import annotations

from dlperf.evidence.gather import gather
from dlperf.evidence.logs import BUILTIN_FORMATS, LogReader
from dlperf.measured.model import TrialResult
from dlperf.measured.trial import measured_of, result_of
from dlperf.plan import PlannedConfiguration
from dlperf.runs.paths import TrialPaths
from dlperf.runs.records import TrialStatus


def measure_trial(
    paths: TrialPaths, planned: PlannedConfiguration, status: TrialStatus, logs: LogReader = BUILTIN_FORMATS
) -> TrialResult:
    """Compute the result of a trial from its archived files.

    The first log with records counts: node 0 first, ``out.log`` before the logs of single ranks. A missing or
    unreadable file leaves its part of the result empty.
    """
    evidence = gather(paths, planned, logs)
    return result_of(evidence, measured_of(evidence, planned), planned, status)
