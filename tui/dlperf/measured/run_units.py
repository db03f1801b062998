"""Convert a run of a log to the unit of a case."""

from __future__ import annotations

from array import array
from contextlib import suppress
from dataclasses import replace

from dlperf.catalog.units import counts_samples
from dlperf.errors import DlperfError
from dlperf.formats.samples import Run
from dlperf.measured.throughput.reading import VARYING_UNITS, Reading
from dlperf.plan import PlannedConfiguration


def reading_of(run: Run, planned: PlannedConfiguration) -> Reading:
    """Return the records of a run, in the unit of the plan where they can be converted to it."""
    if planned.primary.estimator == "protocol":
        with suppress(DlperfError):
            run = run_in_unit(run, planned.unit)
    point = planned.configuration
    return Reading(run, point.gpus_total, point.gpus, point.batch_size)


def run_in_unit(run: Run, unit: str) -> Run:
    """Return the run in tokens per second where the case asks for them and the log states the length of its samples.

    Raises:
        DlperfError: the log measures something else than the case; the message is the reason.
    """
    if counts_samples(run.unit) != counts_samples(unit):
        raise DlperfError(f"the log measures {run.unit or 'no unit'}, the case {unit}")
    if (run.unit in VARYING_UNITS) == (unit in VARYING_UNITS):
        return replace(run, unit=unit)
    length = run.metadata.sequence_length
    if unit != "tokens/s" or length is None:
        raise DlperfError(f"the log counts {run.unit}, the case {unit}, and the log states no sequence length")
    columns = run.samples.value, run.samples.samples
    values, counts = (array("d", (number * length for number in column)) for column in columns)
    return replace(
        run,
        unit=unit,
        samples=replace(run.samples, value=values, samples=counts),
        summaries=[replace(summary, value=summary.value * length, unit=unit) for summary in run.summaries],
        epochs=[replace(epoch, value=epoch.value * length, unit=unit) for epoch in run.epochs],
    )
