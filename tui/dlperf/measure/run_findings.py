"""What a careful reader must know of one run and its figure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

from dlperf.formats.samples import Run
from dlperf.measure.columns import finite
from dlperf.measure.figure import Figure
from dlperf.measure.finding import Finding, distinct, error, note, warning
from dlperf.measure.reading import NotEstimable, Reading, implied_batch_size
from dlperf.messages import message

MINIMUM_SAMPLES = 10
"""Paddle's test script wants more than ten records; fewer say nothing of their own spread."""
MINIMUM_STEPS = 100
"""DLPerf, FleetX, PLSC measure 100 steps: enough, in however few records they are printed."""
DRIFT_LIMIT = 0.02
"""Change of speed over the measured window; identical nodes repeat within 1 % (MLPerf Training v4.0, 8 GPUs: 0.2 %)."""
DRIFT_SIGNIFICANCE = 3.0
"""A slope counts where it is this many of its standard errors: noise has slopes too."""
DRIFT_POINTS = 1000
"""A line is drawn through so many points at most."""
STALL_SHARE = 0.5
"""The last record of every NGC PyTorch log of 8 GPUs in PaddlePaddle/Perf is below half of the median: data ran out."""
PRINTED_LIMIT = 0.01
"""A running mean (PaddleClas) or a rate without data loading (PLSC) is off by more than this."""
ACCUMULATION = 0.5
"""Printed figures are so much above those by timestamps where gradients are accumulated and the log does not say so."""
READER_LIMIT = 0.10
"""Part of a step spent waiting for data beyond which the reader is measured, not the framework."""
FLOP_LIMIT = 1.0
"""No training runs above the dense peak."""

NOTES = {
    "nan_loss": warning("nan_loss"),
    "unit_dialect": note("unit_dialect"),
    "truncated_archive": warning("truncated_archive"),
    "interleaved_ranks": warning("interleaved_ranks", evidence=message("ranks_in_log")),
    "inference": warning("inference"),
    "run_limit": warning("run_limit"),
}
"""Oddities that a parser notes, as findings."""


@dataclass(frozen=True)
class _Case:
    """All that the checks of one run look at."""

    reading: Reading
    figure: Figure | None
    declared_gpus: int | None
    declared_batch_size: int | None
    runs_in_log: int
    flop_limit: float | None

    @property
    def run(self) -> Run:
        return self.reading.run

    @cached_property
    def measured(self) -> slice:
        """From the first to the last record used; all of them where the figure does not say."""
        estimate = self.figure.estimate if self.figure else None
        if estimate is None or estimate.first is None or estimate.last is None:
            return slice(0, len(self.run.samples))
        return slice(estimate.first, estimate.last + 1)

    @cached_property
    def speeds(self) -> Sequence[float]:
        """Printed throughput in the measured window; empty where it cannot be told."""
        try:
            return finite(self.reading.values[self.measured])
        except NotEstimable:
            return ()


def findings_of_run(
    reading: Reading,
    figure: Figure | None,
    declared_gpus: int | None = None,
    declared_batch_size: int | None = None,
    runs_in_log: int = 1,
    flop_limit: float | None = None,
) -> tuple[Finding, ...]:
    """What is odd about a run and the figure that it gave.

    Args:
        figure: None where the run gave none.
        declared_gpus: what is compared with the log; the reading's if None.
        declared_batch_size: what is compared with the log; the reading's if None.
        runs_in_log: how many runs share the log.
        flop_limit: samples per second that the GPUs' dense peak allows.
    """
    declared = declared_gpus or reading.gpus, declared_batch_size or reading.batch_size
    case = _Case(reading, figure, *declared, runs_in_log, flop_limit)
    found = [check(case) for check in _CHECKS]
    noted = [NOTES.get(code) or note(code) for code in reading.run.notes]
    return distinct([*(finding for finding in found if finding), *noted])


def _too_few_samples(case: _Case) -> Finding | None:
    if case.figure is None or case.figure.estimate.first is None:
        return None
    count, done = case.figure.estimate.samples, case.reading.steps_done
    steps = done[case.measured.stop - 1] - done[case.measured.start]
    if count >= MINIMUM_SAMPLES or steps >= MINIMUM_STEPS:
        return None
    return warning("too_few_samples", count=count, least=MINIMUM_SAMPLES)


def _drift(case: _Case) -> Finding | None:
    change = relative_change(case.speeds)
    if change is None or abs(change) <= DRIFT_LIMIT:
        return None
    return warning("drift", direction=message("rises" if change > 0 else "falls"), change=abs(change))


def _end_stall(case: _Case) -> Finding | None:
    speeds = case.speeds
    if len(speeds) < 3 or not _is_slow(speeds[-1], speeds):
        return None
    without, mean = statistics.fmean(speeds[:-1]), statistics.fmean(speeds)
    return warning("end_stall", last=speeds[-1], without=without, mean=mean)


