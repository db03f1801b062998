"""Plans are JSON; those of version 0.1, which are YAML, are still read."""

from __future__ import annotations

from pathlib import Path

from dlperf.plan import Selection, TrialKey
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import CampaignRecord
from dlperf.runs.store import read_campaign, write_campaign

RECORD = CampaignRecord("new", "0" * 8, "2026-01-01T00:00:00Z", "0.2", Selection(), (), (TrialKey("数据", 1),))


def test_a_plan_is_written_as_json_and_read_back(tmp_path: Path):
    paths = WorkspacePaths(tmp_path).campaign("new")
    write_campaign(paths, RECORD)
    assert [path.name for path in paths.directory.iterdir()] == ["campaign.json"]
    assert read_campaign(paths) == RECORD
