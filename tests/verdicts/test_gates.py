"""``dlperf baseline`` and ``dlperf run --gate``, as a person or a CI job calls them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dlperf.cli import main
from dlperf.cli.verdicts.deciding import Deciding, budget_of
from dlperf.plan import PlannedMetric
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import State
from dlperf.verdicts.baselines import judge_reference, read_baseline
from dlperf.verdicts.inference.verdict import Variation
from dlperf.verdicts.variation import Known
from handmade_trials import end_trial, measured_campaign, planned, workspace_in, write_planned

NAME = "here_numpy_lenet5_fp32_bs4_1n1g"
METRICS = (
    PlannedMetric("throughput", "images/s", estimator="protocol"),
    PlannedMetric("step_time", "s", "lower", estimator="step_time"),
)
STEADY = [100.0, 100.1, 99.9, 100.0, 100.0]


@pytest.fixture(scope="module")
def _campaigns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = workspace_in(tmp_path_factory.mktemp("kept") / "w")
    rates = {"first": STEADY, "equal": STEADY[::-1], "slower": [value / 2 for value in STEADY], "few": [100.0, 100.0]}
    for name, values in rates.items():
        plan = replace(planned(1, repeats=len(values)), metrics=METRICS)
        measured_campaign(workspace, name, [(plan, values)], {"n0/environment.json": '{"boot_id": "b"}'})
    return workspace.root


@pytest.fixture
def workspace(_campaigns: Path, tmp_path: Path) -> WorkspacePaths:
    return WorkspacePaths(Path(shutil.copytree(_campaigns, tmp_path / "w")))


Run = Callable[..., tuple[str, str]]


@pytest.fixture
def run(workspace: WorkspacePaths, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run ``dlperf`` with these words, which must end with this code; what it printed."""

    def command(*words: str, code: int = 0) -> tuple[str, str]:
        with pytest.raises(SystemExit) as leaving:
            main(["--workspace", str(workspace.root), *words])
        captured = capsys.readouterr()
        assert leaving.value.code == code, captured
        return captured.out, captured.err

    return command


@pytest.fixture
def main_baseline(run: Run) -> None:
    run("baseline", "save", "main", "--campaign", "first")


@pytest.mark.usefixtures("main_baseline")
def test_a_baseline_holds_values_with_the_loss_that_a_gate_finds(run: Run, workspace: WorkspacePaths):
    out, _ = run("baseline", "show", "main", "--json")
    (item,) = json.loads(out)["references"]
    assert (item["result"]["value"], item["known"]) == (100.0, {"campaigns": None, "machines": None})
    assert item["loss"] == pytest.approx(0.0104, abs=1e-3)
    assert run("baseline", "show")[0] == "main\n"
    assert NAME in run("baseline", "show", "main")[0]
    run("baseline", "save", "main", "--campaign", "slower", "--replace")
    assert json.loads(workspace.baseline("main").read_text())["references"][0]["result"]["value"] == 50.0


@pytest.mark.usefixtures("main_baseline")
def test_trials_that_fail_give_a_gate_no_third_look(workspace: WorkspacePaths):
    (reference,) = read_baseline(workspace, "main").references
    reference = replace(reference, known=Known(campaigns=Variation(0.0005, 20)))
    trial = reference.result.usable_trials[0]
    varied = [replace(trial, value=99.2 + 1.6 * (number % 2)) for number in range(10)]
    rows = [replace(reference.result, campaign="few", trials=tuple(varied[:count])) for count in (4, 5, 9)]
    judged = iter([judge_reference(reference, row) for row in rows])
    deciding = Deciding(workspace.campaign("few"), lambda: [next(judged)], budget_of(None))
    assert [len(deciding()) for _ in rows] == [6, 5, 0], "the second look is the last, one trial short"
    assert deciding.found[0].outcome == "cannot_tell"


@pytest.mark.usefixtures("main_baseline")
def test_a_worse_campaign_fails_with_the_statistics_also_in_the_files_for_ci(run: Run, tmp_path: Path):
    folder = tmp_path / "ci"
    out, err = run("baseline", "compare", "main", "slower", "--ci", str(folder), code=1)
    assert "worse: -50.00 % (-" in out
    assert "gate failed: 1 of 1 worse than baseline main or missing" in err
    suite = ElementTree.parse(folder / "junit.xml").getroot()
    assert suite.get("failures") == "1"
    assert [item.get("type") for item in suite.iter("failure")] == ["worse"]
    assert (folder / "summary.md").read_text().startswith("<!-- dlperf -->\n### ❌ dlperf: 1 of 1 worse")
    assert "1 of 1 worse" in "".join(ElementTree.parse(folder / "badge.svg").getroot().itertext())
    (item,) = json.loads(run("baseline", "compare", "main", "slower", "--json", code=1)[0])
    assert (item["outcome"], item["failed"], round(item["difference"], 2)) == ("worse", True, -0.5)
    assert item["assumed"] is ("campaigns are assumed to differ as much as trials" in err) is True


