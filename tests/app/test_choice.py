"""What may be chosen, greyed entries with their reason, and what a plan says; without a screen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builder import MINE

from dlperf.app.dialogs.pages import check_rows
from dlperf.app.model.choice import Choice, arguments_of, choice_of, command_line, problem_of_value
from dlperf.app.model.options import options_of
from dlperf.app.model.planned import estimate, plan_lines
from dlperf.app.screens.plan_actions import check_words
from dlperf.catalog.files.load import Catalog, load_catalog
from dlperf.cli.machines.checking import check_document
from dlperf.executors.base import CheckItem
from dlperf.messages import quoted
from dlperf.plan import Selection, expand

CATALOG = load_catalog()


def reasons(choice: Choice, axis: str, catalog: Catalog = CATALOG) -> dict[str, str]:
    return {option.value: option.reason for option in options_of(catalog, choice)[axis]}


def test_before_anything_is_marked_only_what_no_machine_here_can_run_is_greyed():
    assert set(reasons(Choice(), "cases").values()) == {""}
    found = reasons(Choice(), "frameworks")
    assert found["numpy"] == ""
    assert found["plsc"] == "h200 does not say where plsc lies (write `data: {plsc: /path}` in its entry)"
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


def test_own_machines_come_first_and_those_of_reports_last(tmp_path: Path):
    (tmp_path / "hardware.yaml").write_text(MINE)
    options = options_of(load_catalog(tmp_path), Choice())["hardware"]
    published = [option.example for option in options]
    assert [option.value for option in options[:2]] == ["mine", "local"]
    assert published == sorted(published)
