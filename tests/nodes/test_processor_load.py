"""The load of a machine without GPUs is told apart: the trial's own, and that of others."""

from __future__ import annotations

import os
import subprocess

import pytest

from dlperf.nodes.supervisor.processes import process_table
from dlperf.nodes.supervisor.telemetry import CpuTelemetry

BURNED_TICKS = 30


def burned(pid: int) -> int:
    return sum(map(int, process_table()[pid][11:13]))


@pytest.mark.parametrize("ours", [True, False])
def test_the_time_of_a_payload_is_not_that_of_others(ours):
    telemetry = CpuTelemetry({})
    total, _, own = telemetry.before
    # A payload has a session of its own, which tells it from other processes.
    with subprocess.Popen(["sh", "-c", "while :; do :; done"], start_new_session=ours) as busy:
        while burned(busy.pid) < BURNED_TICKS:
            pass
        row = telemetry.tick(0.0).split(",")
        busy.kill()
    foreign_ticks = float(row[3]) * (telemetry.before[0] - total) / 100
    if ours:
        assert telemetry.before[2] - own >= BURNED_TICKS
    else:
        assert foreign_ticks >= BURNED_TICKS / 2


@pytest.mark.parametrize("runtime", ["docker", "podman"])
def test_containers_that_are_no_children_leave_the_share_unknown(runtime):
    assert CpuTelemetry({"runtime": runtime}).tick(0.0).rstrip("\n").endswith(",")


def test_a_supervisor_without_children_has_its_own_time_alone():
    _, _, own = CpuTelemetry.times(process_table())
    assert own >= sum(map(int, process_table()[os.getpid()][11:13])) - 1
