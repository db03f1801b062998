"""The program that measures machines."""

from __future__ import annotations

import pytest
from interpreters import WORKLOADS, torchrun, trains
from test_programs import parsed

pytestmark = trains
TINY = ["--precision", "fp32", "--size", "64", "--mib", "1", "--disk-mib", "16", "--steps", "5", "--seconds", "0"]


def test_every_rank_is_measured_and_the_disk_once_on_a_node():
    done = torchrun(2, WORKLOADS / "pytorch_diagnose.py", *TINY)
    assert done.returncode == 0, done.stderr
    (run,) = parsed(done.stdout)
    assert run.complete
    assert run.metadata.gpus == 2
    assert {name: len(metric.values) for name, metric in run.metrics.items()} == {
        "matrix_product": 2,
        "memory_bandwidth": 2,
        "all_reduce_1mb": 2,
        "disk_write": 1,
        "disk_read": 1,
    }
    assert all(value > 0 for metric in run.metrics.values() for value in metric.values)
    assert list(run.samples.step) == pytest.approx([1, 2])
