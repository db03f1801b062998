"""Rates that count one of the micro-batches of a step, as the time of a step and its stated work show."""

import statistics
from collections.abc import Sequence

from dlperf.evidence.columns import finite
from dlperf.formats.samples import Metadata, Run

SAME_WORK = 0.01
"""Relative difference below which the work of a step is that which the log states: printed times have few digits."""


def uncounted_batches(run: Run, batches: Sequence[float]) -> int:
    """Return the micro-batches of a step where each printed rate counts one of them, else 1.

    Args:
        run: of which the log states the accumulation and the work of a step.
        batches: printed rate times printed seconds of each record, in the run's scope.
    """
    stated, sizes = run.metadata, finite(batches)
    work, accumulated = _work_in_scope(run), stated.accumulation_steps or 1
    if accumulated == 1 or not sizes or not work:
        return 1
    return accumulated if abs(statistics.median(sizes) * accumulated / work - 1) < SAME_WORK else 1


def _work_in_scope(run: Run) -> float | None:
    """Return the work of a step that the log states, in the run's unit, of what its rate counts."""
    work = _work_of_step(run.metadata, run.unit)
    parts = {"global": 1, "per_gpu": run.metadata.gpus, "per_node": None}[run.scope]
    return work / parts if work and parts else None


def _work_of_step(stated: Metadata, unit: str) -> int | None:
    if unit != "tokens/s":
        return stated.global_batch_size
    samples, length = stated.global_batch_size, stated.sequence_length
    return stated.tokens_per_step or (samples * length if samples and length else None)
