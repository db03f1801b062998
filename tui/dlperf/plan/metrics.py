"""The metrics that a plan asks for. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dlperf.catalog.patterns import expected_line
from dlperf.catalog.units import ENERGIES, counts_samples, default_metric, of_counted
from dlperf.plan.model import PlannedMetric

if TYPE_CHECKING:
    from dlperf.catalog.machines import Price
    from dlperf.catalog.metrics import Metric
    from dlperf.catalog.model import Case


def planned_metrics(
    unit: str, case: Case | None, metrics: Mapping[str, Metric], price: Price | None = None
) -> tuple[PlannedMetric, ...]:
    """Return the metrics of a case, the primary one first; without a case, every one beside the primary one.

    A cost needs a price.
    """
    primary = (case and case.metric) or default_metric(unit)
    everywhere = (name for name, item in metrics.items() if (item.everywhere if case else item.estimator != "protocol"))
    others = everywhere if case is None or case.metrics is None else case.metrics
    expected = [text.partition(" ")[0] for text in case.expect if expected_line(text) is None] if case else []
    wanted = {name: metrics[name] for name in (primary, *others, *expected)}
    return tuple(
        _planned_metric(name, item, unit, price) for name, item in wanted.items() if price or item.estimator != "cost"
    )


def _planned_metric(name: str, item: Metric, unit: str, price: Price | None) -> PlannedMetric:
    if price and item.estimator == "cost":
        counted = unit.removesuffix("/s") if counts_samples(unit) and unit else "samples"
        cost = f"{price.currency}/million {counted}"
        return PlannedMetric(name, cost, item.direction, item.scope, item.estimator, basis=str(price))
    if item.unit is not None:
        unit = of_counted(item.unit, unit) if item.estimator in ENERGIES else item.unit
    return PlannedMetric(name, unit, item.direction, item.scope, item.estimator, needs=item.needs)
