"""Reproduce a result: what to run again, and how much of it was reached. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dlperf.catalog.axes import REVISION, AxisValue
from dlperf.errors import RequestError
from dlperf.messages import Message, message
from dlperf.plan.model import Selection
from dlperf.plan.nearest import TASK, differing_conditions, is_version_of
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.compare import parse_selector

_COMPILED = re.compile(r"(?:.*\bby )?(?:torch\.compile|XLA)\b(?! of )")
"""What recipes say of a model that is compiled as a whole, or layer by layer."""


def find_result(text: str, rows: Sequence[ConfigurationResult]) -> ConfigurationResult:
    """Return the row of ``campaign/configuration`` or of a configuration id that one campaign has.

    Raises:
        RequestError: none or several rows have this name, or it has no value.
    """
    selector = parse_selector(text, rows)
    found = [row for row in rows if selector.matches(row)]
    if len(found) != 1:
        names = sorted({f"{row.campaign}/{row.id}" for row in found})
        listed = ", ".join(names[:3] + ["…"] * (len(names) > 3))
        raise RequestError(f"{text}: {len(found)} results have this name: write one of {listed}")
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


def of_published(original: ConfigurationResult, again: ConfigurationResult) -> Message | None:
    """Return how much of the published throughput of a GPU was reached; None where one has no value."""
    if original.value is None or again.value is None:
        return None
    share = (again.value / again.gpus_total) / (original.value / original.gpus_total)
    return message("of_published", share=share, campaign=original.campaign)


@dataclass(frozen=True)
class BesidePublished:
    """A result of one's own and the third-party result that is most like it."""

    result: ConfigurationResult
    published: ConfigurationResult | None
    """None where none is of this model."""
    verdict: Message | None
    differences: tuple[Message, ...]
    """Conditions that both state otherwise, or one does not state."""


def beside_published(
    row: ConfigurationResult, accelerator: str, rows: Sequence[ConfigurationResult]
) -> BesidePublished:
    """Find the third-party result of the same model that is most like a result.

    GPUs of one kind come first, then the same framework, then the precision, then the fewest other differences. Results
    of another training, such as LoRA, are not like it.

    Args:
        accelerator: id of the result's GPU in the catalogue; empty where unknown.
    """
    chip = accelerator.partition("-")[0]

    def distance(other: ConfigurationResult) -> tuple[int, ...]:
        unlike = (chip not in re.split(r"[-_]", other.hardware), not is_version_of(other.framework, row.framework))
        return (*unlike, other.precision != row.precision, len(_differences(other, row)))

    def trained(each: ConfigurationResult) -> tuple[object, ...]:
        return each.case, each.unit, each.setting(TASK)

    comparable = (each for each in rows if each.is_third_party and trained(each) == trained(row))
    found = min((each for each in comparable if each.value), key=distance, default=None)
    if found is None:
        return BesidePublished(row, None, None, ())
    return BesidePublished(row, found, of_published(found, row), tuple(_differences(found, row)))


def _differences(other: ConfigurationResult, row: ConfigurationResult) -> list[Message]:
    does = {name: value for name, _ in other.axes if (value := _does(row, name)) is not None}
    return differing_conditions(other, row, {**does, **dict(row.axes)})


def _does(row: ConfigurationResult, name: str) -> AxisValue | None:
    """Return what a result's program does in the words of third-party results: an axis, an option or a data type."""
    value = row.setting(name)
    if name == "compile" and _COMPILED.match(str(value)):
        return "yes"
    return row.numerics.get(name) if value is None else value