def _is_slow(speed: float, speeds: Sequence[float]) -> bool:
    """Whether a speed is below the share of the median: not so unless half of them are above what that would be."""
    above = sum(other > speed / STALL_SHARE for other in speeds)
    return 2 * above >= len(speeds) and speed < STALL_SHARE * statistics.median(speeds)


def _printed_rate(case: _Case) -> Finding | None:
    figure = case.figure
    if figure is None or figure.value_printed is None or figure.value_from_timestamps is None:
        return None
    difference = figure.value_printed / figure.value_from_timestamps - 1
    if abs(difference) <= PRINTED_LIMIT or abs(difference) <= PRINTED_LIMIT + _clock_error(case):
        return None
    return warning(
        "printed_rate",
        printed=figure.value_printed,
        timed=figure.value_from_timestamps,
        unit=figure.unit,
        difference=difference,
        hint=message("suspect_accumulation") if difference >= ACCUMULATION else "",
    )


def _clock_error(case: _Case) -> float:
    """What rounded timestamps can be wrong by, relative to the window."""
    times = finite(case.run.samples.time[case.measured])
    elapsed = times[-1] - times[0] if times else 0.0
    return case.reading.clock_resolution / elapsed if elapsed > 0 else 0.0


def _several_runs(case: _Case) -> Finding | None:
    if case.runs_in_log == 1:
        return None
    return note("several_runs", number=case.run.number, runs=case.runs_in_log)


def _batch_size(case: _Case) -> Finding | None:
    stated, logged = case.declared_batch_size, _logged_batch_size(case)
    if stated is None or logged is None or stated == logged:
        return None
    return warning("batch_size_mismatch", stated=stated, logged=logged)


def _logged_batch_size(case: _Case) -> int | None:
    if case.run.metadata.batch_size:
        return case.run.metadata.batch_size
    gpus = case.reading.total_gpus
    try:
        implied = implied_batch_size(case.reading)
    except NotEstimable:
        return None
    return round(implied / gpus) if implied and gpus else None


def _gpu_count(case: _Case) -> Finding | None:
    stated, logged = case.declared_gpus, case.run.metadata.gpus
    if stated is None or logged is None or stated == logged:
        return None
    return warning("gpu_count_mismatch", stated=stated, logged=logged)


def _reader_bound(case: _Case) -> Finding | None:
    shares = finite(case.run.samples.reader_share[case.measured])
    share = statistics.fmean(shares) if shares else 0.0
    if share <= READER_LIMIT:
        return None
    return warning("reader_bound", share=share)


def _above_flop_limit(case: _Case) -> Finding | None:
    if case.figure is None or case.flop_limit is None or case.figure.value <= FLOP_LIMIT * case.flop_limit:
        return None
    return error("above_flop_limit", value=case.figure.value, unit=case.figure.unit, limit=case.flop_limit)


def _missing_end(case: _Case) -> Finding | None:
    if case.run.complete:
        return None
    return note("missing_end_marker")


def _interleaved_ranks(case: _Case) -> Finding | None:
    records = len(case.run.samples)
    copies = round(records / max(records - case.reading.spacings.counts[0.0], 1))
    if copies < 2:
        return None
    return warning("interleaved_ranks", evidence=message("repeated_steps", copies=copies))


_CHECKS: tuple[Callable[[_Case], Finding | None], ...] = (
    _above_flop_limit,
    _printed_rate,
    _drift,
    _end_stall,
    _reader_bound,
    _too_few_samples,
    _gpu_count,
    _batch_size,
    _interleaved_ranks,
    _several_runs,
    _missing_end,
)


def relative_change(speeds: Sequence[float]) -> float | None:
    """Change over the window by a straight line through it, relative to the mean; None where noise explains it."""
    if len(speeds) < MINIMUM_SAMPLES:
        return None
    means = _block_means(speeds)
    centre, count = statistics.fmean(means), len(means)
    if centre <= 0:
        return None
    points = [mean / centre for mean in means]
    slope, intercept = statistics.linear_regression(range(count), points)
    residuals = sum((point - intercept - slope * index) ** 2 for index, point in enumerate(points))
    error = sqrt(residuals / (count - 2) / (count * (count**2 - 1) / 12))
    return slope * (count - 1) if abs(slope) > DRIFT_SIGNIFICANCE * error else None


def _block_means(speeds: Sequence[float]) -> list[float]:
    """Means of equal blocks, few enough for a regression; the speeds themselves where they are few."""
    size = len(speeds) // DRIFT_POINTS + 1
    return [statistics.fmean(speeds[start : start + size]) for start in range(0, len(speeds) - size + 1, size)]
