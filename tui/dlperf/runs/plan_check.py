"""Refuse a plan with values that no plan has and that would fail later, beyond its types."""

from __future__ import annotations

import re

from dlperf.catalog.patterns import EXPECTATION, expected_line, line_problem
from dlperf.runs.paths import file_name
from dlperf.runs.records import CampaignRecord

MOST = 1_000_000
"""Of repeats, nodes, GPUs, samples of a batch and trials of a configuration."""
LONGEST_NAME = 255
"""Bytes of a file's name."""


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
        if any(not re.fullmatch(EXPECTATION, text) or line_problem(expected_line(text) or "") for text in item.expect):
            raise ValueError(f"{point.id}: expect is not what it must be")
    if any(not name or len(file_name(name)) > LONGEST_NAME for name in names):
        raise ValueError("an empty or too long name")
    if not all(0 < count <= MOST for count in counts):
        raise ValueError(f"a number that is not from 1 to {MOST}")
