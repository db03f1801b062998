"""The machines of a workspace: what they do now, what ran there, and how one is added."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from builder import finished_campaign
from driving import driving, press, screen_of, until, until_gone, until_shown

from dlperf.app.commands import RunningCommand
from dlperf.app.dialogs.machine import MachineForm
from dlperf.app.model.machines.entry import MachineEntry, accelerator_of, change_entry, place_of, write_entry
from dlperf.app.model.machines.table import MachineRow, MachinesView, about_machine
from dlperf.app.screens.campaigns import CampaignsScreen
from dlperf.app.screens.machines import MachinesScreen
from dlperf.catalog.files.load import load_catalog
from dlperf.messages import message
from dlperf.runs.paths import WorkspacePaths

GPUS = [
    {"index": 0, "name": "NVIDIA H100 80GB HBM3", "utilization_percent": 90.0, "memory_used_mib": 40960.0}
    | {"power_watts": 650.0, "temperature_celsius": 61.0},
    {"index": 1, "name": "NVIDIA H100 80GB HBM3", "utilization_percent": 80.0, "memory_used_mib": 20480.0}
    | {"power_watts": None, "temperature_celsius": None},
]
LEASE = {"user": "wang", "engine": "gw-1", "trial": "night.resnet50.1", "since": "10:00", "left": {}}
BUSY = {"lease": LEASE, "disk_free_bytes": 812 * 10**9, "gpus": GPUS, "load": 3.0, "threads": 64}
SEEN = "2026-05-04T12:04:00Z"
SILENT = message("no_answer", server="h200-02 port 22", seconds=10).to_json()


def test_a_machine_shows_who_uses_it_its_gpus_and_its_disk():
    row = MachineRow("h100", "h100-01", ("h100-01",), {"seen": SEEN, "state": BUSY})
    cells = MachinesView(machines=(row,), now=1777896255.0).cells(row).cells
    assert cells == (
        *("h100", "h100-01", "in use", "wang · night.resnet50.1", "2 × NVIDIA H100 80GB HBM3"),
        *("85 %", "30 GiB", "650 W", "61 °C", "756.2 GiB", "15s"),
    )
    assert "GPU 1  NVIDIA H100 80GB HBM3  80 %  20 GiB  -  -" in about_machine(row)
    assert about_machine(row)[0] == "h100 · h100-01 · ssh h100-01"
    assert about_machine(replace(row, login=()))[0] == "h100 · h100-01 · this machine"


def test_a_silent_machine_says_why():
    row = MachineRow("h100", "h100-02", (), {"seen": SEEN, "state": None, "problem_code": SILENT})
    cells = MachinesView(machines=(row,)).cells(row).cells
    assert cells[2] == "no answer"
    assert "h200-02 port 22" in cells[3]


@pytest.fixture
def big(workspace: WorkspacePaths) -> None:
    """An entry for this machine with more GPUs than any has."""
    fields = "accelerator: h200-sxm, gpus_per_node: 64, nodes: [{name: big, transport: local}]"
    file = workspace.catalog / "hardware" / "big.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(f"{{id: big, title: Big, {fields}}}\n")


async def _never(*_arguments: object) -> RunningCommand:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.usefixtures("big")
async def test_an_entry_of_another_machine_is_not_this_one(workspace: WorkspacePaths):
    async with driving(workspace, size=(160, 40), start_screen="machines") as pilot:
        await until_shown(pilot, "not here", "described with 64 × h200-sxm")
        await press(pilot, "down", "d")
        await until_shown(pilot, "another machine: it is described with 64 × h200-sxm, this one has")
        assert isinstance(pilot.app.screen, MachinesScreen)


@pytest.mark.usefixtures("big")
async def test_a_machine_that_is_not_here_is_not_diagnosed_before_it_is_asked(
    workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(RunningCommand, "start", _never)
    async with driving(workspace, size=(160, 40), start_screen="machines") as pilot:
        await until_shown(pilot, "big")
        await press(pilot, "down", "d")
        await until_shown(pilot, "Diagnose big?")
        await press(pilot, "y")
        await until(pilot, lambda: pilot.app._notifications)
        assert [item.message[:30] for item in pilot.app._notifications] == ["--hardware big: an example wit"]
    assert not [*workspace.runs.iterdir()]


async def test_a_command_that_starts_when_the_screen_is_left_does_not_stay(
    workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(RunningCommand, "start", _never)
    async with driving(workspace, start_screen="machines") as pilot:
        await until(pilot, lambda: any(worker.group == "ask" for worker in pilot.app.workers))
        await press(pilot, "1")
        await until(pilot, lambda: not any(worker.group == "ask" for worker in pilot.app.workers))


async def test_a_filter_that_leaves_no_machine_leaves_none_selected(workspace: WorkspacePaths):
    async with driving(workspace, start_screen="machines") as pilot:
        await until_shown(pilot, "local", "free")
        await press(pilot, "slash", *"zzz", "enter", "c")
        await until_shown(pilot, "No machine is selected.")


async def test_machines_are_asked_while_the_screen_is_shown(workspace: WorkspacePaths):
    async with driving(workspace, size=(160, 40), start_screen="machines") as pilot:
        await until_shown(pilot, "local", "free")
        screen = screen_of(pilot, MachinesScreen)
        asker = screen._asker
        assert asker is not None
        await press(pilot, "1")
        await until(pilot, lambda: asker._process.returncode is not None)
        assert screen._asker is None


async def test_what_ran_on_a_machine_is_listed(workspace: WorkspacePaths):
    (hardware,) = finished_campaign(workspace, "elsewhere").record.selection.hardware
    (workspace.catalog / "hardware.yaml").parent.mkdir()
    (workspace.catalog / "hardware.yaml").write_text(
        f"{{id: {hardware}, title: Mine, nodes: [{{name: mine, transport: local}}]}}\n"
    )
    async with driving(workspace, start_screen="machines") as pilot:
        await until_shown(pilot, "local", "free", "mine")
        await until(pilot, lambda: pilot.app.book.summaries["elsewhere"].hardware == (hardware,))
        pilot.app.screen.table.select(("local", "local"))
        await press(pilot, "enter")
        await until_shown(pilot, "Nothing has run on local from this workspace.")
        pilot.app.screen.table.select((hardware, "mine"))
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, CampaignsScreen))
        await until_shown(pilot, f"/{hardware} · esc shows all", "elsewhere")


async def test_a_machine_is_added_asked_for_its_gpus_and_opened_at_its_line(workspace: WorkspacePaths):
    async with driving(workspace, size=(120, 40), start_screen="machines") as pilot:
        await until_shown(pilot, "local", "free")
        await press(pilot, "n")
        await until(pilot, lambda: isinstance(pilot.app.screen, MachineForm))
        await press(pilot, *"My box", "ctrl+s")
        await until_shown(pilot, "My box: a name has small letters, digits, dots and hyphens")
        await press(pilot, "ctrl+u", *"box", "enter", "down", "up", "ctrl+g")
        await until_shown(pilot, "no GPU")
        await press(pilot, "ctrl+s")
        await until_gone(pilot, "Add a machine")
        await until_shown(pilot, "box.yaml. c checks it.")
        await press(pilot, "down", "e")
        await until_shown(pilot, "Edit box")
        await press(pilot, *"gone.test", "tab", *"a b", "ctrl+s")
        await until_shown(pilot, "address: one for each host, or none")
        await press(pilot, "ctrl+u", *"10.0.0.7", "tab", "tab", *"h999", "ctrl+s")
        await until_shown(pilot, "accelerator: no h999")
        await press(pilot, "ctrl+u", "enter", "enter")
        await until_shown(pilot, "Edit box")
        await press(pilot, "enter")
        await until_gone(pilot, "Edit box")
    place = place_of(workspace.catalog, "box")
    assert place == (workspace.catalog / "hardware" / "box.yaml", 1)
    (node,) = load_catalog(workspace.catalog).hardware["box"].nodes
    assert (node.host, node.address) == ("gone.test", "10.0.0.7")


async def test_the_palette_adds_a_machine_from_any_screen(workspace: WorkspacePaths):
    async with driving(workspace) as pilot:
        await press(pilot, "ctrl+p", *"add machine")
        await until_shown(pilot, "Machines: Add machine  (6 n)")
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, MachineForm))


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (MachineEntry("local"), "local: there is an entry of this name"),
        (MachineEntry("box", "box.test", accelerator="h999"), "accelerator"),
        (MachineEntry("box", "box.test", gpus="many"), "gpus_per_node"),
        (MachineEntry("box", "-oProxyCommand=x"), "host"),
    ],
)
def test_a_mistake_in_an_entry_is_said_and_nothing_is_written(
    workspace: WorkspacePaths, entry: MachineEntry, problem: str
):
    assert problem in write_entry(workspace, load_catalog(workspace.catalog), entry)
    assert not workspace.catalog.exists()


def test_a_new_entry_takes_no_file_that_holds_one_with_a_mistake(workspace: WorkspacePaths):
    file = workspace.catalog / "hardware" / "box.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("{id: box, title: Box, nodes: [{nam: box}]}\n")
    catalog = load_catalog(workspace.catalog, complain=lambda _problem: None)
    problem = write_entry(workspace, catalog, MachineEntry("box"))
    assert problem == "catalog/hardware/box.yaml: there is a file of this name"
    assert "nam: box" in file.read_text()


OWN = """\
# of our group
- id: pair
  title: Pair  # in the cellar
  accelerator: h100-sxm
  nodes:
    - {name: a, host: a.test}
    - name: b
      host: b.test
      user: wang
