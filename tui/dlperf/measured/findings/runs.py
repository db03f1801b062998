"""Findings about one run and its throughput."""

import statistics
from collections.abc import Callable, Sequence

from dlperf.evidence.columns import is_median_at_most
from dlperf.formats.samples import STEPS_PER_SECOND
from dlperf.measured.findings.checked_run import CheckedRun
from dlperf.measured.findings.clock import coarse_clock
from dlperf.measured.findings.lost import pauses, straggler, time_in_pauses
from dlperf.measured.findings.order import clock_back, interleaved_ranks, long_gap, mixed_programs, step_back
from dlperf.measured.throughput.estimators import CONTINUED
from dlperf.measured.throughput.figure import (
    GOODPUT,
    MOST_PAUSED,
    MOST_SHORT_PAUSES,
    ONLY_TOTAL,
    SAME,
    SUMMARY,
    TOTALS,
    Figure,
    counts_micro_batches,
    log_states_work,
)
from dlperf.measured.throughput.reading import NotEstimable, Reading
from dlperf.measured.throughput.steady import reader_share
from dlperf.messages import Message, message
from dlperf.messages.finding import Finding, distinct, error, note, warning

IMPLIED_TOLERANCE = 0.01
"""Share by which rate × time of a log may miss the batch size: programs print times of 77 ms with two digits."""
MINIMUM_SAMPLES = 10
"""Paddle's test script demands more than ten records; fewer give no spread."""
MINIMUM_STEPS = 100
"""DLPerf, FleetX and PLSC measure 100 steps: enough, however few records print them."""
STALL_SHARE = 0.5
"""The last record of every NGC PyTorch log of 8 GPUs in PaddlePaddle/Perf is below half of the median: data ran out."""
SAME_STALL, MOST_STALLS = 1.2, 2
"""Records about as slow as the last one, beyond which they are no stall: a validation after every fifth step."""
ARITHMETIC = ("mean", "skipmean", "tailmean", "window", "tipc")
"""Estimators that average speeds; the others divide work by time."""
PRINTED_LIMIT = 0.01
"""A running mean (PaddleClas) or a rate without data loading (PLSC) is off by more than this."""
ACCUMULATION = 0.5
"""Printed values exceed those by timestamps this much if gradients are accumulated and the log does not say so."""
READER_LIMIT = 0.10
"""Share of a step spent waiting for data above which the reader is measured, not the framework."""
FLOP_LIMIT = 1.0
"""No training exceeds the dense peak."""

NOTES = {
    "nan_loss": warning("nan_loss"),
    "unit_dialect": note("unit_dialect"),
    "truncated_archive": warning("truncated_archive"),
    "interleaved_ranks": warning("interleaved_ranks", evidence=message("ranks_in_log")),
    "inference": warning("inference"),
    "continued_rate": error("continued_rate"),
    "run_limit": warning("run_limit"),
    "mixed_settings": warning("mixed_settings"),
    "unknown_program": warning("unknown_program"),
}
"""Findings by the code that a parser notes."""


def batch_size(context: CheckedRun) -> Finding | None:
    return _mismatch("batch_size_mismatch", context.declared_batch_size, _logged_batch_size(context))


def gpu_count(context: CheckedRun) -> Finding | None:
    return _mismatch("gpu_count_mismatch", context.declared_gpus, context.run.metadata.gpus)


def sequence_length(context: CheckedRun) -> Finding | None:
    return _mismatch("sequence_length_mismatch", context.reading.sequence_length, context.run.metadata.sequence_length)


def _mismatch(code: str, stated: int | None, logged: int | None) -> Finding | None:
    if stated is None or logged is None or logged == stated:
        return None
    return warning(code, stated=stated, logged=logged)


def _logged_batch_size(context: CheckedRun) -> int | None:
    if context.run.metadata.batch_size:
        return context.run.metadata.batch_size
    gpus = context.reading.total_gpus
    try:
        implied = context.reading.implied_batch_size
    except NotEstimable:
        return None
    return _rounded(implied / gpus, context.declared_batch_size) if implied and gpus else None


def _rounded(implied: float, stated: int | None) -> int:
    """Return the stated batch size where rate × time of the log is that but for their digits."""
    return stated if stated and abs(implied / stated - 1) <= IMPLIED_TOLERANCE else round(implied)


def checked_run(
    reading: Reading,
    figure: Figure | None,
    declared_gpus: int | None = None,
    declared_batch_size: int | None = None,
    runs_in_log: int = 1,
    flop_limit: float | None = None,
) -> CheckedRun:
    """Return a run and the value that it gave, as the checks look at them.

    Args:
        figure: None if the run gave none.
        declared_gpus: compared with the log; the reading's if None.
        declared_batch_size: compared with the log; the reading's if None.
        runs_in_log: number of runs that share the log.
        flop_limit: samples per second that the GPUs' dense peak allows.
    """
    declared = declared_gpus or reading.gpus, declared_batch_size or reading.batch_size or None
    return CheckedRun(reading, figure, *declared, runs_in_log, flop_limit)


def findings_of_run(context: CheckedRun) -> tuple[Finding, ...]:
    """Check a run and the value that it gave."""
    found = [check(context) for check in _CHECKS]
    from_records = context.run.window != "run"
    noted = [_noted(code) for code in context.run.notes if not (code == CONTINUED and from_records)]
    return distinct([*(finding for finding in found if finding), *noted])


