"""What several GPUs of a host measured together, each on its own: one point of a history, and one value in tables."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import median, median_low

from dlperf.runs.records import seconds_between
from dlperf.table.model import SUPERSEDED, ConfigurationResult, MetricResult
from dlperf.table.shown import by_readings
from dlperf.verdicts.trials import devices_of, machine_of, recorded

TOGETHER = 12 * 3600
"""Most seconds between the beginnings of campaigns that are one measurement."""
SOFTWARE = ("framework_version", "programs.")

Rows = tuple[ConfigurationResult, ...]


def measurements(rows: Iterable[ConfigurationResult], created: Callable[[str], str]) -> list[Rows]:
    """Divide the results of a configuration into those of other GPUs that ran the same software together, by date.

    Args:
        rows: by date.
        created: campaign → when it began.
    """
    found = list[list[ConfigurationResult]]()
    for row in rows:
        if found and all(_goes_with(row, other, created) for other in found[-1]):
            found[-1].append(row)
        else:
            found.append([row])
    return [tuple(same) for same in found]


def _goes_with(row: ConfigurationResult, other: ConfigurationResult, created: Callable[[str], str]) -> bool:
    same = (row.id, row.metric, row.protocol) == (other.id, other.metric, other.protocol)
    return (
        same
        and _is_superseded(row) == _is_superseded(other)
        and _apart(devices_of(row), devices_of(other))
        and recorded(row, *SOFTWARE) == recorded(other, *SOFTWARE)
        and abs(seconds_between(created(row.campaign), created(other.campaign))) <= TOGETHER
    )


def _is_superseded(row: ConfigurationResult) -> bool:
    return any(finding.code == SUPERSEDED for finding in row.findings)


def _apart(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether both are known and share no GPU."""
    return bool(a and b) and a.isdisjoint(b)


def by_host(rows: Iterable[ConfigurationResult]) -> list[Rows]:
    """Divide results so that those with a GPU in common are together; those that recorded none are left out."""
    found = list[tuple[frozenset[str], Rows]]()
    for row in rows:
        if gpus := devices_of(row):
            common = [one for one in found if not one[0].isdisjoint(gpus)]
            same = (*(each for _, members in common for each in members), row)
            found = [one for one in found if one[0].isdisjoint(gpus)]
            found.append((gpus.union(*(devices for devices, _ in common)), same))
    return [same for _, same in found]


def like_with_like(found: Iterable[Rows]) -> Rows:
    """Return one result of each measurement: of the GPU of the one before where it took part, else the median one."""
    chosen = list[ConfigurationResult]()
    for rows in found:
        again = [row for row in rows if chosen and machine_of(row) == machine_of(chosen[-1])]
        chosen.append(again[0] if again else middle(rows))
    return tuple(chosen)


def middle(rows: Rows) -> ConfigurationResult:
    """Return the result with the median value, of an even number the lower of the two."""
    value = median_low(row.value or 0.0 for row in rows)
    return next(row for row in rows if (row.value or 0.0) == value)


def joint(rows: Rows) -> ConfigurationResult:
    """Return the middle result with the medians of all, how far they are apart, its utilisation, and all findings."""
    one, value = middle(rows), median(row.value or 0.0 for row in rows)
    share = value / one.value if one.value else 1.0
    return replace(
        one,
        value=value,
        printed="",
        n=None,
        spread=apart(rows),
        mfu=None if one.mfu is None else one.mfu * share,
        samples_per_joule=_median([by_readings(row, row.samples_per_joule) for row in rows]),
        metrics=_joint_metrics(rows, one),
        findings=tuple({finding.code: finding for row in (*rows, one) for finding in row.findings}.values()),
    )


def _joint_metrics(rows: Rows, one: ConfigurationResult) -> tuple[MetricResult, ...]:
    """Return the metrics that every GPU has, each as the median of all."""
    found = [{metric.id: metric.value for metric in row.metrics} for row in rows]
    medians = ((metric, _median([values.get(metric.id) for values in found])) for metric in one.metrics)
    return tuple(replace(metric, value=value, spread=None, n=None) for metric, value in medians if value is not None)


def _median(values: Sequence[float | None]) -> float | None:
    """Return the median; None where a GPU has no value, so that fewer than all never stand for all."""
    known = [value for value in values if value is not None]
    return median(known) if len(known) == len(values) else None


def apart(rows: Rows) -> float:
    """Return how far the values of several GPUs are apart, over their median."""
    values = [row.value or 0.0 for row in rows]
    return (max(values) - min(values)) / median(values)
