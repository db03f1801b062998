"""Results as an SQLite database: ``dlperf export`` and ``dlperf query``."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

from dlperf.cli import main
from dlperf.errors import RequestError
from dlperf.measured.model import TrialResult
from dlperf.report.load import load_site_data
from dlperf.runs.lookup import tag_campaign
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.store import read_campaign
from dlperf.table.database import SCHEMA, query_database, results_database
from dlperf.table.load import SEARCH, Filters, load_results
from dlperf.table.model import ConfigurationResult, MetricResult
from handmade_trials import measured_campaign, planned, workspace_in

DOCS = Path(__file__).parents[2] / "docs" / "database.md"
PROC = "dlperf: file /proc/all.sqlite: /proc cannot be written (No such file or directory): name another\n"
Query = Callable[..., tuple[int, str, str]]


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspacePaths:
    workspace = workspace_in(tmp_path / "w")
    one = measured_campaign(workspace, "a", [(planned(1), [100.0, 101.0, 99.0]), (planned(2), [190.0, 191.0, 189.0])])
    tag_campaign(one, "kept first")
    measured_campaign(workspace, "b", [(planned(1), [90.0, 91.0, 60.0])])
    return workspace


@pytest.fixture
def run(workspace: WorkspacePaths, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Query:
    monkeypatch.chdir(workspace.root)

    def command(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as leaving:
            main(words)
        return (int(leaving.value.code or 0), *capsys.readouterr())

    return command


def test_an_exported_file_holds_what_results_hold(run: Query, workspace: WorkspacePaths):
    assert run("export", "all.sqlite")[0] == 0
    found = sqlite3.connect("all.sqlite")
    expected = [(row.campaign, row.case, row.gpus, row.value, row.n) for row in load_results(workspace)]
    assert found.execute("SELECT campaign, case_id, gpus, value, n FROM results").fetchall() == expected
    trials = "SELECT t.value FROM trials t JOIN results r ON t.result = r.id WHERE campaign = 'b' ORDER BY number"
    assert [value for (value,) in found.execute(trials)] == pytest.approx([90.0, 91.0, 60.0])
    assert found.execute("SELECT name, origin, tags FROM campaigns").fetchall() == [
        ("a", "measured", "kept first"),
        ("b", "measured", ""),
    ]
    metrics = "SELECT DISTINCT metric FROM metrics WHERE trial IS NULL"
    assert {name for (name,) in found.execute(metrics)} == {
        metric.id for row in load_results(workspace) for metric in row.metrics
    }
    codes = "SELECT code FROM caveats c JOIN results r ON c.result = r.id WHERE campaign = 'b' AND trial IS NULL"
    assert "trial_spread" in {code for (code,) in found.execute(codes)}


def test_steps_of_a_search_are_results_at_no_door(workspace: WorkspacePaths):
    tag_campaign(measured_campaign(workspace, "step", [(planned(1), [50.0])]), SEARCH)
    exported = results_database(workspace, None).execute("SELECT name FROM campaigns")
    assert {name for (name,) in exported} == {row.campaign for row in load_results(workspace)} == {"a", "b"}
    assert {row.campaign for row in load_site_data(workspace).results} == {"a", "b"}
    assert [row.campaign for row in load_results(workspace, Filters(campaigns=("step",)))] == ["step"]


def test_an_export_replaces_its_own_file_and_nothing_else(run: Query, tmp_path: Path):
    assert run("export", "all.sqlite")[0] == 0
    assert run("export", "all.sqlite")[0] == 0
    other = tmp_path / "notes.txt"
    other.write_text("mine " * 100)
    code, _, said = run("export", str(other))
    assert (code, other.read_text()) == (2, "mine " * 100)
    assert said == f"dlperf: {other}: exists and is no export of dlperf: choose another name\n"
    assert run("export", "/proc/all.sqlite") == (2, "", PROC)
    assert run("export", str(tmp_path))[0] == 2
    assert "no such folder" in run("export", str(tmp_path / "none" / "all.sqlite"))[2]


def test_every_field_of_a_result_is_in_the_database():
    columns = set(re.findall(r"^  (\w+) (?:TEXT|INTEGER|REAL)", SCHEMA.read_text(), re.MULTILINE))
    elsewhere = {"case", "trials", "findings", "metrics", "conditions", "losses", "needs", "schema", "options"}
    for kind in (ConfigurationResult, TrialResult, MetricResult):
        assert {item.name for item in fields(kind)} - columns <= elsewhere


def test_the_documented_schema_is_the_one_that_is_written(run: Query):
    assert f"```sql\n{SCHEMA.read_text()}```" in DOCS.read_text()
    assert run("query", "--schema") == (0, SCHEMA.read_text(), "")


def test_every_documented_query_runs(run: Query):
    shown = re.findall(r'^dlperf query "(.+)"$', DOCS.read_text(), re.MULTILINE)
    assert len(shown) >= 3
    for sql in shown:
        assert run("query", sql)[0] == 0, sql


def test_a_query_is_a_table_json_or_csv(run: Query):
    sql = "SELECT campaign, max(value) AS best FROM results GROUP BY campaign"
    assert run("query", sql)[1].split() == ["campaign", "best", "a", "190.0", "b", "90.00"]
    assert json.loads(run("query", sql, "--json")[1])[1] == {"campaign": "b", "best": pytest.approx(90.0)}
    assert run("query", sql, "--csv", "best.csv")[:2] == (0, "")
    assert Path("best.csv").read_text().splitlines()[0] == "campaign,best"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("DELETE FROM results", "not authorized: results are only read: write SELECT …"),
        ("ATTACH 'other.sqlite' AS other", "not authorized: results are only read"),
        ("PRAGMA writable_schema = 1", "not authorized: results are only read"),
        ("SELECT load_extension('x')", "results are only read"),
        ("SELECT * FROM runs", "no such table: runs (tables and columns: `dlperf query --schema`)"),
        ("SELECT 1; SELECT 2", "one statement at a time"),
        ("/* nothing */", "nothing to select: write SELECT …"),
        ("SELECT zeroblob(1000000000)", "string or blob too big"),
        ("SELECT 'a\0b'", "query: "),
    ],
)
def test_what_is_no_query_is_a_wrong_request(run: Query, sql: str, said: str):
    code, _, error = run("query", sql)
    assert code == 2
    assert said in error
    assert not Path("other.sqlite").exists()


def test_a_query_without_words_and_equal_columns_in_json_are_wrong_requests(run: Query):
    assert "or give --schema" in run("query")[2]
    assert "several columns are called '1'" in run("query", "SELECT 1, 1", "--json")[2]
    assert "no such" in run("query", "SELECT 1", "--csv", "nowhere/a.csv")[2].lower()


def test_an_endless_query_is_stopped(workspace: WorkspacePaths):
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    with pytest.raises(RequestError, match=r"stopped after 0\.05 s"):
        query_database(results_database(workspace, None), endless, seconds=0.05)


def test_values_that_json_cannot_hold_become_text(run: Query):
    answered = json.loads(run("query", "SELECT 9e999 AS big, x'ff' AS bytes, NULL AS missing", "--json")[1])
    assert answered == [{"big": "inf", "bytes": "ff", "missing": None}]


def test_an_unreadable_campaign_is_named_and_the_others_are_exported(run: Query, workspace: WorkspacePaths):
    workspace.campaign("a").plan.write_text("{")
    code, _, said = run("export", "all.sqlite")
    assert code == 1
    assert "skipped: " in said
    assert sqlite3.connect("all.sqlite").execute("SELECT DISTINCT campaign FROM results").fetchall() == [("b",)]


def test_a_log_format_that_cannot_be_read_is_named_wherever_a_missing_result_is_measured_again(
    run: Query, workspace: WorkspacePaths
):
    paths = workspace.campaign("a")
    paths.trial(read_campaign(paths).trials[0]).result.unlink()
    workspace.catalog.mkdir(exist_ok=True)
    (workspace.catalog / "formats.yaml").write_text("- id: broken\n")
    found = [
        run(*words) for words in (("results",), ("results", "--json"), ("query", "SELECT 1"), ("export", "x.sqlite"))
    ]
    assert [code for code, _out, _errors in found] == [1, 1, 1, 1]
    assert all("formats.yaml:1: title: is missing" in errors for _code, _out, errors in found)
