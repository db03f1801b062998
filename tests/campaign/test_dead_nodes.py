"""A campaign over real ssh nodes one of which dies and stays dead."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from driving_engine import events, states, until
from scripted import QUICK, campaign, planned

from dlperf.campaign.create import trial_id
from dlperf.campaign.dependencies import EngineDependencies
from dlperf.campaign.engine import run_campaign
from dlperf.executors import direct, supervised
from dlperf.executors.direct import DirectExecutor
from dlperf.executors.logs import archived_size
from dlperf.nodes import ssh
from dlperf.nodes.supervisor.processes import marked_pids
from dlperf.plan import Node
from dlperf.runs.control import ask
from dlperf.runs.journal import campaign_status
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.store import read_campaign
from node_lab import NodeLab, node_lab

__all__ = ["node_lab"]

PROGRAM = ("sh", "-c", "until test -e $HOME/go; do sleep 0.05; done")


async def test_a_trial_ends_though_its_node_stays_dead_and_the_next_one_starts_on_the_others(
    node_lab: NodeLab, tmp_path, monkeypatch
):
    monkeypatch.setattr(ssh, "KEEPALIVE_SECONDS", 1)
    monkeypatch.setattr(ssh, "KEEPALIVE_COUNT", 2)
    monkeypatch.setattr(ssh, "CONNECT_SECONDS", 1.0)
    over_two, over_one = (
        replace(item, launch=replace(item.launch, nodes=node_lab.plans(nodes), command=PROGRAM, deadline_seconds=4.0))
        for item, nodes in ((planned("a", repeats=1), 2), (planned("b", repeats=1), 1))
    )
    paths = campaign(tmp_path, over_two, over_one)
    dependencies = EngineDependencies(lambda _: DirectExecutor())
    engine = asyncio.create_task(run_campaign(paths, dependencies, replace(QUICK, silence=1.0, first_answer=1.0)))
    await until(lambda: states(paths) == {"a.1": "running", "b.1": "planned"})
    node_lab.nodes[1].power_off()
    (node_lab.nodes[0].home / "go").touch()
    await engine
    assert states(paths)["b.1"] == "succeeded"
    assert cause(paths).startswith("node n2: unreachable since ")
    assert "; given up 0.0166667 min after the trial's deadline" in cause(paths)


async def test_a_node_that_hangs_keeps_no_log_of_another_waiting(node_lab: NodeLab, tmp_path, monkeypatch):
    for module in (direct, supervised):
        monkeypatch.setattr(module, "ROUND_SECONDS", 0.2)
    item, prints = planned("a", repeats=1), ("sh", "-c", "while sleep 0.05; do echo on; done")
    item = replace(item, launch=replace(item.launch, nodes=node_lab.plans(2), command=prints, deadline_seconds=60.0))
    paths = campaign(tmp_path, item)
    engine = asyncio.create_task(run_campaign(paths, EngineDependencies(lambda _: DirectExecutor()), QUICK))
    log = paths.trial(next(iter(campaign_status(paths).trials))).node("n1").log
    await until(lambda: archived_size(log))
    node_lab.nodes[1].cut()
    await asyncio.sleep(0.5)
    size = archived_size(log)
    await until(lambda: archived_size(log) > size + 30)
    assert events(paths, "node_unreachable") == []
    node_lab.nodes[1].restore()
    ask(paths, "cancel")
    await engine
    assert states(paths) == {"a.1": "cancelled"}


def cause(paths: CampaignPaths) -> str:
    return str(next(iter(campaign_status(paths).trials.values())).cause)


STOPS_ITS_SUPERVISOR = """
kill -STOP $(sed -n 's/.*"pid": \\([0-9]*\\).*/\\1/p' $HOME/.dlperf/*/*/supervisor.json)
exec sleep 600
"""


async def test_a_trial_ends_after_its_deadline_though_its_supervisor_was_stopped(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    local = (Node("n1", "local", "localhost", "localhost"),)
    item = planned("a", repeats=1)
    launch = replace(item.launch, nodes=local, command=("sh", "-c", STOPS_ITS_SUPERVISOR), deadline_seconds=0.5)
    paths = campaign(tmp_path, replace(item, launch=launch))
    await run_campaign(paths, EngineDependencies(lambda _: DirectExecutor()), replace(QUICK, late=1.0))
    assert states(paths) == {"a.1": "timed_out"}
    assert cause(paths).startswith("deadline of 0.5 s")
    assert marked_pids(f"{trial_id(read_campaign(paths), next(iter(campaign_status(paths).trials)))}/") == []


def waiting_campaign(node_lab: NodeLab, tmp_path) -> CampaignPaths:
    """``a`` on the first two nodes, the second of which is off, then ``b`` and ``c`` on the first."""
    node_lab.nodes[1].power_off()
    over = {"a": 2, "b": 1, "c": 1}
    items = (
        replace(item, launch=replace(item.launch, nodes=node_lab.plans(over[name]), command=PROGRAM))
        for name, item in ((name, planned(name, repeats=1)) for name in over)
    )
    return campaign(tmp_path, *items)


async def test_trials_run_on_the_other_machines_while_one_waits_for_a_dead_machine(
    node_lab: NodeLab, tmp_path, monkeypatch
):
    monkeypatch.setattr(ssh, "CONNECT_SECONDS", 1.0)
    paths = waiting_campaign(node_lab, tmp_path)
    (node_lab.nodes[0].home / "go").touch()
    patient = replace(QUICK, silence=300.0, first_answer=300.0)
    engine = asyncio.create_task(run_campaign(paths, EngineDependencies(lambda _: DirectExecutor()), patient))
    await until(lambda: states(paths) == {"a.1": "planned", "b.1": "succeeded", "c.1": "succeeded"})
    ask(paths, "cancel")
    await engine
    assert states(paths)["a.1"] == "cancelled"


async def test_trials_run_on_the_other_machines_while_one_waits_for_a_machine_of_another_campaign(
    node_lab: NodeLab, tmp_path
):
    over = {"a": node_lab.plans(2), "b": node_lab.plans(1)}
    items = {name: planned(name, repeats=1) for name in ("elsewhere", *over)}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    held = replace(items["elsewhere"].launch, nodes=(node_lab.plans(2)[1],), command=PROGRAM)
    other = campaign(elsewhere, replace(items["elsewhere"], launch=held))
    first = asyncio.create_task(run_campaign(other, EngineDependencies(lambda _: DirectExecutor()), QUICK))
    await until(lambda: set(states(other).values()) == {"running"})
    (node_lab.nodes[0].home / "go").touch()
    launches = {name: replace(items[name].launch, nodes=nodes, command=PROGRAM) for name, nodes in over.items()}
    paths = campaign(tmp_path, *(replace(items[name], launch=launch) for name, launch in launches.items()))
    engine = asyncio.create_task(run_campaign(paths, EngineDependencies(lambda _: DirectExecutor()), QUICK))
    await until(lambda: states(paths) == {"a.1": "planned", "b.1": "succeeded"})
    (node_lab.nodes[1].home / "go").touch()
    await asyncio.gather(first, engine)
    assert set(states(paths).values()) == {"succeeded"}


async def test_a_trial_whose_machine_is_back_is_next_on_the_machines_that_others_used_meanwhile(
    node_lab: NodeLab, tmp_path, monkeypatch
):
    monkeypatch.setattr(ssh, "CONNECT_SECONDS", 1.0)
    paths = waiting_campaign(node_lab, tmp_path)
    patient = replace(QUICK, silence=300.0, first_answer=300.0)
    engine = asyncio.create_task(run_campaign(paths, EngineDependencies(lambda _: DirectExecutor()), patient))
    await until(lambda: states(paths) == {"a.1": "planned", "b.1": "running", "c.1": "planned"})
    node_lab.nodes[1].power_on()
    await until(lambda: events(paths, "node_reachable"))
    for node in node_lab.nodes[:2]:
        (node.home / "go").touch()
    await engine
    assert set(states(paths).values()) == {"succeeded"}
    submitted = [str(event.trial) for event in events(paths, "state") if event.state == "submitted"]
    assert [trial.split("_")[1] for trial in submitted] == ["b", "a", "c"]
