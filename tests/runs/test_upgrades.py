"""Files of other versions are read, or refused by name."""

from __future__ import annotations

import json

import pytest
from pydantic import TypeAdapter

from dlperf.errors import DlperfError
from dlperf.measured.model import TrialResult
from dlperf.plan import Node
from dlperf.runs.records import Progress
from dlperf.runs.store import write_record
from dlperf.runs.upgrades import upgrade
from kept_records import read_record

UPGRADES = {
    ("Thing", 1): lambda data: {"schema": 1, "name": data["title"]},
    ("Thing", 3): lambda data: data | {"colour": "red"},
}


def test_an_old_file_goes_through_every_step_between():
    assert upgrade("Thing", {"schema": 1, "title": "x"}, UPGRADES, 4) == {"schema": 4, "name": "x", "colour": "red"}


def test_a_file_without_a_schema_is_of_the_first():
    assert upgrade("Thing", {"title": "x"}, UPGRADES, 2) == {"schema": 2, "name": "x"}


def test_a_kind_that_did_not_change_stays():
    assert upgrade("Other", {"schema": 1, "a": 1}, UPGRADES, 4) == {"schema": 4, "a": 1}


@pytest.mark.parametrize("schema", [99, "1", None, True])
def test_a_schema_of_the_future_or_of_nonsense_is_refused(schema, tmp_path):
    path = tmp_path / "progress.json"
    path.write_text(json.dumps({"schema": schema, "updated": "t"}))
    with pytest.raises(DlperfError, match=r"progress\.json: not a Progress \((written by a newer dlperf|schema )"):
        read_record(path, Progress)


def test_a_record_comes_back_as_it_was_written(tmp_path):
    progress = Progress("t", done=1, total=2)
    write_record(tmp_path / "progress.json", progress)
    assert read_record(tmp_path / "progress.json", Progress) == progress


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b'{"updated": 3}'])
def test_a_file_that_is_no_record_is_named(content, tmp_path):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(DlperfError, match=r"x\.json: not a Progress"):
        read_record(tmp_path / "x.json", Progress)


def test_imported_campaigns_of_version_0_1_name_a_transport_that_nodes_can_have():
    node = {"name": "imported", "transport": "imported", "host": "imported", "address": "imported"}
    old = {"configurations": [{"launch": {"nodes": [node]}}]}
    (configuration,) = upgrade("CampaignRecord", old)["configurations"]
    assert TypeAdapter(Node).validate_python(configuration["launch"]["nodes"][0]).transport == "local"


def test_a_finding_of_version_0_1_keeps_its_code_and_shows_the_text_that_was_written():
    text = "the speed falls by 3.1% over the measured window: no steady state"
    old = {"number": 1, "state": "succeeded", "findings": [{"code": "drift", "message": text, "severity": "error"}]}
    (finding,) = TypeAdapter(TrialResult).validate_python(upgrade("TrialResult", old)).findings
    assert (finding.code, finding.severity, str(finding.message)) == ("drift", "error", text)
