"""The program that measures machines."""

from __future__ import annotations

import json

import pytest
from interpreters import ONE_THREAD, WORKLOADS, interpreter, run_ranks, trains
from test_programs import parsed

from counting_workspace import Counting
from dlperf.catalog.files.load import BUILTIN

pytestmark = trains
TINY = ["--precision", "fp32", "--size", "64", "--mib", "1", "--disk-mib", "16", "--steps", "5", "--seconds", "0"]


def test_every_rank_is_measured_and_the_disk_once_on_a_node():
    done = run_ranks(2, WORKLOADS / "pytorch_diagnose.py", *TINY)
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


def test_the_command_measures_this_machine(counting: Counting, monkeypatch: pytest.MonkeyPatch):
    """The whole way on the processors: plan, campaign, supervisor, program with real PyTorch, table."""
    for name, value in ONE_THREAD.items():
        monkeypatch.setenv(name, value)
    entry = (BUILTIN / "frameworks/diagnosis.yaml").read_text()
    tiny = entry.replace('--seconds, "10"', ", ".join(json.dumps(word) for word in TINY[2:]))
    tiny = tiny.replace("    command:", f"    interpreter: [{interpreter('torch')}]\n    command:")
    assert entry != tiny
    (counting.workspace.catalog / "frameworks/diagnosis.yaml").write_text(tiny)
    fleets = json.loads(counting.dlperf("diagnose", "-H", "local", "--repeats", "1", "--yes", "--json").stdout)
    found = {fleet["metric"]: fleet["members"] for fleet in fleets}
    assert set(found) == {"matrix_product", "memory_bandwidth", "disk_write", "disk_read"}
    assert all(len(members) == 1 and members[0]["value"] > 0 for members in found.values())
