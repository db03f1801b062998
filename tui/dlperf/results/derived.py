"""Derive the result and the timeline of a trial from its files, with one reading of its log."""

from __future__ import annotations

from dataclasses import dataclass

from dlperf.plan import PlannedConfiguration
from dlperf.results.logs import BUILTIN_FORMATS, LogReader
from dlperf.results.model import TrialResult
from dlperf.results.timeline import Timeline, timeline_of
from dlperf.results.trial import gather, result_of, write_result
from dlperf.runs.paths import TrialPaths
from dlperf.runs.records import TrialStatus
from dlperf.runs.store import dump_record, write_atomic


@dataclass(frozen=True)
class Derived:
    """``result.json`` and ``timeline.json``."""

    result: TrialResult
    timeline: Timeline


def derive(
    paths: TrialPaths, planned: PlannedConfiguration, status: TrialStatus, logs: LogReader = BUILTIN_FORMATS
) -> Derived:
    """Measure a trial, see ``measure_trial``, and derive its timeline."""
    evidence = gather(paths, planned, logs)
    result = result_of(evidence, planned, status)
    return Derived(result, timeline_of(paths, planned, result, evidence.run))


def derive_timeline(paths: TrialPaths, planned: PlannedConfiguration, result: TrialResult, logs: LogReader) -> Timeline:
    """Derive the timeline of a trial that was measured before."""
    return timeline_of(paths, planned, result, gather(paths, planned, logs).run)


def write_derived(paths: TrialPaths, derived: Derived) -> None:
    """Write both files, the timeline first, so that a result has one unless the machine crashed."""
    write_timeline(paths, derived.timeline, durable=False)
    write_result(paths, derived.result)


def write_timeline(paths: TrialPaths, timeline: Timeline, durable: bool = True) -> None:
    """Write ``timeline.json``; it is derived again where a crash damages one that is not ``durable``."""
    write_atomic(paths.timeline, dump_record(timeline) + b"\n", durable)
