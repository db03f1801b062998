"""Damaged files below runs/: commands say one line about each and go on."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace

import pytest

from dlperf.campaign.journal import EngineJournal
from dlperf.cli import main
from dlperf.errors import DlperfError, RequestError
from dlperf.messages import message
from dlperf.plan import Configuration, Impossible, TrialKey
from dlperf.report.load import load_site_data
from dlperf.runs.lookup import find_campaign, find_trial
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import Event, State
from dlperf.runs.store import append_records, read_campaign
from every_reader import cheap, run
from handmade_trials import end_trial, measured_campaign, own_log, planned, workspace_in, write_planned

COMMANDS = (("status",), ("status", "a"), ("status", "a", "--json"), ("results",), ("results", "--json"), ("verify",))


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
DEEP = "[" * 100_000


@pytest.mark.parametrize("name", ["x\ny", "\u202ex", "<b>x", "%67ood", "\udcff"])
def test_a_campaign_whose_folder_has_a_name_that_none_has_is_said_and_left_out(tmp_path, name: str):
    """``%67ood`` would be another campaign ``good``: its values beside the logs of the right one."""
    workspace = workspace_in(tmp_path)
    good = measured_campaign(workspace, "good", [(planned(repeats=1), [100.0])])
    shutil.copytree(good.directory, workspace.runs / name)
    with cheap(one_catalogue=True):
        for command in (("status",), ("results",), ("verify",), ("build-site",)):
            out, err = run(workspace, *command)
            assert "no campaign's folder has this name" in out + err
    assert [row.campaign for row in load_site_data(workspace).results] == ["good"]


@pytest.mark.parametrize("text", [BOMB, DEEP, "!!timestamp x"])
@pytest.mark.parametrize("name", ["a/campaign.json", "published/c/report.yaml"])
def test_a_plan_or_report_that_is_none_is_said_in_one_line_and_all_others_are_shown(tmp_path, capsys, name, text):
    workspace = workspace_in(tmp_path)
    measured_campaign(workspace, "good", [(planned(repeats=1), [100.0])])
    path = workspace.runs / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    path.with_name("figures.csv").touch()
    for command, code in ((("results",), 1), (("status",), 0), (("verify",), 1), (("clean",), 0)):
        if "report" not in name or command == ("results",):
            run_one(workspace, command, code, str(path), capsys)
    (problem,) = load_site_data(workspace).problems
    assert problem.startswith(f"left out: {path}: not a ")


def run_one(workspace: WorkspacePaths, command: tuple[str, ...], code: int, path: str, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--workspace", str(workspace.root), *command])
    printed = capsys.readouterr()
    assert ended.value.code == code
    (line,) = [line for line in printed.err.splitlines() if path in line]
    assert line.startswith("dlperf: ")
    assert "good" in printed.out or command in (("verify",), ("clean",))


@pytest.mark.parametrize("text", [DEEP, '{"files": 1}'])
@pytest.mark.parametrize("name", ["exit.json", "environment.json", "archive.json", "result.json", "timeline.json"])
def test_a_file_of_a_trial_that_is_damaged_leaves_its_throughput(tmp_path, name, text):
    workspace = workspace_in(tmp_path)
    paths = write_planned(workspace, "a", [planned(repeats=1)])
    end_trial(paths, planned(), 1, {"n0/out.log": own_log(100.0)})
    trial = paths.trial(TrialKey(planned().configuration.id, 1))
    (trial.node("n0").directory / name if name[0] == "e" else trial.directory / name).write_text(text)
    for command in COMMANDS:
        run(workspace, *command)
    (row,) = load_site_data(workspace).results
    assert row.value == pytest.approx(100.0)


def test_a_plan_with_a_number_that_no_plan_has_is_refused(tmp_path):
    impossible = Impossible(Configuration("here", "numpy", "lenet5", "bf16", 10**25, 1, 8), message("waiting"))
    paths = write_planned(workspace_in(tmp_path), "a", [planned()], [impossible])
    with pytest.raises(DlperfError, match="a number that is not from 1 to"):
        read_campaign(paths)


def test_a_pipe_in_place_of_a_record_does_not_block(tmp_path):
    workspace = workspace_in(tmp_path)
    paths = measured_campaign(workspace, "a", [(planned(repeats=1), [100.0])])
    trial = paths.trial(TrialKey(planned().configuration.id, 1))
    of_trial = trial.result, trial.job_log, trial.node("n0").telemetry, trial.node("n0").log
    for path in (*of_trial, paths.tags, paths.lock, paths.progress, paths.journal, paths.plan):
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        for command in COMMANDS:
            run(workspace, *command)


@pytest.mark.parametrize(
    "text", [DEEP, BOMB, "[]", '{"name": "x", "references": [{}]}', '{"name": "x", "references": []}']
)
def test_a_baseline_that_is_none_is_said_in_one_line(tmp_path, text):
    workspace = workspace_in(tmp_path)
    measured_campaign(workspace, "a", [(planned(repeats=1), [100.0])])
    workspace.baselines.mkdir()
    workspace.baseline("x").write_text(text)
    for words in (("show",), ("show", "x"), ("compare", "x", "a")):
        run(workspace, *("baseline", *words))
    run(workspace, *("run", "--gate", "x"))


@pytest.mark.parametrize("time", ["x", "", "2026-01-31T12:00:00", "9999-99-99T00:00:00Z"])
def test_a_time_in_a_journal_may_be_none(tmp_path, time):
    workspace = workspace_in(tmp_path)
    paths = measured_campaign(workspace, "a", [(planned(repeats=2), [100.0, 100.0])])
    for number, state in ((1, "running"), (1, "succeeded"), (2, "running")):
        append_records(paths.journal, [Event(time, "state", f"{planned().configuration.id}/{number}", state)])
    for words in (("status",), ("status", "a"), ("results",), ("retry", "a")):
        run(workspace, *words)


def test_a_trial_that_is_to_repeat_itself_ends_nothing(tmp_path):
    workspace = workspace_in(tmp_path)
    paths = measured_campaign(workspace, "a", [(planned(repeats=1), [100.0])])
    key = TrialKey(planned().configuration.id, 7)
    for number in (7, 8, -1, 10**30, "7", {}, True):
        event = Event("2026-01-31T12:00:00Z", "planned", str(key), data={"retry_of": number})
        append_records(paths.journal, [event, replace(event, event="state", state="succeeded")])
        run(workspace, *("results",))


def test_the_log_of_a_campaign_is_that_of_the_latest_of_trials_that_repeat_each_other(tmp_path):
    workspace = workspace_in(tmp_path)
    one = planned(repeats=1)
    paths = write_planned(workspace, "a", [one])
    end_trial(paths, one, 1, {"n0/out.log": "x"}, State.FAILED, "exit code 1")
    end_trial(paths, one, 2, {"n0/out.log": "y"}, retry_of=1)
    assert find_trial(workspace, "a").key.number == 2
    assert find_trial(workspace, "a/1").key.number == 1
    (workspace.runs / "b").mkdir()
    (workspace.runs / "b" / "campaign.json").write_text("{")
    assert find_trial(workspace, one.configuration.id).key.number == 2


@pytest.mark.parametrize("name", [".cache", ".importing", "-rf", "--help"])
def test_a_campaign_is_neither_hidden_nor_named_like_an_option(tmp_path, name):
    with pytest.raises(RequestError, match="is not blank and begins with no dot or hyphen"):
        workspace_in(tmp_path).new_campaign(name)


def test_a_name_of_many_chinese_characters_is_one(tmp_path):
    assert workspace_in(tmp_path).new_campaign("基线" * 30).directory.name == "基线" * 30


def test_a_campaign_whose_creation_was_cut_off_is_explained(tmp_path):
    workspace = workspace_in(tmp_path)
    (workspace.runs / "early").mkdir()
    with pytest.raises(RequestError, match="has no plan: dlperf ended before it was written"):
        find_campaign(workspace, "early")


@pytest.mark.parametrize(
    "data", [{"offset": "x"}, {"offset": -1}, {"offset": 10**30}, {"blamed": 1}, {"machine": {}, "node": 1}, {}]
)
def test_an_engine_goes_on_after_journal_lines_with_values_of_other_types(tmp_path, data):
    workspace = workspace_in(tmp_path)
    paths = measured_campaign(workspace, "a", [(planned(repeats=1), [100.0])])
    key = str(TrialKey(planned().configuration.id, 1))
    kinds = [("state", key), ("node_left_out", key), ("request", key)]
    kinds += [(event, trial) for trial in ("none", "another/1") for event in ("state", "planned", "request")]
    with paths.journal.open("a") as stream:
        for event, trial in kinds:
            line = {
                "time": "x",
                "event": event,
                "trial": trial,
                "state": "running",
                "data": {"action": "cancel"} | data,
            }
            stream.write(json.dumps(line) + "\n")
    journal = EngineJournal(paths, read_campaign(paths))
    assert journal.requests_read == 0
    assert [str(each) for each in journal.trials] == [key]


def test_a_result_without_a_value_need_not_say_why(tmp_path):
    workspace = workspace_in(tmp_path)
    paths = measured_campaign(workspace, "a", [(planned(repeats=1), [100.0])])
    result = paths.trial(TrialKey(planned().configuration.id, 1)).result
    result.write_text(json.dumps(json.loads(result.read_text()) | {"value": None, "findings": []}))
    for words in (("results",), ("query", "select count(*) from results"), ("verify",)):
        run(workspace, *words)
