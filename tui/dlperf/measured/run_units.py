"""Convert a run of a log to the unit of a case."""

from __future__ import annotations

from array import array
from dataclasses import replace

from dlperf.catalog.units import VARYING_UNITS, counts_samples
from dlperf.formats.samples import Run
from dlperf.measured.throughput.reading import NotEstimable
from dlperf.messages import message


def run_in_unit(run: Run, unit: str, length: int | None = None) -> Run:
    """Return the run in another unit: samples as tokens where the log, or else ``length``, states how many each has.

    Raises:
        NotEstimable: the log measures something else; the message is the reason.
    """
    if run.unit == unit:
        return run
    if not len(run.samples) and {summary.unit for summary in (*run.summaries, *run.epochs)} == {unit}:
        return replace(run, unit=unit)
    if not (counts_samples(run.unit) and counts_samples(unit)):
        raise NotEstimable(message("other_quantity", logged=run.unit or "-", unit=unit))
    if (run.unit in VARYING_UNITS) == (unit in VARYING_UNITS):
        return replace(run, unit=unit)
    length = run.metadata.sequence_length or length
    if unit != "tokens/s" or length is None:
        raise NotEstimable(message("length_unknown", logged=run.unit, unit=unit))
    columns = run.samples.value, run.samples.samples
    values, counts = (array("d", (number * length for number in column)) for column in columns)
    return replace(
        run,
        unit=unit,
        samples=replace(run.samples, value=values, samples=counts),
        summaries=[replace(summary, value=summary.value * length, unit=unit) for summary in run.summaries],
        epochs=[replace(epoch, value=epoch.value * length, unit=unit) for epoch in run.epochs],
        metadata=replace(run.metadata, sequence_length=length),
    )
