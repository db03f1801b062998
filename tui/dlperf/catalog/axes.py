"""Configurations with their axes, and the variants that match them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dlperf.catalog.model import When

AxisValue = str | int | float
SEQUENCE_LENGTH = "sequence_length"
"""Axis of the tokens of a sample."""
ACCUMULATION = "gradient_accumulation"
"""Axis of the batches whose gradients are added up for one step."""
PARTS = ("tensor_parallel", "pipeline_parallel", "context_parallel")
"""Axes of the parts of one model that so many GPUs hold together."""
EXPERTS = ("expert_parallel",)
"""Axis of the groups of experts."""
ONE_WHERE_ABSENT = (ACCUMULATION, *PARTS, *EXPERTS)
"""Axes whose value is 1 in a program without them."""
REVISION = "revision"
"""Axis of two versions of a program that are compared."""
_UNSAFE = re.compile(r"[^\w.-]+", re.ASCII)
_SCALE = re.compile(r"(?:([1-9][0-9]{0,4})n)?([1-9][0-9]{0,2})g?")


def parse_scale(text: str) -> tuple[int, int]:
    """Parse ``2n8g`` into (2 nodes, 8 GPUs per node); ``8`` is ``1n8g``. Raises ValueError: the text is not a scale."""
    match = _SCALE.fullmatch(text)
    if match is None or ("n" in text) != ("g" in text):
        raise ValueError(f"invalid scale {text!r}: write 2n8g for 2 nodes with 8 GPUs each, or 8 for 1n8g")
    return int(match[1] or 1), int(match[2])


@dataclass(frozen=True, order=True, slots=True)
class Configuration:
    """A point of the matrix of axes."""

    hardware: str
    framework: str
    case: str
    precision: str
    batch_size: int
    """Per GPU, or per copy of the model that several GPUs hold; 0 where that is no whole number of samples."""
    nodes: int
    gpus: int
    """GPUs per node."""
    axes: tuple[tuple[str, AxisValue], ...] = field(default=(), kw_only=True)
    """Values of the axes that case and recipe declare, such as ``("sequence_length", 8192)``."""

    @property
    def scale(self) -> str:
        return f"{self.nodes}n{self.gpus}g"

    @property
    def gpus_total(self) -> int:
        return self.nodes * self.gpus

    @property
    def copies(self) -> int:
        """Copies of the model, each with a batch of its own: GPUs that hold the parts of one train one batch."""
        return max(self.gpus_total // parts_of(self.axes), 1)

    @property
    def samples_per_step(self) -> int:
        """Samples of all GPUs, with those of gradient accumulation."""
        accumulated = dict(self.axes).get(ACCUMULATION, 1)
        return self.batch_size * self.copies * (int(accumulated) if str(accumulated).isdigit() else 1)

    @property
    def id(self) -> str:
        """Unique and safe as a folder name, because catalogue ids contain no underscore.

        What a third-party report calls a precision may hold other characters, which become hyphens.
        """
        names = _safe(f"{self.hardware}_{self.framework}_{self.case}_{self.precision}")
        return "_".join((names, f"bs{self.batch_size}", self.scale, *map(axis_slug, self.axes)))


@lru_cache(maxsize=1 << 12)
def _safe(names: str) -> str:
    return _UNSAFE.sub("-", names)


def parts_of(axes: Iterable[tuple[str, AxisValue]]) -> int:
    """Return how many GPUs hold one copy of the model together."""
    return math.prod(int(value) for name, value in axes if name in PARTS and str(value).isdigit()) or 1


def field_values(record: Any) -> dict[str, Any]:
    """Return the values of a data class by field, also of one with slots, for which there is no ``vars``."""
    return {item.name: getattr(record, item.name) for item in fields(record)}


def profiled_configuration(configuration: Configuration) -> Configuration:
    """Return the configuration under which the trial with a profiler runs beside the measured ones."""
    return replace(configuration, axes=(*configuration.axes, ("profile", "on")))


def axis_slug(axis: tuple[str, AxisValue]) -> str:
    """Return ``sequence-length-8192``, safe in file names and addresses."""
    return f"{axis[0].replace('_', '-')}-{axis[1]}"


def axes_text(axes: Iterable[tuple[str, AxisValue]]) -> str:
    """Return ``sequence_length=8192, tensor_parallel=2``."""
    return ", ".join(f"{name}={value}" for name, value in axes)


def matches(when: When, point: Configuration) -> bool:
    """Whether every axis that ``when`` names agrees with the point."""
    return all(
        (
            when.precision is None or point.precision in when.precision,
            when.scale is None or point.scale in when.scale,
            when.batch_size is None or point.batch_size in when.batch_size,
            when.gpus_total is None or point.gpus_total in when.gpus_total,
            when.multi_gpu is None or when.multi_gpu == (point.gpus_total > 1),
            when.multi_node is None or when.multi_node == (point.nodes > 1),
            *(dict(point.axes).get(name) in values for name, values in when.axes.items()),
        )
    )
