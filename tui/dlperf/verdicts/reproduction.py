"""Reproduce a result: what to run again, and how much of it was reached. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from dlperf.catalog.axes import REVISION
from dlperf.errors import RequestError
from dlperf.messages import Message, message
from dlperf.plan.model import Selection
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.compare import parse_selector


def find_result(text: str, rows: Sequence[ConfigurationResult]) -> ConfigurationResult:
    """Return the row of ``campaign/configuration`` or of a configuration id that one campaign has.

    Raises:
        RequestError: none or several rows have this name, or it has no value.
    """
    selector = parse_selector(text, rows)
    found = [row for row in rows if selector.matches(row)]
    if len(found) != 1:
        names = ", ".join(sorted({f"{row.campaign}/{row.id}" for row in found})[:3])
        raise RequestError(f"{text}: {len(found)} results have this name ({names} …): write CAMPAIGN/CONFIGURATION")
    if found[0].value is None:
        raise RequestError(f"{text}: has no value ({found[0].status}): choose a result with one from `dlperf results`")
    return found[0]


def selection_of_result(row: ConfigurationResult, repeats: int) -> Selection:
    """Return the selection that plans the configuration of a result again, in the version that the catalogue has."""
    return Selection(
        hardware=(row.hardware,),
        frameworks=(row.framework,),
        cases=(row.case,),
        precisions=(row.precision,),
        batch_sizes=() if not row.batch_size else (row.batch_size,),
        scales=(row.scale,),
        protocol=row.protocol,
        repeats=repeats,
        axes=tuple(f"{name}={value}" for name, value in row.axes if name != REVISION),
    )


def is_third_party(row: ConfigurationResult) -> bool:
    """Whether a value was published by others."""
    return row.status.code == "published"


def of_published(original: ConfigurationResult, again: ConfigurationResult) -> Message | None:
    """Return how much of the published throughput of a GPU was reached; None where one has no value."""
    if original.value is None or again.value is None:
        return None
    share = (again.value / again.gpus_total) / (original.value / original.gpus_total)
    return message("of_published", share=share, campaign=original.campaign)
