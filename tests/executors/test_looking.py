"""What machines do now is asked of each on its own, again and again."""

from __future__ import annotations

from dlperf.campaign.readiness import as_described, machines_of
from dlperf.catalog.files.load import load_catalog
from dlperf.executors.looking import MachineNow, look, machine_of_login
from dlperf.executors.machines import MachineClients
from dlperf.plan import Node

HERE = Node("here", "local")
GONE = Node("gone", "ssh", "127.0.0.1", "127.0.0.1", port=1)


async def test_each_machine_answers_or_says_why_not():
    machines = MachineClients()
    try:
        found = {item.node: item async for item in look(machines, {HERE: ["h100"], GONE: ["other"]}, None)}
    finally:
        await machines.close()
    here, gone = found["here"], found["gone"]
    assert here.hardware == ("h100",)
    assert here.state is not None
    assert here.state["disk_free_bytes"] > 0
    assert here.state["threads"]
    assert gone.state is None
    assert gone.problem is not None


async def test_a_machine_is_asked_again_and_again():
    machines, answers = MachineClients(), []
    try:
        async for item in look(machines, {HERE: []}, 0.01):
            answers.append(item)
            if len(answers) == 3:
                break
    finally:
        await machines.close()
    assert all(item.state is not None for item in answers)
    assert answers[0].seen < answers[1].seen < answers[2].seen


def test_the_machines_of_a_workspace_are_its_own_and_this_one(tmp_path):
    (tmp_path / "hardware.yaml").write_text("- {id: box, title: Box, nodes: [{name: box, host: box.test}]}\n")
    names = [name for names in machines_of(load_catalog(tmp_path)).values() for name in names]
    assert names == ["local", "box"]


def test_an_entry_is_this_machine_only_with_the_gpus_that_are_here(tmp_path):
    (tmp_path / "hardware.yaml").write_text(
        "- {id: pair, title: P, accelerator: h200-sxm, gpus_per_node: 2, nodes: [{name: n, transport: local}]}\n"
        "- {id: far, title: F, accelerator: h200-sxm, nodes: [{name: far}]}\n"
    )
    catalog = load_catalog(tmp_path)
    gpus = [{"index": index, "name": "NVIDIA H200"} for index in range(2)]
    for found, text in (([], "no GPU"), (gpus[:1], "1 × NVIDIA H200"), (gpus, "")):
        answer = MachineNow("n", ("local", "pair"), "", {"gpus": found})
        items = {item.hardware: item for item in as_described(answer, catalog)}
        hardware = catalog.on_machine({gpu["index"]: gpu["name"] for gpu in found}).hardware
        assert hardware["pair"].example == bool(text)
        assert not hardware["far"].example
        if text:
            assert items["local",].state is not None
            assert items["pair",].elsewhere
            assert text in str(items["pair",].problem)
        else:
            assert items["local", "pair"].state is not None


def test_a_machine_is_named_by_its_login():
    assert machine_of_login("local").transport == "local"
    node = machine_of_login("bench@box.test")
    assert (node.host, node.user, node.transport) == ("box.test", "bench", "ssh")