@pytest.mark.usefixtures("main_baseline")
def test_what_cannot_be_told_has_a_code_and_a_kind_of_its_own(run: Run, tmp_path: Path):
    out, err = run("baseline", "compare", "main", "few", "--ci", str(tmp_path), code=4)
    assert "cannot tell: " in out
    assert "gate open: 0 of 1 worse than baseline main or missing, 1 cannot be told" in err
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert (suite.get("failures"), suite.get("errors")) == ("0", "1")
    assert [item.get("type") for item in suite.iter("error")] == ["cannot_tell"]
    assert "1 of 1 open" in "".join(ElementTree.parse(tmp_path / "badge.svg").getroot().itertext())
    assert (tmp_path / "summary.md").read_text().startswith("<!-- dlperf -->\n### ❔ dlperf: 0 of 1 worse")


@pytest.mark.usefixtures("main_baseline")
def test_an_equal_campaign_passes(run: Run, tmp_path: Path):
    out, _ = run("baseline", "compare", "main", "equal", "--ci", str(tmp_path))
    assert "same: +0.00 % (-" in out
    assert "1 passed" in (tmp_path / "badge.svg").read_text()


@pytest.mark.usefixtures("main_baseline")
def test_what_was_not_measured_fails_and_its_output_breaks_no_file(run: Run, workspace: WorkspacePaths, tmp_path: Path):
    plan = planned(1, repeats=1)
    failed = write_planned(workspace, "failed", [plan])
    cause = 'exit code 7; last output: \x1b[31m<b>&"]]>\x00'
    end_trial(failed, plan, 1, {"n0/out.log": "nothing\n"}, State.FAILED, cause)
    out, _ = run("baseline", "compare", "main", "failed", "--ci", str(tmp_path), code=1)
    assert "exit code 7" in out
    (failure,) = ElementTree.parse(tmp_path / "junit.xml").getroot().iter("failure")
    assert '<b>&"]]>' in (failure.get("message") or "")
    assert "<b>" not in (tmp_path / "summary.md").read_text()
    measured_campaign(workspace, "others", [(planned(2, repeats=1), [190.0])])
    assert "not run" in run("baseline", "compare", "main", "others", code=1)[0]


@pytest.mark.usefixtures("main_baseline")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "--gate", "mian"), "no baseline 'mian' (did you mean main?): `dlperf baseline save` makes one"),
        (("run", "--gate", "main", "--detach"), "leave out --detach"),
        (("run", "-f", "numpy", "--ci", "x"), "--ci: add --gate"),
        (("run", "--gate", "main", "--ci", f"{__file__}/ci"), f"{__file__} is no folder: name another"),
        (("baseline", "trend", "first", "--ci", f"{__file__}/ci"), f"{__file__} is no folder: name another"),
        (("run", "--gate", "main"), "unknown hardware 'here'"),
        (("run", "-H", "local", "-f", "numpy", "--gate", "main"), "baseline 'main' has none of these configurations"),
        (("results", "--status", "mesured"), "--status mesured: no such status (did you mean measured?)"),
        (("verify", "--logs", "nowhere"), "nowhere: there is no such file or folder"),
        (("results", "-H", "her"), "--hardware her: neither measured nor in the catalogue (did you mean here?)"),
        (("results", "--csv", f"{__file__}/a.csv"), f"no such folder: make {__file__}, or name another file"),
        (("results", "--parquet", "."), "--parquet .: is a folder: name a file in it"),
        (("compare", "first", "equal", "--allow-missing"), "--allow-missing: add --fail-below RATIO"),
        (("baseline", "save", "-x"), "No such option"),
        (("baseline", "save", "..", "--campaign", "first"), "begins with no dot"),
        (("baseline", "save", "main", "--campaign", "first"), "exists: choose another name, or pass --replace"),
        (("baseline", "save", "other", "-b", "64"), "no measured result is selected"),
        (("baseline", "save", "other", "--campaign", "frist"), "--campaign frist: no such campaign"),
        (("baseline", "save", "other", "-H", "h2000"), "--hardware h2000: neither measured nor in the catalogue"),
        (
            ("baseline", "save", "other", "--campaign", "few"),
            "2 trials, and a baseline needs 5: run it with",
        ),
    ],
)
def test_a_wrong_use_is_said_in_one_line(run: Run, words: tuple[str, ...], said: str):
    _, err = run(*words, code=2)
    assert said in err
    assert len(err.splitlines()) == 1


def test_a_damaged_baseline_is_named(run: Run, workspace: WorkspacePaths):
    workspace.baselines.mkdir()
    workspace.baseline("main").write_text("{}")
    assert "main.json: not a Baseline" in run("baseline", "show", "main", code=1)[1]


@pytest.mark.usefixtures("main_baseline")
def test_another_metric_is_judged_by_its_direction(run: Run):
    run("baseline", "save", "steps", "--campaign", "first", "--metric", "step_time")
    out, _ = run("baseline", "compare", "steps", "slower", code=1)
    assert "worse: +100" in out


def test_a_campaign_is_judged_by_its_history(run: Run, tmp_path: Path):
    out, err = run("baseline", "trend", "slower", "--ci", str(tmp_path / "ci"), code=4)
    assert "14 campaigns are needed to see a trend, not 4" in out
    assert "gate open: 0 of 1 worse than the last 30 campaigns or missing, 1 cannot be told" in err
    assert "14 campaigns are needed" in (tmp_path / "ci" / "junit.xml").read_text()
    run("baseline", "trend", "slower", "--last", "13", code=2)
