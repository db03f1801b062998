"""Presets on the Choose screen: of the reports, of the user and of the last campaign."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from builder import clock, finished_campaign
from driving import driving, press, screen_of, shown, until_shown

from dlperf.app.model.choice import PRESETS, Choice, Preset, can_be_chosen, choice_of
from dlperf.app.presets import save_preset
from dlperf.app.screens.choose import ChooseScreen
from dlperf.catalog.files.load import load_catalog
from dlperf.plan import Selection, expand
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import CampaignRecord
from dlperf.runs.store import write_campaign

HARDWARE_OF_REPORTS = ("local", "perf-v100-4nodes", "dlperf-v100", "fleetx-v100")


@pytest.mark.parametrize(
    ("preset", "hardware"),
    list(zip(PRESETS, HARDWARE_OF_REPORTS, strict=True)),
    ids=[preset.name for preset in PRESETS],
)
def test_a_preset_names_what_the_catalogue_has(preset: Preset, hardware: str):
    choice = preset.applied(Choice({"hardware": (hardware,)}))
    assert expand(choice.selection(), load_catalog()).configurations


async def test_a_preset_marks_a_whole_report(workspace: WorkspacePaths):
    finished_campaign(workspace, "before")
    async with driving(workspace) as pilot:
        await until_shown(pilot, "3 ✓")
        await pilot.press("2")
        await until_shown(pilot, "[ ] local")
        await pilot.press("p")
        await until_shown(pilot, "quickstart", "ResNet50 V1.5", "PLSC ArcFace", "VGG16", "last campaign", "before")
        await pilot.press("enter")
        await until_shown(pilot, "[x] numpy", "[x] lenet5", "configurations: 2", "trials: 6")


async def test_a_preset_brings_its_marks_into_view(workspace: WorkspacePaths):
    save_preset(workspace, "mine", "--framework tensorflow")
    async with driving(workspace, size=(120, 24), start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        assert "] tensorflow" not in shown(pilot)
        await press(pilot, "p", "enter")
        await until_shown(pilot, "[x] tensorflow")


async def test_the_last_campaign_is_a_preset_though_no_case_was_marked(workspace: WorkspacePaths):
    write_campaign(
        workspace.campaign("numbers"),
        CampaignRecord("numbers", "0a1b2c3d", clock(0), "0.1.0", Selection(("local",), ("numpy",)), (), ()),
    )
    async with driving(workspace, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        await press(pilot, "p")
        await until_shown(pilot, "last campaign")
        await press(pilot, "end", "enter")
        await until_shown(pilot, "[x] local", "[x] numpy")


async def test_the_last_campaign_is_repeated_exactly_and_its_name_is_not_translated(workspace: WorkspacePaths):
    selection = Selection((), ("numpy",), ("lenet5",))
    write_campaign(
        workspace.campaign("running"), CampaignRecord("running", "0a1b2c3d", clock(0), "0.1.0", selection, (), ())
    )
    async with driving(workspace, language="zh", start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        await press(pilot, "space")
        await until_shown(pilot, "[x] local")
        await press(pilot, "p", "end")
        await until_shown(pilot, "running")
        await press(pilot, "enter")
        await until_shown(pilot, "[ ] local", "[x] numpy")


def test_what_cannot_be_marked_is_not_repeated_without_it():
    whole = Selection(("local",), ("numpy",), batch_sizes=(64,), axes=("sequence_length=512",), repeats=2)
    assert can_be_chosen(whole)
    others: tuple[dict[str, Any], ...] = ({"nodes": ("a",)}, {"first_seed": 2}, {"profile": True})
    for more in others:
        assert not can_be_chosen(replace(whole, **more))


async def test_a_preset_that_the_user_saved_comes_first_and_marks_the_same_again(workspace: WorkspacePaths):
    choice = choice_of(Selection(("local",), ("numpy",), ("lenet5",), batch_sizes=(64,), protocol="quick", repeats=2))
    async with driving(workspace, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        screen = screen_of(pilot, ChooseScreen)
        assert screen.check_action("save_preset", ()) is None
        screen.choose(choice)
        await press(pilot, "P", *"mine", "enter", "X")
        await until_shown(pilot, "Mark something above")
        await press(pilot, "p")
        await until_shown(pilot, "mine", "--hardware local --framework numpy", "quickstart")
        await press(pilot, "enter")
        await until_shown(pilot, "configurations: 1", "repeats 2", "protocol quick")
        assert screen.choice.selection() == choice.selection()


@pytest.mark.parametrize("text", ["{", "[]", '{"mine": "--color red"}', '{"mine": "--hardware"}', '{"mine": 1}'])
async def test_damaged_presets_are_named_and_not_overwritten(workspace: WorkspacePaths, text: str):
    workspace.presets.write_text(text)
    async with driving(workspace, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        await press(pilot, "space", "P", *"mine", "enter")
        await until_shown(pilot, "delete")  # the last words of the message, whose lines end where its path lets them
        await press(pilot, "p")
        await until_shown(pilot, "quickstart")
    assert workspace.presets.read_text() == text


async def test_where_nothing_is_marked_the_presets_are_offered(workspace: WorkspacePaths):
    save_preset(workspace, "mine", "--hardware local --framework numpy --batch-size 64")
    async with driving(workspace, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local", "mine", "ResNet50 V1.5")
        await press(pilot, "shift+tab", "enter")
        await until_shown(pilot, "[x] local", "configurations: 1")
        await press(pilot, "X")
        await until_shown(pilot, "ResNet50 V1.5")
