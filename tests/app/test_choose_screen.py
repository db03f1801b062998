"""Choosing: marks, filter, the live plan, script, check and start."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from builder import MINE
from driving import driving, press, screen_of, shown, until_gone, until_shown
from textual import events

from dlperf.app.model.choice import Choice
from dlperf.app.presets import save_preset
from dlperf.app.screens.choose import ChooseScreen
from dlperf.errors import DlperfError
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.store import read_campaign


async def test_a_value_that_no_list_offers_is_typed(workspace: WorkspacePaths):
    async with driving(workspace, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        await press(pilot, "space", "tab", "tab", "tab", "tab", "a", *"96", "enter")
        await until_shown(pilot, "[x] 96", "--batch-size 96")
        await press(pilot, "a", *"many", "enter")
        await until_shown(pilot, "many: a batch size is a whole number from 1 on")
        await press(pilot, "equals_sign", *"7", "enter")
        await until_shown(pilot, "repeats 7", "--repeats 7")


async def test_marking_greys_what_does_not_fit_and_changes_the_plan(workspace: WorkspacePaths):
    async with driving(workspace, size=(120, 80), start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local", "Mark something above")
        await pilot.press("space")
        await until_shown(pilot, "[x] local", " -  ngc-tensorflow", "[ ] numpy", "dlperf run --hardware local")
        await pilot.press("tab", "slash", *"paddleclas", "enter")
        await until_shown(pilot, "computes on gpu, local is a cpu machine")
        await pilot.press("slash", *"nump", "enter")
        await until_gone(pilot, "paddleclas")
        await pilot.press("space")
        await until_shown(pilot, "[x] numpy", "configurations: 4", "trials: 32", "on local", "lenet5")


async def test_what_a_filter_leaves_is_in_view(workspace: WorkspacePaths):
    async with driving(workspace, size=(80, 24), start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        await press(pilot, "space", "right", "end", "slash", *"pytorch", "enter")
        await until_shown(pilot, "─Frameworks /pytorch", "[ ] pytorch · stock")
        await press(pilot, "X", "p", "enter")
        await until_shown(pilot, "─Frameworks──", "[x] numpy")


async def test_a_greyed_entry_cannot_be_marked(workspace: WorkspacePaths):
    async with driving(workspace, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        await press(pilot, "space", "tab", "slash", *"torchtitan", "enter")
        await until_shown(pilot, "✗ torchtitan computes on gpu")
        await pilot.press("space")
        assert screen_of(pilot, ChooseScreen).choice.values("frameworks") == ()


async def test_repeats_are_changed_with_two_keys(workspace: WorkspacePaths):
    async with driving(workspace, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        await pilot.press("p")
        await until_shown(pilot, "quickstart")
        await pilot.press("enter")
        await until_shown(pilot, "repeats 3", "trials: 6")
        await pilot.press("plus")
        await until_shown(pilot, "repeats 4", "trials: 8")
        await pilot.press("minus", "minus")
        await until_shown(pilot, "repeats 2", "trials: 4")


async def test_the_exact_script_is_read_before_anything_runs(workspace: WorkspacePaths):
    async with driving(workspace, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        await pilot.press("p")
        await until_shown(pilot, "quickstart")
        await pilot.press("enter")
        await until_shown(pilot, "configurations: 2")
        await pilot.press("v")
        await until_shown(pilot, "lenet_numpy.py", "launch.sh", "DLPERF_TRIAL")
        await pilot.press("escape")
        await until_gone(pilot, "DLPERF_TRIAL")


async def test_starting_asks_and_says_why_it_did_not_start(workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch):
    def refuse(_workspace: WorkspacePaths, _paths: CampaignPaths) -> int:
        raise DlperfError("no room on the disk")

    monkeypatch.setattr("dlperf.view.start.start_detached", refuse)
    async with driving(workspace, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        assert pilot.app.screen.check_action("start", ()) is None
        await pilot.press("p")
        await until_shown(pilot, "quickstart")
        await pilot.press("enter")
        await until_shown(pilot, "configurations: 2")
        await pilot.press("s")
        await until_shown(pilot, "Start this campaign?", "2026-05-04-120400-numpy-lenet5")
        await pilot.press("y")
        await until_shown(pilot, "no room on the disk")
    (paths,) = workspace.campaigns()
    assert paths.name == "2026-05-04-120400-numpy-lenet5"
    assert read_campaign(paths).selection.frameworks == ("numpy",)


async def test_keys_sent_together_all_go_to_the_question(workspace: WorkspacePaths):
    async with driving(workspace, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        await press(pilot, "p", "enter")
        await until_shown(pilot, "configurations: 2")
        for key in "sy":
            pilot.app.post_message(events.Key(key, key))
        await until_shown(pilot, "Start this campaign?")
        assert pilot.app.clipboard == ""


async def test_a_mistake_in_the_catalogue_is_shown_until_it_is_corrected_and_the_rest_can_be_chosen(
    workspace: WorkspacePaths,
):
    (workspace.catalog / "hardware").mkdir(parents=True)
    (workspace.catalog / "hardware" / "mine.yaml").write_text("id: mine\ntitel: Mine\n")
    async with driving(workspace, start_screen="choose") as pilot:
        await until_shown(pilot, "The catalogue has mistakes", "mine.yaml", "This machine")
        assert "local" in pilot.app.screen._options["hardware"][0].value
        (workspace.catalog / "hardware" / "mine.yaml").write_text(MINE)
        await until_shown(pilot, "[ ] mine")
        await until_gone(pilot, "The catalogue has mistakes")


@pytest.fixture
def _four_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine has what the built-in h200 describes."""
    monkeypatch.setattr("dlperf.view.here.gpus_here", lambda: dict.fromkeys(range(4), "NVIDIA H200"))


