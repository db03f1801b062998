"""Gates against baselines, with real trials."""

from __future__ import annotations

import json
import shutil
from xml.etree import ElementTree

import pytest

from counting_workspace import Counting, counting_workspace
from dlperf.cli import main
from dlperf.runs.paths import Workspace

NAME = "local_counting_lenet5_fp32_bs32_1n1g"


@pytest.fixture(scope="module")
def _kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    kept = counting_workspace(folder)
    kept.dlperf("run", "-H", "local", "-f", "counting", "-b", "32", "--repeats", "5", "--name", "first")
    kept.dlperf("baseline", "save", "main", "--campaign", "first")
    return folder


@pytest.fixture
def kept(_kept, tmp_path):
    """A workspace with five trials and the baseline ``main`` of them."""
    shutil.copytree(_kept, tmp_path, dirs_exist_ok=True)
    return Counting(Workspace(tmp_path / "workspace"), tmp_path / "home")


def slow_down(kept: Counting) -> None:
    (script,) = kept.workspace.catalog.rglob("count.sh")
    script.write_text(script.read_text().replace("samples=$((step * $1))", "samples=$((step * $1 / 2))"))


def test_a_baseline_holds_values_with_the_tolerance_that_their_variation_gives(kept):
    (item,) = json.loads(kept.dlperf("baseline", "show", "main", "--json").stdout)["references"]
    assert (item["result"]["value"], item["tolerance"], item["machine_tolerance"]) == (32.0, 0.0, None)
    assert kept.dlperf("baseline", "show").stdout == "main\n"
    assert NAME in kept.dlperf("baseline", "show", "main").stdout
    refused = kept.dlperf("baseline", "save", "main", "--campaign", "first", code=2)
    assert "main.json exists: choose another name, or pass --replace" in refused.stderr


def test_a_gate_runs_what_its_baseline_holds_and_fails_with_the_statistics(kept):
    slow_down(kept)
    folder = kept.home / "ci"
    done = kept.dlperf("run", "--gate", "main", "--ci", str(folder), "--name", "second", "--yes", code=1)
    assert "slower: -50.00% (p = 0.008)" in done.stdout
    assert "gate failed: 1 of 1 worse than baseline main or missing" in done.stderr
    suite = ElementTree.parse(folder / "junit.xml").getroot()
    assert suite.get("failures") == "1"
    assert [item.get("message") for item in suite.iter("failure")] == ["slower: -50.00% (p = 0.008)"]
    assert (folder / "summary.md").read_text().startswith("<!-- dlperf -->\n### ❌ dlperf: 1 of 1 worse")
    assert "1 of 1 worse" in "".join(ElementTree.parse(folder / "badge.svg").getroot().itertext())
    again = kept.dlperf("baseline", "compare", "main", "second", "--json", code=1)
    assert [item["failed"] for item in json.loads(again.stdout)] == [True]


def test_an_equal_result_passes(kept):
    done = kept.dlperf("baseline", "compare", "main", "first")
    assert "same: +0.00%, no significant difference (p = 1.000)" in done.stdout


def test_a_gate_that_measured_nothing_fails(kept):
    kept.fail(32)
    done = kept.dlperf("run", "--gate", "main", "--repeats", "1", "--yes", code=1)
    assert "gate failed: 1 of 1" in done.stderr
    assert "failed: exit code 7" in done.stdout.splitlines()[-1]
    refused = kept.dlperf("run", "-f", "counting", "-b", "64", "--repeats", "1", "--gate", "main", code=2)
    assert "baseline 'main' has none of these configurations" in refused.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "--gate", "mian"), "no baseline 'mian' (did you mean main?)"),
        (("run", "--gate", "main", "--detach"), "leave out --detach"),
        (("run", "-f", "counting", "--ci", "x"), "--ci: add --gate"),
        (("baseline", "save", "-x"), "No such option"),
        (("baseline", "save", "..", "--campaign", "first"), "begins with no dot"),
        (("baseline", "save", "other", "-b", "64"), "no measured result is selected"),
    ],
)
def test_a_wrong_use_is_said_in_one_line(kept, capsys, words, said):
    with pytest.raises(SystemExit) as leaving:
        main(["--workspace", str(kept.workspace.root), *words])
    errors = capsys.readouterr().err
    assert leaving.value.code == 2
    assert said in errors
    assert len(errors.splitlines()) == 1


def test_too_few_trials_make_no_baseline(measured):
    refused = measured.dlperf("baseline", "save", "main", code=2)
    assert "1 trials, and a baseline needs 5: run it with --repeats 5 or more" in refused.stderr


def test_a_damaged_baseline_is_named(kept):
    kept.workspace.baseline("main").write_text("{}")
    assert "main.json: not a Baseline" in kept.dlperf("baseline", "show", "main", code=1).stderr
