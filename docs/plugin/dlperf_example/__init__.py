"""An example of each part that a package can add to dlperf, under the names in pyproject.toml."""

from __future__ import annotations

import statistics

from dlperf.measured.metrics import Source
from dlperf.measured.throughput.reading import Estimate, Reading
from dlperf.measured.throughput.windows import estimate_from, need
from dlperf.render.launchers import NodeLaunch


def best(reading: Reading, n: int) -> Estimate:
    """Average the n fastest records: ``estimator: best(5)`` of a protocol."""
    fastest = sorted(reading.usable, key=reading.values.__getitem__)[-n:]
    need(len(fastest) == n, "few_last", count=len(fastest), wanted=n)
    return estimate_from(reading, sorted(fastest), statistics.fmean(reading.values[index] for index in fastest))


def step_jitter(source: Source) -> float | None:
    """Return the longest step over the median one, None without times: ``estimator: step_jitter`` of a metric."""
    return max(source.step_seconds) / statistics.median(source.step_seconds) if source.step_seconds else None


def numbered(task: NodeLaunch) -> tuple[str, ...]:
    """Start the program on each node with the node's number: ``launcher: numbered`` of a recipe."""
    return ("env", f"NODE_NUMBER={task.rank}", *task.program)
