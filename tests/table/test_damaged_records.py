"""Any field of any record under runs/ may hold anything: commands say one line about it and go on."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dlperf.campaign.journal import EngineJournal
from dlperf.catalog.files.load import load_catalog
from dlperf.cli import main
from dlperf.errors import DlperfError, RequestError
from dlperf.messages import message
from dlperf.plan import Configuration, Impossible, TrialKey
from dlperf.report.load import load_site_data
from dlperf.runs.lookup import find_campaign, find_trial
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import Event, Progress, Request, State, TrialProgress
from dlperf.runs.store import append_records, read_campaign, write_record
from handmade_trials import end_trial, measured_campaign, own_log, planned, workspace_in, write_planned

HOSTILE = ("1e999", "NaN", "9" * 400, "-1", '"\\ud800"', "[" * 100_000, f'"{"x" * 300}"', '"../../.."', '"\\u0000"')
"""Texts in place of a value, some of which are no JSON."""
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
).map(json.dumps)
COMMANDS = (("status",), ("status", "a"), ("status", "a", "--json"), ("results",), ("results", "--json"), ("verify",))
HOLE = "<hole>"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory) -> WorkspacePaths:
    """A campaign with a success, a retried failure, progress and requests."""
    workspace = workspace_in(tmp_path_factory.mktemp("damaged"))
    two, one = planned(gpus=2, repeats=1, gflops_per_sample=1.0), planned(gpus=1, repeats=2)
    impossible = Impossible(Configuration("here", "numpy", "lenet5", "bf16", 4, 1, 8), message("waiting"))
    paths = write_planned(workspace, "a", (two, one), (impossible,))
    append_records(paths.journal, [Event("2026-01-31T12:00:00Z", "campaign_started")])
    end_trial(paths, two, 1, {"n0/out.log": own_log(100.0), "n0/exit.json": '{"duration_seconds": 3}'})
    end_trial(paths, one, 1, {"n0/out.log": "RuntimeError: x\n"}, State.FAILED, "exit code 1")
    end_trial(paths, one, 3, {"n0/out.log": own_log(50.0)}, retry_of=1)
    lost = {"node": "n0"}
    append_records(paths.journal, [Event("2026-01-31T12:06:00Z", "node_unreachable", data=lost)])
    append_records(paths.control, [Request("2026-01-31T12:06:00Z", "cancel", by="x")])
    write_record(paths.progress, Progress("2026-01-31T12:06:00Z", {f"{one.configuration.id}/2": TrialProgress(1, 2)}))
    return workspace


def holes(data: Any) -> Iterator[Any]:
    """Yield copies of a value, each with another of its parts replaced by the hole."""
    yield HOLE
    if isinstance(data, dict):
        yield from ({**data, key: copy} for key, value in data.items() for copy in holes(value))
    elif isinstance(data, list):
        yield from ([*data[:at], copy, *data[at + 1 :]] for at, value in enumerate(data) for copy in holes(value))


def damages(path: Path) -> list[str]:
    """Return the texts of a file of JSON or of lines of JSON, each with a hole in another place."""
    lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
    return [
        "\n".join((*lines[:at], json.dumps(copy), *lines[at + 1 :], ""))
        for at, line in enumerate(lines)
        for copy in holes(json.loads(line))
    ]


def run(workspace: WorkspacePaths, command: tuple[str, ...], capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--workspace", str(workspace.root), *command])
    printed = capsys.readouterr()
    assert ended.value.code in (0, 1, 2)
    assert not re.search(r"unexpected \w+:", printed.err), printed.err
    assert all(line.isprintable() for line in printed.err.splitlines())


@pytest.fixture(scope="module")
def one_catalogue():
    """Reading the catalogue takes most of the time and is not what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        catalog = load_catalog()
        patch.setattr("dlperf.report.load.load_catalog", lambda folder, complain: catalog)
        yield


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(which=st.integers(0, 10**6), where=st.integers(0, 10**6), value=VALUES | st.sampled_from(HOSTILE))
def test_a_field_of_any_record_may_hold_anything(workspace, one_catalogue, capsys, which, where, value):
    files = [path for path in sorted(workspace.runs.rglob("*.json*")) if path.is_file()]
    before = {file: file.read_bytes() for file in files}
    path = files[which % len(files)]
    texts = damages(path)
    try:
        path.write_text(texts[where % len(texts)].replace(json.dumps(HOLE), value, 1))
        for command in COMMANDS:
            run(workspace, command, capsys)
        load_site_data(workspace)
    finally:
        for file, content in before.items():
            file.write_bytes(content)


