"""Trials over several nodes with networks of their own: launchers find their peers, and faults have their states."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from trials import finished, held, run_to_end, seen, shell_trial

from delay_proxy import delay_proxy
from dlperf.executors.base import Observation, Trial
from dlperf.executors.direct import DirectExecutor
from dlperf.nodes import ssh
from dlperf.runs.records import State
from node_lab import NodeLab

NUMBERS = "i=0; while [ $i -lt %d ]; do i=$((i+1)); echo line $i of the log; sleep %s; done"


@pytest.fixture
def impatient(monkeypatch):
    """Silence is noticed within seconds, and not within a minute; a busy machine's delay is none."""
    monkeypatch.setattr(ssh, "KEEPALIVE_SECONDS", 1)
    monkeypatch.setattr(ssh, "KEEPALIVE_COUNT", 4)
    monkeypatch.setattr(ssh, "CONNECT_SECONDS", 5.0)


@pytest.fixture
async def executor(node_lab):
    direct = DirectExecutor(sibling_grace_seconds=0.2)
    yield direct
    await direct.close()


def silent(name: str) -> Callable[[Observation], object]:
    return lambda observation: any(node.node == name and node.unreachable_since for node in observation.nodes)


def lines(count: int) -> str:
    return "".join(f"line {number} of the log\n" for number in range(1, count + 1))


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun on this machine (Debian: openmpi-bin)")
async def test_mpirun_reaches_the_other_nodes(executor, node_lab: NodeLab, tmp_path, count):
    script = "echo rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $(hostname) for $DLPERF_TRIAL"
    trial = shell_trial(tmp_path, script, node_lab.plans(count), launcher="mpirun")
    env = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    env["OMPI_MCA_plm_rsh_args"] = f"-F {node_lab.ssh_config}"
    trial = replace(trial, launch=replace(trial.launch, gpus=2, env=env, launcher_options=("--bind-to", "none")))
    observation = await run_to_end(executor, trial)
    assert (observation.state, str(observation.cause)) == (State.SUCCEEDED, "exit code 0")
    ranks = [line for line in log_of(trial, "n1").splitlines() if line.startswith("rank")]
    expected = [f"rank {rank} of {2 * count} on n{rank // 2 + 1} for {trial.trial_id}/n1" for rank in range(2 * count)]
    assert sorted(ranks, key=lambda line: int(line.split()[1])) == expected


def log_of(trial: Trial, node: str) -> str:
    return trial.paths.node(node).log.read_text()


@pytest.mark.usefixtures("impatient")
async def test_a_link_is_cut_and_restored_and_no_byte_is_lost(executor, node_lab: NodeLab, tmp_path):
    trial = shell_trial(tmp_path, held(NUMBERS % (60, "0.02")), node_lab.plans(2))
    await executor.submit(trial)
    await seen(executor, trial, lambda observation: observation.nodes[1].log_size > 100)
    node_lab.nodes[1].cut()
    cut = await seen(executor, trial, silent("n2"))
    assert [(node.state, bool(node.unreachable_since)) for node in cut.nodes] == [
        (State.RUNNING, False),
        (State.RUNNING, True),
    ]
    node_lab.nodes[1].restore()
    let_go(node_lab)
    observation = await run_to_end(executor, trial)
    assert (observation.state, observation.nodes[1].unreachable_since) == (State.SUCCEEDED, None)
    assert log_of(trial, "n1") == log_of(trial, "n2") == lines(60)


def let_go(lab: NodeLab) -> None:
    for node in lab.nodes:
        (node.home / "go").touch()


@pytest.mark.usefixtures("impatient")
async def test_an_sshd_is_killed_and_comes_back_and_no_byte_is_lost(executor, node_lab: NodeLab, tmp_path):
    trial = shell_trial(tmp_path, held(NUMBERS % (60, "0.02")), node_lab.plans(2))
    await executor.submit(trial)
    await seen(executor, trial, lambda observation: observation.nodes[0].log_size > 100)
    node_lab.nodes[0].stop_sshd()
    gone = await seen(executor, trial, silent("n1"))
    assert gone.state is State.RUNNING
    node_lab.nodes[0].start_sshd()
    let_go(node_lab)
    observation = await run_to_end(executor, trial)
    assert observation.state is State.SUCCEEDED
    assert log_of(trial, "n1") == log_of(trial, "n2") == lines(60)


