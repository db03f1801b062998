"""Findings where the log states other counts than the plan."""

from __future__ import annotations

from dlperf.measured.findings.checked_run import CheckedRun
from dlperf.measured.throughput.reading import NotEstimable
from dlperf.messages.finding import Finding, warning

IMPLIED_TOLERANCE = 0.01
"""Share by which rate × time of a log may miss the batch size: programs print times of 77 ms with two digits."""


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
