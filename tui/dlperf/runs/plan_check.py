"""Refuse a plan with values that no plan has and that would fail later: its types leave protocols open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from dlperf.catalog.patterns import EXPECTATION, expected_line, line_problem
from dlperf.plan.model import PlannedConfiguration
from dlperf.runs.paths import file_name
from dlperf.runs.records import CampaignRecord

MOST = 1_000_000
"""Of repeats, nodes, GPUs, samples of a batch and trials of a configuration."""
LONGEST_NAME = 255
"""Bytes of a file's name."""
_TEXTS = ("id", "estimator", "aggregate")
_NUMBERS = ("seconds", "take_steps", "skip_steps", "pause_seconds")


def check_plan(record: CampaignRecord) -> None:
    """Raise ValueError for such a plan."""
    names = [key.configuration for key in record.trials]
    points = [item.configuration for item in record.configurations] + [item.configuration for item in record.impossible]
    counts = [key.number for key in record.trials]
    counts += [count for point in points for count in (point.batch_size, point.nodes, point.gpus)]
    for item in record.configurations:
        point = item.configuration
        names += [point.id, *(node.name for node in item.launch.nodes)]
        counts.append(item.repeats)
        if wrong := next(_wrong_values(item), None):
            raise ValueError(f"{point.id}: {wrong} is not what it must be")
    if any(not name or len(file_name(name)) > LONGEST_NAME for name in names):
        raise ValueError("an empty or too long name")
    if not all(0 < count <= MOST for count in counts):
        raise ValueError(f"a number that is not from 1 to {MOST}")


def _wrong_values(item: PlannedConfiguration) -> Iterator[str]:
    for kind, fields in ((str, _TEXTS), ((int, float, type(None)), _NUMBERS)):
        yield from (name for name in fields if name in item.protocol and not isinstance(item.protocol[name], kind))
    accelerator: dict[str, Any] = item.accelerator or {}
    peaks = accelerator.get("peak_tflops", {})
    if not isinstance(peaks, dict) or not all(map(_is_positive, peaks.values())):
        yield "peak_tflops"
    if not _is_positive(1 if item.peak_limit is None else item.peak_limit):
        yield "peak_limit"
    if not _is_positive(accelerator.get("bandwidth_gb_per_s", 1)):
        yield "bandwidth_gb_per_s"
    if any(not re.fullmatch(EXPECTATION, text) or line_problem(expected_line(text) or "") for text in item.expect):
        yield "expect"


def _is_positive(value: object) -> bool:
    return isinstance(value, (int, float)) and value > 0