@pytest.mark.usefixtures("_four_gpus")
async def test_a_narrow_window_shows_one_list_and_a_wide_one_cuts_no_entry(workspace: WorkspacePaths):
    async with driving(workspace, size=(80, 24), start_screen="choose") as pilot:
        await until_shown(pilot, "[Hardware]  Frameworks  Cases", "[ ] local")
        screen_of(pilot, ChooseScreen).choose(Choice({"cases": ("llama3-8b",)}))
        await until_shown(pilot, "[Hardware]  Frameworks  Cases 1", "Axes")
        assert "sequence_length" not in shown(pilot)
        await pilot.resize_terminal(200, 60)
        await until_shown(pilot, "[ ] pytorch-compiled", "[ ] bf16-pure", "[ ] sequence_length=8192")


@pytest.mark.usefixtures("_four_gpus")
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_every_list_is_reached_with_tab(workspace: WorkspacePaths, size: tuple[int, int]):
    async with driving(workspace, size=size, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        screen_of(pilot, ChooseScreen).choose(Choice({"cases": ("llama3-8b",)}))
        seen = []
        for _ in range(8):
            focused = pilot.app.screen.focused
            seen.append(focused.id if focused else None)
            await pilot.press("tab")
        assert seen == ["hardware", "frameworks", "cases", "precisions", "batch_sizes", "scales", "axes", "plan"]


def test_the_program_loads_nothing_that_reaches_machines_or_frames(tmp_path: Path):
    import subprocess

    code = (
        "import sys; import dlperf.app.app, dlperf.app.command_line, dlperf.app.screens.choose, "
        "dlperf.app.screens.watch, dlperf.app.screens.trial, dlperf.app.screens.results, dlperf.app.screens.publish, "
        "dlperf.table.load, dlperf.render.preview; "
        "print([name for name in ('asyncssh', 'pandas', 'mkdocs', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_first_picture_needs_neither_pydantic_nor_typer_nor_yaml(workspace: WorkspacePaths):
    import subprocess

    code = (
        "import sys; import dlperf.app.app, dlperf.app.screens.campaigns; "
        "from dlperf.app.command_line import parser, settings_of; "
        f"settings_of(parser().parse_args([{str(workspace.root)!r}, '--frames', '5', '--language', 'zh'])); "
        "print([name for name in ('pydantic', 'typer', 'yaml') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_name_and_protocol_of_a_campaign_are_set_before_it_starts(
    workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("dlperf.view.start.start_detached", lambda _workspace, _paths: 1)
    async with driving(workspace, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        await press(pilot, "p", "enter", "o", "down", "enter", "n", *"first", "enter")
        await until_shown(pilot, "name first (n)", "protocol dlperf (o)")
        await press(pilot, "s")
        await until_shown(pilot, "Start this campaign?", "--protocol dlperf --name first")
        await press(pilot, "y")
        await until_shown(pilot, "first", "engine stopped")
        assert pilot.app.settings.choice.name == ""
    record = read_campaign(workspace.campaign("first"))
    assert {item.protocol.id for item in record.configurations} == {"dlperf"}


@pytest.mark.parametrize(
    ("keys", "most"),
    [("2 p enter s y", 8), ("2 space tab slash n u m p enter space s y", 14)],
    ids=["with a preset", "without"],
)
async def test_few_keys_lead_from_the_start_to_a_running_campaign(
    workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch, keys: str, most: int
):
    monkeypatch.setattr("dlperf.view.start.start_detached", lambda _workspace, _paths: 1)
    save_preset(workspace, "mine", "--hardware local --framework numpy --batch-size 64")
    async with driving(workspace) as pilot:
        await until_shown(pilot, "Nothing has been measured")
        await press(pilot, *keys.split())
        await until_shown(pilot, "2026-05-04-120400-numpy-lenet5", "Trials")
    assert len(workspace.campaigns()) == 1
    assert len(keys.split()) <= most