- {id: other, title: Other, nodes: [{name: other, transport: local}]}
- {id: mixed, title: Mixed, nodes: [{name: a, transport: local}, {name: b, host: b.test}]}
- {id: twice, title: Twice, nodes: [{name: a, transport: local}, {name: b, transport: local}]}
"""


def _changed(workspace: WorkspacePaths, name: str, **fields: str) -> tuple[str, str]:
    """Change fields of an entry as the form does; return what is wrong and the text of the file."""
    file = workspace.catalog / "hardware.yaml"
    file.parent.mkdir()
    file.write_text(OWN)
    before = MachineEntry.of(load_catalog(workspace.catalog).hardware[name])
    return change_entry(workspace, before, replace(before, **fields)), file.read_text()


def test_what_is_changed_in_the_form_is_changed_in_the_file_alone(workspace: WorkspacePaths):
    problem, text = _changed(workspace, "pair", hosts="a.test:2201 c.test", accelerator="", gpus="8", interface="eth 0")
    assert problem == ""
    assert text == OWN.replace("- id: pair\n", "- id: pair\n  gpus_per_node: 8\n").replace(
        "  accelerator: h100-sxm\n", ""
    ).replace("{name: a, host: a.test}", '{name: a, interface: "eth 0", port: 2201, host: a.test}').replace(
        "- name: b\n      host: b.test\n", '- name: b\n      interface: "eth 0"\n      host: c.test\n'
    )


def test_this_machine_becomes_another_one(workspace: WorkspacePaths):
    problem, text = _changed(workspace, "other", hosts="far", addresses="far.test", user="bench")
    assert problem == ""
    assert "[{name: other, user: bench, address: far.test, host: far}]" in text


@pytest.mark.parametrize(
    ("name", "fields", "words"),
    [
        ("pair", {"accelerator": "h999"}, "accelerator"),
        ("pair", {"gpus": "many"}, "gpus_per_node"),
        ("pair", {"hosts": "a.test"}, "in the file"),
        ("pair", {"hosts": "a.test -oProxyCommand=x"}, "host"),
        ("mixed", {"hosts": "c.test"}, "in the file"),
        ("mixed", {"hosts": "a.test c.test"}, "in the file"),
        ("twice", {"user": "wang"}, "in the file"),
    ],
)
def test_a_mistake_in_a_changed_entry_is_said_and_the_file_stays(
    workspace: WorkspacePaths, name: str, fields: dict[str, str], words: str
):
    problem, text = _changed(workspace, name, **fields)
    assert words in problem
    assert text == OWN


def test_machines_of_a_cluster_have_names_of_their_own():
    typed = MachineEntry("box", "127.0.0.1:2201 127.0.0.1:2202", user="bench")
    assert typed.document()["nodes"] == [
        {"name": f"box-{number}", "host": "127.0.0.1", "port": 2200 + number, "user": "bench"} for number in (1, 2)
    ]
    assert [node["name"] for node in MachineEntry("box", "a b").nodes] == ["a", "b"]
    assert [node["name"] for node in MachineEntry("box", "a").nodes] == ["box"]


def test_gpus_are_known_by_the_name_that_their_driver_gives():
    catalog = load_catalog()
    found = accelerator_of(catalog, ["NVIDIA H100 80GB HBM3"])
    assert found is not None
    assert found.startswith("h100")
    assert accelerator_of(catalog, ["Unknown 3000"]) is None


def test_an_entry_is_found_in_a_file_of_several(tmp_path: Path):
    file = tmp_path / "hardware.yaml"
    file.write_text("- id: a\n  nodes: []\n\n- title: B\n  id: 'b'  # second\n")
    assert place_of(tmp_path, "b") == (file, 5)
    assert place_of(tmp_path, "c") is None