@pytest.mark.usefixtures("impatient")
async def test_a_node_that_was_powered_off_is_lost_and_keeps_its_log(executor, node_lab: NodeLab, tmp_path):
    trial = shell_trial(tmp_path, NUMBERS % (2000, "0.05"), node_lab.plans(2))
    await executor.submit(trial)
    await seen(executor, trial, lambda observation: observation.nodes[1].log_size > 100)
    node_lab.nodes[1].power_off()
    off = await seen(executor, trial, silent("n2"))
    assert off.state is State.RUNNING
    written = (node_lab.nodes[1].home / ".dlperf" / trial.trial_id / "n2" / "out.log").read_text()
    node_lab.nodes[1].power_on()
    observation = await finished(executor, trial)
    await executor.collect(trial)
    assert observation.state is State.LOST
    assert str(observation.cause).startswith("node n2: the supervisor died")
    assert str(observation.nodes[0].cause) == "cancelled because node n2 failed"
    assert log_of(trial, "n2") == written
    assert lines(2000).startswith(written)


async def test_lost_packets_and_a_narrow_link_cost_time_and_no_byte(executor, node_lab: NodeLab, tmp_path):
    loss = ("-p", "tcp", "--dport", "22", "-m", "statistic", "--mode", "random", "--probability", "0.1", "-j", "DROP")
    node_lab.nodes[0].inside("iptables", "-A", "INPUT", *loss)
    narrow = ("tbf", "rate", "2mbit", "burst", "4k", "latency", "1s")
    node_lab.nodes[1].inside("tc", "qdisc", "add", "dev", "eth0", "root", *narrow)
    script = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo line $i of the log; done"
    trial = shell_trial(tmp_path, script, node_lab.plans(2))
    observation = await run_to_end(executor, trial)
    assert observation.state is State.SUCCEEDED
    assert log_of(trial, "n1") == log_of(trial, "n2") == lines(20000)


@pytest.mark.parametrize("seconds", [0.05, 0.3])
async def test_a_long_way_to_a_node_costs_time_and_no_byte(executor, node_lab: NodeLab, tmp_path, seconds):
    far = node_lab.nodes[1]
    async with delay_proxy(far.address, 22, seconds) as proxy:
        known = node_lab.operator / ".ssh" / "known_hosts"
        key = next(line.split(" ", 1)[1] for line in known.read_text().splitlines() if line.startswith(far.address))
        known.write_text(known.read_text() + f"[127.0.0.1]:{proxy.listens_at} {key}\n")
        plans = (node_lab.nodes[0].plan, replace(far.plan, host="127.0.0.1", port=proxy.listens_at))
        trial = shell_trial(tmp_path, NUMBERS % (60, "0.05"), plans)
        started = time.monotonic()
        await executor.submit(trial)
        assert time.monotonic() - started >= 2 * seconds
        observation = await finished(executor, trial)
        await executor.collect(trial)
        await executor.close()
    assert [node.unreachable_since for node in observation.nodes] == [None, None]
    assert observation.state is State.SUCCEEDED
    assert log_of(trial, "n1") == log_of(trial, "n2") == lines(60)
    assert proxy.passed > len(lines(60))


async def test_a_check_says_that_the_nodes_cannot_reach_each_other(executor, node_lab: NodeLab, tmp_path):
    trial = shell_trial(tmp_path, "true", node_lab.plans(3), launcher="mpirun")
    config = {"OMPI_MCA_plm_rsh_args": f"-F {node_lab.ssh_config}"}
    able = await executor.check(replace(trial.launch, env=config))
    assert [str(item.message) for item in able if item.check == "ssh"] == [
        f"can log in to {node.name} ({node.address})" for node in node_lab.nodes[1:3]
    ]
    assert all(item.ok for item in able)
    without_keys = [item for item in await executor.check(trial.launch) if item.check == "ssh"]
    assert [item.ok for item in without_keys] == [False, False]
    assert str(without_keys[0].message).startswith(
        f"cannot log in to n2 ({node_lab.nodes[1].address}), which mpirun requires: "
    )


async def test_a_check_over_all_nodes_says_which_does_not_answer(executor, impatient, node_lab: NodeLab, tmp_path):
    node_lab.nodes[1].power_off()
    items = await executor.check(shell_trial(tmp_path, "true", node_lab.plans(4)).launch)
    assert {item.node: item.ok for item in items if item.check == "reachable"} == {
        "n1": True,
        "n2": False,
        "n3": True,
        "n4": True,
    }
