"""Errors of GPUs: counts that the machines recorded, and what the driver reported while a trial ran."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dlperf.evidence.facts import NodeFacts
from dlperf.messages.finding import Finding, warning
from dlperf.plan import PlannedConfiguration

COUNTED = ("memory_errors_corrected", "memory_errors_uncorrected", "driver_errors")
"""Facts of a GPU, also the estimators of the metrics that show them; a fact that the machine could not read is null."""


def error_counts(nodes: Sequence[NodeFacts], planned: PlannedConfiguration, name: str) -> tuple[float, ...]:
    """Return the count of each GPU of a trial in the order of ranks; empty where one of them has none."""
    counts = [
        _count(gpu.get(name))
        for facts, node in zip(nodes, planned.launch.nodes, strict=False)
        for gpu in _chosen(facts.environment.get("gpus"), node.gpu_indices)[: planned.configuration.gpus]
    ]
    known = tuple(count for count in counts if count is not None)
    return known if len(known) == planned.configuration.gpus_total else ()


def findings_of_drivers(nodes: Iterable[NodeFacts]) -> tuple[Finding, ...]:
    """Report what the drivers of any node reported while the trial ran."""
    found = [error for node in nodes for error in node.driver_errors]
    codes = ", ".join(sorted({str(error.get("code"))[:10] for error in found}))
    places = ", ".join(sorted({str(error.get("pci_bus"))[:20] for error in found}))
    return (warning("driver_errors", codes=codes, gpus=places),) if found else ()


def _chosen(listed: Any, indices: tuple[int, ...] | None) -> list[Mapping[str, Any]]:
    gpus = [gpu for gpu in listed if isinstance(gpu, Mapping)] if isinstance(listed, list) else []
    return [gpu for gpu in gpus if not indices or gpu.get("index") in indices]


def _count(value: Any) -> float | None:
    if isinstance(value, list):
        return float(len(value))
    return float(value) if isinstance(value, int) else None
