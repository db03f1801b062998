"""Campaigns over several machines by the commands: four nodes behind ssh, and a Slurm cluster of four."""

from __future__ import annotations

import json
import signal

import pytest

from counting_workspace import Counting, counting_workspace
from dlperf.runs.journal import campaign_status
from node_lab import NodeLab, node_lab
from slurm_lab import SlurmLab, slurm, slurm_cluster
from waiting import until

__all__ = ["node_lab", "slurm", "slurm_cluster"]

OVER_NODES = """\
id: counting-mpi
title: Counting by MPI
version: "1"
format: dlperf
devices: [cpu]
recipes:
  - case: wide
    precisions: [fp32]
    interpreter: [sh]
    launcher: mpirun
    launcher_options: [--bind-to, none]
    command: [-c, 'hostname >> %s/hosts; test $OMPI_COMM_WORLD_RANK != 0 || exec sh %s {batch_size}']
    env: {OMPI_ALLOW_RUN_AS_ROOT: "1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: "1", OMPI_MCA_plm_rsh_args: "-F %s"}
"""

WIDE = """\
id: wide
title: Wide
model: Wide
dataset: none
unit: images/s
precisions: [fp32]
batch_sizes: [32]
scales: [2n1g, 4n1g]
"""


def write_hardware(counting: Counting, text: str) -> None:
    folder = counting.workspace.catalog / "hardware"
    folder.mkdir()
    (folder / "many.yaml").write_text(text)


def nodes_workspace(tmp_path, lab: NodeLab) -> Counting:
    counting = counting_workspace(tmp_path)
    nodes = [f"  - {{name: {n.name}, host: {n.address}, user: root, interface: eth0}}\n" for n in lab.nodes]
    write_hardware(counting, "id: many\ntitle: Four nodes\nnodes:\n" + "".join(nodes))
    script = counting.workspace.catalog / "workloads" / "count.sh"
    text = OVER_NODES % (counting.home, script, lab.ssh_config)
    (counting.workspace.catalog / "frameworks" / "counting-mpi.yaml").write_text(text)
    (counting.workspace.catalog / "cases").mkdir()
    (counting.workspace.catalog / "cases" / "wide.yaml").write_text(WIDE)
    return Counting(counting.workspace, counting.home, lab.operator)


@pytest.fixture
def cluster(tmp_path, slurm: SlurmLab) -> Counting:
    """A workspace whose hardware is a Slurm cluster with this machine as login node."""
    counting = counting_workspace(tmp_path)
    login = "nodes: [{name: login, transport: local}]\nexecutor: slurm\nslurm: {partition: gpu, max_nodes: 2}\n"
    write_hardware(counting, f"id: many\ntitle: A cluster\n{login}")
    return counting


def test_one_run_measures_on_two_and_on_four_nodes(tmp_path, node_lab: NodeLab):
    counting = nodes_workspace(tmp_path, node_lab)
    counting.dlperf("run", "-H", "many", "-f", "counting-mpi", "-c", "wide", "--repeats", "1", "--name", "try", "--yes")
    results = json.loads(counting.dlperf("results", "--campaign", "try", "--json").stdout)
    assert [(row["nodes"], row["status"], row["n"]) for row in results] == [(2, "measured", 1), (4, "measured", 1)]
    assert sorted((counting.home / "hosts").read_text().split()) == ["n1", "n1", "n2", "n2", "n3", "n4"]


def test_an_engine_killed_while_a_job_runs_is_resumed_and_submits_nothing_twice(cluster: Counting):
    release = cluster.hold(32)
    run = ("run", "-H", "many", "-f", "counting", "-c", "lenet5", "-b", "32,64", "--repeats", "1", "--yes")
    engine = cluster.start(*run, "--name", "try")
    cluster.wait_for("try", "32/1", "running")
    cluster.wait_for("try", "64/1", "succeeded")
    engine.send_signal(signal.SIGKILL)
    engine.wait()
    release.unlink()
    cluster.dlperf("resume", "try")
    assert cluster.states("try") == {"32/1": "succeeded", "64/1": "succeeded"}
    assert len(cluster.starts) == len(set(cluster.starts)) == 2
    for key in campaign_status(cluster.campaign("try")).trials:
        assert cluster.campaign("try").trial(key).node("node0").log.read_bytes().count(b"DLPERF") == 12
    cluster.dlperf("verify", "try")


def test_repeats_that_are_queued_as_one_job_array_go_on_without_an_engine(cluster: Counting):
    hardware = cluster.workspace.catalog / "hardware" / "many.yaml"
    hardware.write_text(hardware.read_text().replace("max_nodes: 2", "max_nodes: 2, array: true"))
    release = cluster.hold(32)
    run = ("run", "-H", "many", "-f", "counting", "-c", "lenet5", "-b", "32", "--repeats", "3", "--yes")
    engine = cluster.start(*run, "--name", "try")
    cluster.wait_for("try", "32/1", "running")
    cluster.wait_for("try", "32/3", "submitted")
    engine.send_signal(signal.SIGKILL)
    engine.wait()
    release.unlink()
    until(lambda: len(cluster.starts) == 3, lambda: "the array did not go on by itself")
    cluster.dlperf("resume", "try")
    assert cluster.states("try") == {f"32/{number}": "succeeded" for number in (1, 2, 3)}
    assert len(cluster.starts) == len(set(cluster.starts)) == 3
    paths = cluster.campaign("try")
    jobs = [json.loads(paths.trial(key).reference.read_text())["data"]["job"] for key in campaign_status(paths).trials]
    assert [job.partition("_")[2] for job in jobs] == ["1", "2", "3"]


def test_a_cluster_is_checked_by_asking_slurm(cluster: Counting):
    ready = cluster.dlperf("check", "-H", "many")
    assert "to start at" in ready.stdout