@pytest.mark.parametrize(
    "value", ["null", "[]", '""', json.dumps("x" * 300)], ids=["null", "none", "empty", "overlong"]
)
def test_every_field_of_a_result_may_be_absent_or_overlong(workspace, capsys, value):
    path = next(iter(sorted(workspace.campaign("a").directory.rglob("result.json"))))
    kept = path.read_bytes()
    bare = json.loads(kept) | {"findings": []}  # what explains a missing value is missing, too
    try:
        for copy in holes(bare):
            path.write_text(json.dumps(copy).replace(json.dumps(HOLE), value, 1))
            for command in (("results",), ("query", "select count(*) from results")):
                run(workspace, command, capsys)
    finally:
        path.write_bytes(kept)


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
DEEP = "[" * 100_000


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
def test_a_file_of_a_trial_that_is_damaged_leaves_its_throughput(tmp_path, capsys, name, text):
    workspace = workspace_in(tmp_path)
    paths = write_planned(workspace, "a", [planned(repeats=1)])
    end_trial(paths, planned(), 1, {"n0/out.log": own_log(100.0)})
    trial = paths.trial(TrialKey(planned().configuration.id, 1))
    (trial.node("n0").directory / name if name[0] == "e" else trial.directory / name).write_text(text)
    for command in COMMANDS:
        run(workspace, command, capsys)
    (row,) = load_site_data(workspace).results
    assert row.value == pytest.approx(100.0)


def test_a_plan_with_a_number_that_no_plan_has_is_refused(tmp_path):
    impossible = Impossible(Configuration("here", "numpy", "lenet5", "bf16", 10**25, 1, 8), message("waiting"))
    paths = write_planned(workspace_in(tmp_path), "a", [planned()], [impossible])
    with pytest.raises(DlperfError, match="a number that is not from 1 to"):
        read_campaign(paths)


def test_a_pipe_in_place_of_a_record_does_not_block(tmp_path, capsys):
    workspace = workspace_in(tmp_path)
    paths = measured_campaign(workspace, "a", [(planned(repeats=1), [100.0])])
    trial = paths.trial(TrialKey(planned().configuration.id, 1))
    of_trial = trial.result, trial.job_log, trial.node("n0").telemetry, trial.node("n0").log
    for path in (*of_trial, paths.tags, paths.lock, paths.progress, paths.journal, paths.plan):
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        for command in COMMANDS:
            run(workspace, command, capsys)


@pytest.mark.parametrize(
    "text", [DEEP, BOMB, "[]", '{"name": "x", "references": [{}]}', '{"name": "x", "references": []}']
)
def test_a_baseline_that_is_none_is_said_in_one_line(tmp_path, capsys, text):
    workspace = workspace_in(tmp_path)
    measured_campaign(workspace, "a", [(planned(repeats=1), [100.0])])
    workspace.baselines.mkdir()
    workspace.baseline("x").write_text(text)
    for words in (("show",), ("show", "x"), ("compare", "x", "a")):
        run(workspace, ("baseline", *words), capsys)
    run(workspace, ("run", "--gate", "x"), capsys)


@pytest.mark.parametrize("time", ["x", "", "2026-01-31T12:00:00", "9999-99-99T00:00:00Z"])
def test_a_time_in_a_journal_may_be_none(tmp_path, capsys, time):
    workspace = workspace_in(tmp_path)
    paths = measured_campaign(workspace, "a", [(planned(repeats=2), [100.0, 100.0])])
    for number, state in ((1, "running"), (1, "succeeded"), (2, "running")):
        append_records(paths.journal, [Event(time, "state", f"{planned().configuration.id}/{number}", state)])
    for words in (("status",), ("status", "a"), ("results",), ("retry", "a")):
        run(workspace, words, capsys)


def test_a_trial_that_is_to_repeat_itself_ends_nothing(tmp_path, capsys):
    workspace = workspace_in(tmp_path)
    paths = measured_campaign(workspace, "a", [(planned(repeats=1), [100.0])])
    key = TrialKey(planned().configuration.id, 7)
    for number in (7, 8, -1, 10**30, "7", {}, True):
        event = Event("2026-01-31T12:00:00Z", "planned", str(key), data={"retry_of": number})
        append_records(paths.journal, [event, replace(event, event="state", state="succeeded")])
        run(workspace, ("results",), capsys)


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