def _noted(code: str) -> Finding:
    """Return the finding of a parser's note; what follows a colon is the format that it names."""
    code, _, other = code.partition(":")
    return note(code, format=other) if other else NOTES.get(code) or note(code)


def _too_few_samples(context: CheckedRun) -> Finding | None:
    if context.figure is None or context.figure.estimate.first is None or context.run.window == "run":
        return None
    count, done = context.figure.estimate.samples, context.reading.steps_done
    if context.run.window == "epoch":  # the first one holds the warm-up
        is_first = count == 1 and context.figure.estimate.first == 0
        return warning("too_few_samples", count=1, least=2) if is_first else None
    steps = done[context.measured.stop - 1] - done[context.measured.start]
    if count >= MINIMUM_SAMPLES or steps >= MINIMUM_STEPS:
        return None
    return warning("too_few_samples", count=count, least=MINIMUM_SAMPLES)


def _drift(context: CheckedRun) -> Finding | None:
    found = context.drift
    if found is None or not found.is_drift:
        return None
    return warning("drift", direction=message("rises" if found.change > 0 else "falls"), change=abs(found.of_start))


def _end_stall(context: CheckedRun) -> Finding | None:
    speeds = context.speeds
    if len(speeds) < 3 or not 0 < min(speeds) >= speeds[-1] or not _is_slow(speeds[-1], speeds):
        return None
    if sum(speed < SAME_STALL * speeds[-1] for speed in speeds) > MOST_STALLS:
        return None
    is_arithmetic = context.figure is not None and context.figure.estimator.partition("(")[0] in ARITHMETIC
    average = statistics.fmean if is_arithmetic else statistics.harmonic_mean
    without, mean = average(speeds[:-1]), average(speeds)
    return warning("end_stall", last=speeds[-1], without=without, mean=mean)


def _is_slow(speed: float, speeds: Sequence[float]) -> bool:
    return not is_median_at_most(speed / STALL_SHARE, speeds) and speed < STALL_SHARE * statistics.median(speeds)


LEAST_GAPS = 3
"""Records from which on a pause before one of them is told from a wrong printed rate."""


def _printed_rate(context: CheckedRun) -> Finding | None:
    figure = context.figure
    if figure is None or figure.value_printed is None or figure.value_from_timestamps is None:
        return None
    if context.run.timed_on_arrival:
        return None
    difference = figure.value_printed / figure.value_from_timestamps - 1
    if abs(difference) <= PRINTED_LIMIT + context.clock_share:
        return None
    if difference > 0 and figure.estimate.samples < LEAST_GAPS:
        return None
    if abs(difference) <= MOST_SHORT_PAUSES and context.reading.paused_share > MOST_PAUSED:
        return None
    return warning(
        "printed_rate",
        printed=figure.value_printed,
        timed=figure.value_from_timestamps,
        unit=figure.unit,
        difference=difference,
        hint=_hint(context, figure.value_printed, figure.value_from_timestamps),
    )


def _hint(context: CheckedRun, printed: float, timed: float) -> Message | str:
    if counts_micro_batches(context.reading, printed, timed):
        return message("printed_micro_batches")
    is_suspect = printed / timed - 1 >= ACCUMULATION and not log_states_work(context.reading)
    return message("suspect_accumulation") if is_suspect else ""


def _micro_batch_rate(context: CheckedRun) -> Finding | None:
    count = context.reading.uncounted_batches if context.figure else 1
    return warning("micro_batch_rate", count=count) if count > 1 else None


def _several_runs(context: CheckedRun) -> Finding | None:
    runs = context.runs_in_log
    return note("several_runs", number=context.run.number, runs=runs) if runs != 1 else None


def _reader_bound(context: CheckedRun) -> Finding | None:
    share = reader_share(context.reading, context.measured)
    return warning("reader_bound", share=share) if share > READER_LIMIT else None


def _above_flop_limit(context: CheckedRun) -> Finding | None:
    if context.figure is None or context.flop_limit is None or context.figure.value <= FLOP_LIMIT * context.flop_limit:
        return None
    return error("above_flop_limit", value=context.figure.value, unit=context.figure.unit, limit=context.flop_limit)


def _missing_end(context: CheckedRun) -> Finding | None:
    return note("missing_end_marker") if context.run.marks_end and not context.run.complete else None


def _own_total(context: CheckedRun) -> Finding | None:
    """Compare the records with the time that the program itself states for its epochs or the whole run."""
    figure = context.figure
    if figure is None or STEPS_PER_SECOND not in (
        total.unit for total in (*context.run.epochs[-1:], *context.run.summaries[-1:])
    ):
        return None
    values = figure.estimates | {figure.estimator: figure.value}
    own = next((values[rule] for rule in (TOTALS, ONLY_TOTAL, SUMMARY) if rule in values), None)
    if not own:
        return None
    records = values.get(GOODPUT, figure.value)
    difference = records / own - 1
    return (
        note("own_total", own=own, records=records, unit=figure.unit, difference=difference)
        if abs(difference) > SAME
        else None
    )


_CHECKS: tuple[Callable[[CheckedRun], Finding | None], ...] = (
    _above_flop_limit,
    mixed_programs,
    coarse_clock,
    _printed_rate,
    _micro_batch_rate,
    _drift,
    _end_stall,
    pauses,
    time_in_pauses,
    straggler,
    _own_total,
    clock_back,
    long_gap,
    step_back,
    _reader_bound,
    _too_few_samples,
    gpu_count,
    batch_size,
    sequence_length,
    interleaved_ranks,
    _several_runs,
    _missing_end,
)
