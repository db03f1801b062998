"""Speed-up and efficiency of rows over their 1-GPU row. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dlperf.catalog.units import is_rate
from dlperf.measured.findings.trials import findings_of_scaling
from dlperf.measured.statistics import efficiency, speedup
from dlperf.messages.finding import Finding
from dlperf.table.model import ConfigurationResult

BaselineKey = tuple[object, ...]


def with_scaling(rows: Sequence[ConfigurationResult]) -> list[ConfigurationResult]:
    """Add speed-up and efficiency of rates relative to the 1-GPU row of the same configuration, and their findings.

    There is none where that row is missing, or several have different figures.
    """
    series: dict[BaselineKey, dict[int, set[float]]] = {}
    for row in rows:
        if row.value and is_rate(row.unit, row.direction):
            series.setdefault(_baseline_key(row), {}).setdefault(row.gpus_total, set()).add(row.value)
    clear = {
        key: {gpus: next(iter(values)) for gpus, values in points.items() if len(values) == 1}
        for key, points in series.items()
    }
    odd = {key: findings_of_scaling(points) for key, points in clear.items()}
    return [_scaled(row, clear.get(_baseline_key(row), {}), odd.get(_baseline_key(row), {})) for row in rows]


def _scaled(
    row: ConfigurationResult, series: Mapping[int, float], odd: Mapping[int, tuple[Finding, ...]]
) -> ConfigurationResult:
    if row.value is None or not is_rate(row.unit, row.direction):
        return row
    return replace(
        row,
        speedup=speedup(row.value, series.get(1)),
        efficiency=efficiency(row.value, series.get(1), row.gpus_total),
        findings=(*row.findings, *odd.get(row.gpus_total, ())),
    )


def _baseline_key(row: ConfigurationResult) -> BaselineKey:
    return (row.campaign, row.hardware, row.framework, row.case, row.precision, row.batch_size, row.axes, row.metric)
