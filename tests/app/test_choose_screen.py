"""Choosing: marks, greyed entries with their reason, filter, the live plan, script, check and start."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from driving import driving, press, screen_of, shown, until_gone, until_shown
from textual import events

from dlperf.app.dialogs.pages import check_rows
from dlperf.app.model.choice import Choice, arguments_of, choice_of, command_line, problem_of_value
from dlperf.app.model.options import options_of
from dlperf.app.model.planned import estimate, plan_lines
from dlperf.app.presets import save_preset
from dlperf.app.screens.choose import ChooseScreen
from dlperf.app.screens.plan_actions import check_words
from dlperf.catalog.files.load import Catalog, load_catalog
from dlperf.cli.machines import check_document
from dlperf.errors import DlperfError
from dlperf.executors.base import CheckItem
from dlperf.messages import quoted
from dlperf.plan import Selection, expand
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.store import read_campaign

CATALOG = load_catalog()
MINE = "id: mine\ntitle: Mine\ngpus_per_node: 1\nnodes: [{name: mine, address: localhost}]\n"


def reasons(choice: Choice, axis: str, catalog: Catalog = CATALOG) -> dict[str, str]:
    return {option.value: option.reason for option in options_of(catalog, choice)[axis]}


def test_before_anything_is_marked_only_what_no_machine_here_can_run_is_greyed():
    assert set(reasons(Choice(), "cases").values()) == {""}
    found = reasons(Choice(), "frameworks")
    assert found["numpy"] == ""
    assert found["plsc"] == "plsc computes on gpu, local is a cpu machine"
    assert reasons(Choice({"hardware": ("dlperf-v100",)}), "frameworks")["plsc"] == ""


def test_a_framework_that_cannot_compute_on_the_hardware_is_greyed():
    found = reasons(Choice({"hardware": ("local",)}), "frameworks")
    assert found["numpy"] == ""
    assert found["paddleclas"] == "paddleclas computes on gpu, local is a cpu machine"


def test_a_case_without_a_recipe_in_the_framework_is_greyed():
    found = reasons(Choice({"frameworks": ("numpy",)}), "cases")
    assert found["lenet5"] == ""
    assert found["resnet50"] == "numpy has no recipe for resnet50 (it has lenet5)"


def test_a_machine_for_which_the_framework_does_not_compute_is_greyed():
    found = reasons(Choice({"frameworks": ("plsc",)}), "hardware")
    assert found["local"] == "plsc computes on gpu, local is a cpu machine"
    assert found["dlperf-v100"] == ""


def test_precisions_and_scales_that_no_chosen_recipe_offers_are_greyed():
    choice = Choice({"hardware": ("local",), "frameworks": ("numpy",)})
    assert reasons(choice, "precisions")["fp32"] == ""
    assert reasons(choice, "precisions")["amp"] == "numpy offers lenet5 in fp32, not in amp"
    wide = Choice({"hardware": ("perf-a100",), "frameworks": ("pytorch",), "scales": ("4n8g",)})
    assert reasons(wide, "scales")["4n8g"] == "perf-a100 has 1 node(s) with 8 GPU(s) each, 4n8g needs more"
    assert reasons(wide, "scales")["1n8g"] == ""


def test_a_batch_size_that_was_asked_for_is_listed_though_the_case_does_not_offer_it():
    choice = Choice({"frameworks": ("pytorch",), "cases": ("resnet50",), "batch_sizes": ("1000",)})
    assert reasons(choice, "batch_sizes")["1000"] == ""
    marks = {"hardware": ("perf-v100",), "frameworks": ("paddleclas",), "cases": ("resnet50",)}
    picky = reasons(Choice(marks | {"batch_sizes": ("1000",)}), "batch_sizes")["1000"]
    assert picky == "paddleclas offers resnet50 with batch size 64, 128, 256, not 1000"


def test_a_choice_is_a_selection_and_a_command_line():
    selection = Selection(("local",), ("numpy",), ("lenet5",), ("fp32",), (64, 128), ("1n1g",), 3, "quick")
    choice = choice_of(selection)
    assert choice.selection() == selection
    words = ["run", *arguments_of(choice)]
    assert command_line(words) == (
        "dlperf run --hardware local --framework numpy --case lenet5 --precision fp32 --batch-size 64,128 --gpus 1n1g "
        "--repeats 3 --protocol quick"
    )


def test_the_time_a_plan_takes_is_that_of_its_slowest_machine():
    plan = expand(Selection(("local",), ("numpy",), ("lenet5",), batch_sizes=(64, 128), repeats=2), CATALOG)
    known, unknown = (item.configuration.id for item in plan.configurations)
    assert estimate(plan.configurations, {}).unknown == 2
    assert estimate(plan.configurations, {known: 10.0, unknown: 20.0}).seconds == 60.0
    by_kind = estimate(plan.configurations, {known: 10.0})
    assert (by_kind.seconds, by_kind.unknown) == (40.0, 0)


def test_the_trials_of_a_large_plan_are_counted_with_separators():
    plan = expand(Selection(("local",), ("numpy",), ("lenet5",), batch_sizes=(64, 128), repeats=541), CATALOG)
    assert plan_lines(plan, {})[0] == "configurations: 2  trials: 1,084  on local"


def test_a_plan_says_what_it_leaves_out():
    plan = expand(Selection(("local", "perf-v100"), ("pytorch",), ("resnet50",), scales=("1n1g", "4n8g")), CATALOG)
    lines = "\n".join(plan_lines(plan, {}))
    assert "impossible, left out" in lines
    assert "on machines that are not here: to look at, not to run" in lines


def test_what_a_check_says_becomes_rows():
    reached = CheckItem("a", "reachable", True, quoted("0.4 ms"), hardware="h200")
    busy = CheckItem("b", "gpu_idle", False, quoted("5 processes\x1b[2J of others"))
    documents = [check_document(item) for item in (reached, busy)]
    rows = list(check_rows(json.dumps(documents)).values())
    assert [row.cells[3] for row in rows] == ["ok", "NOT READY"]
    assert rows[1].cells[4] == "5 processes of others"
    assert rows[0].cells[1] == "h200"
    assert check_rows("no json") == {}


def test_a_check_starts_the_marked_frameworks_on_the_machines_of_the_plan():
    marked = Choice({"hardware": ("local",), "frameworks": ("numpy",), "cases": ("lenet5",), "batch_sizes": ("64",)})
    words = ["check", "--hardware", "local", "--framework", "numpy", "--case", "lenet5", "--json"]
    assert check_words(expand(marked.selection(), CATALOG), marked) == words
    machines = Choice({"hardware": ("local",)})
    assert check_words(expand(machines.selection(), CATALOG), machines) == ["check", "--hardware", "local", "--json"]


async def test_a_value_that_no_list_offers_is_typed(workspace: WorkspacePaths):
    async with driving(workspace, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        await press(pilot, "space", "tab", "tab", "tab", "tab", "a", *"96", "enter")
        await until_shown(pilot, "[x] 96", "--batch-size 96")
        await press(pilot, "a", *"many", "enter")
        await until_shown(pilot, "many: a batch size is a whole number from 1 on")
        await press(pilot, "equals_sign", *"7", "enter")
        await until_shown(pilot, "repeats 7", "--repeats 7")


@pytest.mark.parametrize(
    ("axis", "text", "problem"),
    [
        ("batch_sizes", "96", ""),
        ("batch_sizes", "0", "0: a batch size is a whole number from 1 on"),
        ("scales", "2n8g", ""),
        ("scales", "two", "invalid scale 'two'"),
        ("axes", "sequence_length=4096", ""),
        ("axes", "4096", "4096: an axis and its value"),
        ("cases", "a,b", "a,b: one value, without commas and blanks"),
    ],
)
def test_a_typed_value_is_checked(axis: str, text: str, problem: str):
    found = problem_of_value(axis, text)
    assert found.startswith(problem)
    assert bool(found) == bool(problem)


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


def test_own_machines_come_first_and_those_of_reports_last(tmp_path: Path):
    (tmp_path / "hardware.yaml").write_text(MINE)
    options = options_of(load_catalog(tmp_path), Choice())["hardware"]
    published = [option.example for option in options]
    assert [option.value for option in options[:2]] == ["mine", "local"]
    assert published == sorted(published)


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
