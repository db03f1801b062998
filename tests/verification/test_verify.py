"""Archived files against what was written down about them."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from dlperf.evidence.logs import BUILTIN_FORMATS
from dlperf.measured.model import TrialResult
from dlperf.plan import TrialKey
from dlperf.runs.journal import campaign_status, figure_data
from dlperf.runs.paths import CampaignPaths, TrialPaths
from dlperf.runs.records import Event, JournaledFigure, State
from dlperf.runs.store import append_records, write_record
from dlperf.table.audited import Verified, read_verified, values_of
from dlperf.table.load import load_campaign
from dlperf.verification.verify import verify_campaign
from handmade_trials import end_trial, measured_campaign, own_log, planned, workspace_in
from kept_records import read_record


@pytest.fixture
def campaign(tmp_path: Path) -> CampaignPaths:
    return measured_campaign(workspace_in(tmp_path / "w"), "a", [(planned(), [100.0, 101.0])])


def trial_key(number: int = 1) -> TrialKey:
    return TrialKey(planned().configuration.id, number)


def trial(campaign: CampaignPaths, number: int = 1) -> TrialPaths:
    return campaign.trial(trial_key(number))


def differences(campaign: CampaignPaths, *, write: bool = False) -> list[tuple[str, str]]:
    return [(item.what, item.problem) for item in verify_campaign(campaign, BUILTIN_FORMATS, write=write).differences]


def contents(campaign: CampaignPaths) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in campaign.directory.rglob("*") if path.is_file()}


def test_an_untouched_campaign_gives_every_figure_again(campaign: CampaignPaths):
    found = verify_campaign(campaign, BUILTIN_FORMATS)
    assert (found.trials, found.figures, found.differences) == (2, 2, ())


def test_a_clone_verifies_where_it_lies(campaign: CampaignPaths, tmp_path: Path):
    clone = workspace_in(tmp_path / "clone")
    shutil.copytree(campaign.directory, clone.campaign("a").directory)
    assert differences(clone.campaign("a")) == []


def test_a_pipe_in_place_of_a_result_is_replaced_and_blocks_nothing(campaign: CampaignPaths):
    result = trial(campaign).result
    before = result.read_bytes()
    result.unlink()
    os.mkfifo(result)
    assert differences(campaign, write=True) == [("result.json", "missing or unreadable")]
    assert result.is_file()
    assert result.read_bytes() == before


def test_nothing_is_changed_unless_asked_for(campaign: CampaignPaths):
    result = trial(campaign).result
    result.write_text(result.read_text().replace('"value": ', '"value": 9'))
    trial(campaign).timeline.unlink()
    trial(campaign, 2).result.unlink()
    older = Event("2026-01-31T12:05:00Z", "measured", str(trial_key()), data=figure_data(99.0, "images/s"))
    append_records(campaign.journal, [older])
    before = contents(campaign)
    assert differences(campaign) == [("value", "differs"), ("result.json", "missing or unreadable")]
    assert contents(campaign) == before


def test_a_figure_that_the_log_does_not_give_is_reported_and_replaced(campaign: CampaignPaths):
    result = trial(campaign).result
    result.write_text(result.read_text().replace('"value": ', '"value": 9'))
    found = verify_campaign(campaign, BUILTIN_FORMATS, write=True).differences
    (difference,) = [item for item in found if item.what == "value"]
    assert difference.trial == f"{planned().configuration.id}/1"
    assert difference.stored != difference.recomputed == pytest.approx(100.0)
    assert read_record(result, TrialResult).value == pytest.approx(100.0)
    assert differences(campaign) == []


def test_a_journal_that_tells_another_figure_is_told_the_one_that_the_log_gives(campaign: CampaignPaths):
    key = trial_key()
    older = Event("2026-01-31T12:05:00Z", "measured", str(key), data=figure_data(99.0, "images/s"))
    append_records(campaign.journal, [older])
    assert campaign_status(campaign).trials[key].figure == JournaledFigure(99.0, "images/s")
    assert differences(campaign, write=True) == []
    told = campaign_status(campaign).trials[key].figure
    assert told == JournaledFigure(pytest.approx(100.0), "images/s")
    size = campaign.journal.stat().st_size
    assert differences(campaign, write=True) == []
    assert campaign.journal.stat().st_size == size


def test_a_changed_log_is_reported_and_no_result_is_made_from_it(campaign: CampaignPaths):
    stored = trial(campaign).result.read_bytes()
    trial(campaign).node("n0").log.write_text(own_log(500.0))
    found = differences(campaign, write=True)
    assert ("nodes/n0/out.log", "changed") in found
    assert ("value", "differs") in found
    assert trial(campaign).result.read_bytes() == stored
    assert differences(campaign) == found


def test_a_log_that_was_added_is_reported(campaign: CampaignPaths):
    node = trial(campaign).node("n0")
    node.ranks.mkdir()
    (node.ranks / "worker.0").write_text(own_log(500.0))
    assert differences(campaign) == [("nodes/n0/ranks/worker.0", "added")]


def test_a_log_that_vanished_is_reported(campaign: CampaignPaths):
    trial(campaign).node("n0").log.unlink()
    assert ("nodes/n0/out.log", "missing") in differences(campaign)


def test_an_estimator_that_the_version_of_the_result_did_not_know_is_no_difference(campaign: CampaignPaths):
    result = trial(campaign).result
    stored = json.loads(result.read_text())
    dropped = stored["estimates"].popitem()
    result.write_text(json.dumps(stored))
    assert differences(campaign) == []
    stored["estimates"]["mean()"] += 1
    result.write_text(json.dumps(stored))
    assert dropped[0] != "mean()"
    (difference,) = verify_campaign(campaign, BUILTIN_FORMATS).differences
    assert (difference.what, difference.stored - difference.recomputed) == ("estimates.mean()", 1)


def test_what_only_this_version_records_is_no_difference(campaign: CampaignPaths):
    result = trial(campaign).result
    stored = json.loads(result.read_text())
    for field in ("losses", "window_seconds", "conditions", "estimates"):
        stored.pop(field)
    result.write_text(json.dumps(stored | {"findings": []}))
    found = verify_campaign(campaign, BUILTIN_FORMATS)
    assert found.differences == ()
    assert set(found.more) >= {"window_seconds", "estimates"}
    assert verify_campaign(campaign, BUILTIN_FORMATS, write=True).differences == ()
    assert verify_campaign(campaign, BUILTIN_FORMATS).more == ()


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"value": None}, "value"),
        ({"unit": ""}, "unit"),
        ({"last_step": 1}, "last_step"),
        ({"findings": [{"message": {"code": "drift"}, "severity": "warning"}]}, "findings.drift"),
        ({"metrics": [{"id": "mfu", "value": 0.5, "unit": "%"}]}, "metrics.mfu"),
    ],
)
def test_another_value_or_a_caveat_that_is_gone_is_a_difference(campaign: CampaignPaths, change, what: str):
    result = trial(campaign).result
    result.write_text(json.dumps(json.loads(result.read_text()) | change))
    assert [item.what for item in verify_campaign(campaign, BUILTIN_FORMATS).differences] == [what]


def test_a_point_of_a_curve_that_the_log_does_not_give_is_a_difference(campaign: CampaignPaths):
    timeline = trial(campaign).timeline
    stored = json.loads(timeline.read_text())
    stored["throughput"][2][1] += 1
    timeline.write_text(json.dumps(stored))
    assert differences(campaign) == [("timeline.json: throughput.2.1", "differs")]


def test_a_missing_result_is_reported_and_written(campaign: CampaignPaths):
    trial(campaign).result.unlink()
    assert differences(campaign, write=True) == [("result.json", "missing or unreadable")]
    assert differences(campaign) == []


def test_a_trial_whose_folder_is_gone_is_reported(campaign: CampaignPaths):
    shutil.rmtree(trial(campaign, 2).directory)
    assert differences(campaign) == [(".", "missing")]


def test_a_failed_trial_is_verified_too(campaign: CampaignPaths):
    end_trial(campaign, planned(), 3, {"n0/out.log": "CUDA out of memory"}, State.FAILED, "exit code 1: out of memory")
    assert differences(campaign) == []


def verified(campaign: CampaignPaths) -> Verified | None:
    return read_verified(campaign, values_of(load_campaign(campaign, lambda: BUILTIN_FORMATS)[1]))


def test_the_date_of_a_check_is_kept_when_asked_for_and_while_the_values_are_the_same(campaign: CampaignPaths):
    assert differences(campaign) == []
    assert verified(campaign) is None
    assert differences(campaign, write=True) == []
    found = verified(campaign)
    assert found
    assert found.values == 2
    record = read_record(trial(campaign).result, TrialResult)
    write_record(trial(campaign).result, replace(record, value=1.0))
    assert verified(campaign) is None
    assert ("value", "differs") in differences(campaign, write=True)
    assert verified(campaign), "the value was corrected"


def test_a_check_that_found_a_changed_log_is_not_kept(campaign: CampaignPaths):
    trial(campaign).node("n0").log.write_text(own_log(5.0))
    assert differences(campaign, write=True)
    assert verified(campaign) is None
