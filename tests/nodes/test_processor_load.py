"""The load of a machine without GPUs is told apart: the trial's own, and that of others."""

from __future__ import annotations

import os
import signal
import subprocess
from subprocess import PIPE

import pytest

from dlperf.nodes.supervisor.host import telemetry
from dlperf.nodes.supervisor.host.telemetry import CpuTelemetry
from dlperf.nodes.supervisor.processes import KERNEL_THREAD, KTHREADD, all_pids, process_table, stat_fields

BURNED_TICKS = 30


def burned(pid: int) -> int:
    return sum(map(int, stat_fields(pid)[11:13]))


@pytest.mark.parametrize("ours", [True, False])
def test_the_time_of_a_payload_is_not_that_of_others(ours):
    load = CpuTelemetry({})
    total, _, own = load.before
    # A payload has a session of its own, which tells it from other processes.
    with subprocess.Popen(["sh", "-c", "while :; do :; done"], start_new_session=ours) as busy:
        while burned(busy.pid) < BURNED_TICKS:
            pass
        row = load.tick(0.0).split(",")
        busy.kill()
    foreign_ticks = float(row[3]) * (load.before[0] - total) / 100
    if ours:
        assert load.before[2] - own >= BURNED_TICKS
    else:
        assert foreign_ticks >= BURNED_TICKS / 2


@pytest.mark.parametrize("runtime", ["docker", "podman"])
def test_containers_that_are_no_children_leave_the_share_unknown(runtime):
    assert CpuTelemetry({"runtime": runtime}).tick(0.0).rstrip("\n").endswith(",")


def test_a_supervisor_without_children_has_its_own_time_alone():
    before = burned(os.getpid())
    assert before <= CpuTelemetry({}).before[2]


def test_processes_of_others_are_read_once_and_those_that_a_payload_starts_later_each_time(monkeypatch):
    read: list[set[int]] = []
    monkeypatch.setattr(telemetry, "process_table", lambda pids: read.append(set(pids)) or process_table(pids))
    with subprocess.Popen(["sleep", "60"]) as before:
        load = CpuTelemetry({})
        script = "read _; sleep 60 & echo $!; read _"
        with subprocess.Popen(["sh", "-c", script], stdin=PIPE, stdout=PIPE, start_new_session=True) as shell:
            with subprocess.Popen(["sleep", "60"]) as later:
                load.tick(0.0)
                shell.stdin.write(b"\n")
                shell.stdin.flush()
                started = int(shell.stdout.readline())
                load.tick(1.0)
                load.tick(2.0)
                later.kill()
            os.killpg(shell.pid, signal.SIGKILL)
        before.kill()
    assert [before.pid in pids for pids in read] == [False] * 4
    assert [later.pid in pids for pids in read] == [False, True, False, False]
    assert [{shell.pid, started} & pids for pids in read] == [set(), {shell.pid}, *[{shell.pid, started}] * 2]


def test_threads_of_the_kernel_are_not_searched_for_what_belongs_to_a_trial():
    every = {int(name): stat_fields(int(name)) for name in os.listdir("/proc") if name.isdigit()}
    threads = {pid for pid, fields in every.items() if fields and int(fields[6]) & KERNEL_THREAD} - {KTHREADD}
    found = set(all_pids())
    assert os.getpid() in found
    assert found & threads == set()
