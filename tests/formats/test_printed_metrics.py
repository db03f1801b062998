"""Metrics that a log prints beside its throughput."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlperf.catalog.files.load import load_formats
from dlperf.catalog.files.problem import Problem
from dlperf.formats.registry import parser_for
from dlperf.formats.samples import PrintedMetric, Run

BUS = """\
- id: bus
  title: Bus test
  unit: GB/s
  scope: global
  window: run
  detect: 'bus test'
  record: 'size (?P<size>\\d+) algbw (?P<value>\\S+) busbw (?P<bus_bandwidth>\\S+)'
  dialects: [{record: 'peak (?P<memory>\\S+) GB'}]
  metrics: {size: {unit: B}, bus_bandwidth: {unit: GB/s}, memory: {unit: GB, direction: lower}}
"""
OWN = """\
DLPERF 2026-01-31T12:00:00.0Z run {"unit": "images/s"}
DLPERF 2026-01-31T12:00:01.0Z step=10 loss=2.5 throughput=100 bandwidth=371.2 hit_rate=0.5
DLPERF 2026-01-31T12:00:02.0Z step=20 throughput=101 bandwidth=372.2 Bad=1 nothing
DLPERF 2026-01-31T12:00:03.0Z step=10 bandwidth=1
DLPERF 2026-01-31T12:00:04.0Z summary {"metrics": {"auc": 1, "p99": {"value": 3, "unit": "ms", "direction": "lower"}}}
"""


def parsed(format_id: str, text: str, *extra) -> list[Run]:
    parser = parser_for(format_id, *extra)
    parser.feed(text.encode())
    parser.finish()
    return parser.runs


def shown(metrics: dict[str, PrintedMetric]) -> dict[str, tuple]:
    return {name: (metric.unit, metric.direction, *metric.values) for name, metric in metrics.items()}


def test_step_lines_and_summary_of_the_own_format_may_hold_metrics() -> None:
    first, second = parsed("dlperf", OWN)
    assert shown(first.metrics) == {"bandwidth": ("", "higher", 371.2, 372.2), "hit_rate": ("", "higher", 0.5)}
    assert shown(second.metrics) == {
        "bandwidth": ("", "higher", 1.0),
        "auc": ("", "higher", 1.0),
        "p99": ("ms", "lower", 3.0),
    }
    assert [list(run.samples.step) for run in (first, second)] == [[10, 20], [10]]


def test_the_peak_of_the_allocator_is_a_metric_in_gigabytes() -> None:
    log = OWN + 'DLPERF 2026-01-31T12:00:09.123456Z summary {"peak_memory_bytes": 37097799168}\n'
    assert shown(parsed("dlperf", log)[-1].metrics)["allocated_memory_per_gpu"] == ("GB", "lower", 37.097799168)


def formats_of(folder: Path, text: str):
    (folder / "formats.yaml").write_text(text)
    problems: list[Problem] = []
    formats = load_formats(folder, problems.append)
    return [str(problem).removeprefix(f"{folder}/") for problem in problems] or formats


def test_groups_that_a_format_declares_as_metrics_are_read(tmp_path: Path) -> None:
    log = "bus test\nsize 8 algbw 1.5 busbw 2\npeak 3.5 GB\nsize 16 algbw 1.75 busbw 3\n"
    (run,) = parsed("bus", log, formats_of(tmp_path, BUS))
    assert list(run.samples.value) == [1.5, 1.75]
    assert shown(run.metrics) == {
        "size": ("B", "higher", 8.0, 16.0),
        "bus_bandwidth": ("GB/s", "higher", 2.0, 3.0),
        "memory": ("GB", "lower", 3.5),
    }


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (BUS.replace("size: {unit: B}, ", ""), "record: unknown group 'size'"),
        (BUS.replace("?P<size>", "?P<step>").replace("size:", "step:"), "metrics.step: is the name of a group with"),
    ],
)
def test_a_group_without_a_meaning_is_refused(tmp_path: Path, wrong: str, problem: str) -> None:
    assert problem in formats_of(tmp_path, wrong)[0]
