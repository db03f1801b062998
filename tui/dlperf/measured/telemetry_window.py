"""The telemetry of the time that gave a value. Pure."""

from collections.abc import Sequence
from math import inf, isfinite, nan

from dlperf.evidence.arrivals import arrival_times
from dlperf.evidence.gather import Evidence
from dlperf.evidence.telemetry import TelemetryRow, in_window
from dlperf.measured.throughput.figure import Figure


def measured_rows(evidence: Evidence, measured: Figure | None) -> list[list[TelemetryRow]]:
    """Return the telemetry of each node between the first and the last record that gave the figure.

    Where the log's times are no times of day, those at which the two lines arrived take their place.
    """
    edges = window_of(evidence, measured), _arrived_window(evidence, measured)
    return [in_window(rows, *edges[0]) or in_window(rows, *edges[1]) for rows in evidence.telemetry]


def halted_seconds(evidence: Evidence, measured: Figure | None) -> float:
    """Return for how many seconds supervisors were stopped in the time that gave the figure, summed over nodes.

    Where that time is unknown, all stops of the trial count.
    """
    arrived = _arrived_window(evidence, measured)
    first, last = arrived if isfinite(sum(arrived)) else window_of(evidence, measured)
    if not isfinite(last - first):
        first, last = -inf, inf
    return sum(max(0.0, min(end, last) - max(begun, first)) for begun, end in evidence.halts)


def by_machine(evidence: Evidence, nodes: Sequence[Sequence[TelemetryRow]]) -> list[Sequence[TelemetryRow]]:
    """Return the rows of each machine, once where several nodes of a trial are parts of one."""
    names = [node.environment.get("boot_id") or number for number, node in enumerate(evidence.nodes)]
    return list({str(name): rows for name, rows in zip(names, nodes, strict=True)}.values())


def window_of(evidence: Evidence, measured: Figure | None) -> tuple[float, float]:
    """Return the times of the first and the last record that gave the figure; nan where they are unknown."""
    run, estimate = evidence.run, measured.estimate if measured else None
    if run is None or estimate is None or estimate.first is None or estimate.last is None:
        return nan, nan
    first, last = (run.samples.time[index : index + 1] for index in (estimate.first, estimate.last))
    return (first[0], last[0]) if first and last else (nan, nan)


def _arrived_window(evidence: Evidence, measured: Figure | None) -> tuple[float, float]:
    run, estimate = evidence.run, measured.estimate if measured else None
    if run is None or estimate is None or estimate.first is None or estimate.last is None or not evidence.started:
        return nan, nan
    lines = (run.samples.line[index] for index in (estimate.first, estimate.last))
    first, last = (evidence.started + seconds for seconds in arrival_times(lines, evidence.arrivals))
    return first, last
