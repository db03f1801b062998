"""Campaigns over several machines by the commands: four nodes behind ssh, and a Slurm cluster of four."""

from __future__ import annotations

import json
import shutil
import signal

import pytest

from counting_workspace import Counting, counting_workspace
from dlperf.campaign.create import create_campaign
from dlperf.campaign.dependencies import Timeouts, engine_dependencies
from dlperf.campaign.engine import run_campaign
from dlperf.catalog.files.load import load_catalog
from dlperf.plan import Selection, expand
from dlperf.runs.archive import TrialFiles
from dlperf.runs.journal import campaign_status
from dlperf.runs.store import read_campaign
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
    nodes = [f"  - {n.yaml}\n" for n in lab.nodes]
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


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun on this machine (Debian: openmpi-bin)")
def test_one_run_measures_on_two_and_on_four_nodes(tmp_path, node_lab: NodeLab):
    counting = nodes_workspace(tmp_path, node_lab)
    counting.dlperf("run", "-H", "many", "-f", "counting-mpi", "-c", "wide", "--repeats", "1", "--name", "try", "--yes")
    results = json.loads(counting.dlperf("results", "--campaign", "try", "--json").stdout)
    assert [(row["nodes"], row["status"], row["n"]) for row in results] == [(2, "measured", 1), (4, "measured", 1)]
    assert sorted((counting.home / "hosts").read_text().split()) == ["n1", "n1", "n2", "n2", "n3", "n4"]


async def test_a_machine_that_drops_every_packet_is_left_out_soon_and_the_others_go_on(tmp_path, node_lab: NodeLab):
    counting = nodes_workspace(tmp_path, node_lab)
    lines = [f"- {{id: {n.name}, title: One, nodes: [{n.yaml}]}}\n" for n in node_lab.nodes[:2]]
    (counting.workspace.catalog / "hardware" / "many.yaml").write_text("".join(lines))
    node_lab.ssh_config.write_text(f"ConnectTimeout 1\n{node_lab.ssh_config.read_text()}")
    node_lab.nodes[1].inside("iptables", "-A", "INPUT", "-p", "tcp", "--dport", "22", "-j", "DROP")
    selection = Selection(("n1", "n2"), ("counting",), ("lenet5",), batch_sizes=(32,), repeats=3)
    paths = create_campaign(counting.workspace, expand(selection, load_catalog(counting.workspace.catalog)), "try")
    dependencies = engine_dependencies(counting.workspace, read_campaign(paths))
    await run_campaign(paths, dependencies, Timeouts(machine_rest=0.1, silence=10**6, first_answer=2.0))
    status = campaign_status(paths)
    address = node_lab.nodes[1].address
    assert status.left_out.keys() == {"n2"}
    assert str(status.left_out["n2"]) == (
        f"failed 2 times in a row: unreachable: no answer from {address} port 22 within 1 s"
    )
    assert f"its power and the firewall: `ssh root@{address}` must work" in str(status.silence["n2"])
    assert [str(trial.state) for key, trial in status.trials.items() if "n1_" in str(key)] == ["succeeded"] * 3


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
    trials = [paths.trial(key) for key in campaign_status(paths).trials]
    jobs = [json.loads(TrialFiles(trial).read(trial.reference))["data"]["job"] for trial in trials]
    assert [job.partition("_")[2] for job in jobs] == ["1", "2", "3"]


def test_a_cluster_is_checked_by_asking_slurm(cluster: Counting):
    ready = cluster.dlperf("check", "-H", "many")
    assert "to start at" in ready.stdout
