"""Plan the diagnosis of machines: one configuration for each hardware, of all its nodes and GPUs."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from dlperf.plan.expand import expand
from dlperf.plan.model import Plan, Selection
from dlperf.plan.subject import max_nodes, precisions_of

if TYPE_CHECKING:
    from dlperf.catalog.files.load import Catalog

FRAMEWORK = "diagnosis"
PRECISIONS = ("bf16", "fp32")
"""Of the matrix products; the first that the hardware computes."""


def plan_diagnosis(selection: Selection, catalog: Catalog) -> Plan:
    """Return the plan for the hardware of a selection, and for its scales where it names some.

    Raises:
        RequestError: a hardware or scale is unknown.
    """
    chosen = replace(selection, frameworks=(FRAMEWORK,))
    plans = [expand(_of_machine(chosen, name, catalog), catalog) for name in selection.hardware]
    configurations, impossible = ([getattr(plan, part) for plan in plans] for part in ("configurations", "impossible"))
    return Plan(chosen, tuple(chain(*configurations)), tuple(chain(*impossible)))


def _of_machine(selection: Selection, name: str, catalog: Catalog) -> Selection:
    hardware, selection = catalog.hardware.get(name), replace(selection, hardware=(name,))
    if hardware is None:  # which `expand` refuses
        return selection
    accelerator = catalog.accelerators[hardware.accelerator] if hardware.accelerator else None
    computed = precisions_of(accelerator, catalog.precisions)
    scales = selection.scales or (f"{max_nodes(hardware)}n{hardware.gpus_per_node}g",)
    return replace(selection, scales=scales, precisions=tuple(name for name in PRECISIONS if name in computed)[:1])
