"""What is derived of a trial's course, and when it is believed."""

from __future__ import annotations

import os
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from dlperf.derived.timeline import Timeline, derive
from dlperf.evidence.logs import BUILTIN_FORMATS
from dlperf.evidence.telemetry import read_telemetry
from dlperf.plan import TrialKey
from dlperf.report.evidence import EvidenceReader, TrialEvidence
from dlperf.runs.paths import CampaignPaths, TrialPaths, WorkspacePaths
from dlperf.runs.records import State, TrialStatus
from dlperf.runs.store import Complain
from dlperf.table.load import load_campaign
from dlperf.verification.verify import verify_campaign
from handmade_trials import end_trial, measured_campaign, own_log, planned, workspace_in, write_planned
from kept_records import read_record

LONG_LINE = 64 << 20
CPU = "time,cpu_percent,memory_used_mib\n" + "".join(f"{1000 + s},{50 + s},2000\n" for s in range(5))


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspacePaths:
    return workspace_in(tmp_path)


@pytest.fixture
def campaign(workspace: WorkspacePaths) -> CampaignPaths:
    return measured_campaign(workspace, "a", [(planned(repeats=1), [100.0])])


def trial(campaign: CampaignPaths) -> TrialPaths:
    return campaign.trial(TrialKey(planned().configuration.id, 1))


def evidence(workspace: WorkspacePaths, campaign: CampaignPaths, damaged: Complain | None = None) -> TrialEvidence:
    (row,) = load_campaign(campaign, lambda: BUILTIN_FORMATS)[1]
    return EvidenceReader(workspace, damaged).read(row, row.trials[0], planned(repeats=1))


def test_a_measured_trial_leaves_its_timeline(campaign: CampaignPaths) -> None:
    kept = read_record(trial(campaign).timeline, Timeline)
    assert [step for step, _ in kept.throughput] == list(range(10, 131, 10))
    assert kept.log_lines.head[0].startswith("DLPERF 2026-01-31T12:00:01.6")
    assert kept.log_lines.first_line == 3


def test_the_load_of_a_machine_without_gpus_is_followed(workspace: WorkspacePaths) -> None:
    item = planned(repeats=1)
    campaign = write_planned(workspace, "cpu", [item])
    end_trial(campaign, item, 1, {"n0/out.log": own_log(100.0), "n0/telemetry.csv": CPU})
    kept = read_record(trial(campaign).timeline, Timeline)
    assert kept.telemetry["cpu_percent"] == tuple((float(s), 50.0 + s) for s in range(5))
    assert set(kept.telemetry) == {"cpu_percent", "memory_used_mib"}


def test_a_kept_timeline_is_used_as_it_is(workspace: WorkspacePaths, campaign: CampaignPaths) -> None:
    path = trial(campaign).timeline
    path.write_text(path.read_text().replace("[10.0,100.0]", "[10.0,123.0]"))
    assert evidence(workspace, campaign).timeline.throughput[0] == (10.0, 123.0)


@pytest.mark.parametrize("content", [None, "", "{", '{"schema": 99}'])
def test_a_timeline_that_is_missing_or_damaged_is_made_again_and_damage_is_said(
    workspace: WorkspacePaths, campaign: CampaignPaths, content: str | None
) -> None:
    path = trial(campaign).timeline
    before = path.read_bytes()
    path.unlink() if content is None else path.write_text(content)
    said: list[str] = []
    assert evidence(workspace, campaign, said.append).timeline == read_record(path, Timeline)
    assert path.read_bytes() == before
    assert [line.startswith(f"{path}: not a Timeline") and "made again" in line for line in said] == [True] * (
        content is not None
    )


@pytest.mark.parametrize("left", ["nothing", "a folder", "a pipe"])
def test_what_was_kept_of_a_log_that_is_gone_is_shown_and_the_log_is_named(
    workspace: WorkspacePaths, campaign: CampaignPaths, left: str
) -> None:
    log = trial(campaign).node("n0").log
    log.unlink()
    if left == "a folder":
        log.mkdir()
    elif left == "a pipe":
        os.mkfifo(log)
    said: list[str] = []
    found = evidence(workspace, campaign, said.append)
    assert found.log is None
    assert found.timeline == read_record(trial(campaign).timeline, Timeline)
    assert [line.startswith(f"{log}: ") and "restore it" in line for line in said] == [True]


def test_a_timeline_of_another_window_is_made_again(workspace: WorkspacePaths, campaign: CampaignPaths) -> None:
    (row,) = load_campaign(campaign, lambda: BUILTIN_FORMATS)[1]
    other = replace(row.trials[0], first_step=50, first_line=7)
    found = EvidenceReader(workspace).read(row, other, planned(repeats=1))
    assert found.timeline.log_lines.first_line == 7


def test_telemetry_that_changed_makes_the_timeline_again(workspace: WorkspacePaths, campaign: CampaignPaths) -> None:
    trial(campaign).node("n0").telemetry.write_text(CPU)
    assert "cpu_percent" in evidence(workspace, campaign).timeline.telemetry


def test_nothing_derived_is_shown_of_a_log_that_was_altered(workspace: WorkspacePaths, campaign: CampaignPaths) -> None:
    assert not evidence(workspace, campaign).log_altered
    log = trial(campaign).node("n0").log
    log.write_text(log.read_text().replace("throughput=100.0", "throughput=900.0"))
    found = evidence(workspace, campaign)
    assert found.log_altered
    assert found.timeline == Timeline()


def test_a_link_among_the_files_of_a_trial_is_not_followed(workspace: WorkspacePaths, campaign: CampaignPaths) -> None:
    environment = trial(campaign).node("n0").environment
    environment.unlink(missing_ok=True)
    environment.symlink_to("/etc/passwd")
    assert environment not in {file.path for file in evidence(workspace, campaign).files}


def test_verify_writes_a_missing_timeline_and_reports_one_that_was_altered(campaign: CampaignPaths) -> None:
    path = trial(campaign).timeline
    before = path.read_bytes()
    path.unlink()
    assert verify_campaign(campaign, BUILTIN_FORMATS, write=True).differences == ()
    assert path.read_bytes() == before
    path.write_bytes(before.replace(b"[10.0,100.0]", b"[10.0,900.0]"))
    (difference,) = verify_campaign(campaign, BUILTIN_FORMATS, write=True).differences
    assert (difference.what, difference.problem) == ("timeline.json: throughput.0.1", "differs")
    assert path.read_bytes() == before


def test_a_result_that_cannot_be_read_is_measured_again(campaign: CampaignPaths) -> None:
    (row,) = load_campaign(campaign, lambda: BUILTIN_FORMATS)[1]
    trial(campaign).result.write_text("{")
    assert load_campaign(campaign, lambda: BUILTIN_FORMATS)[1] == [row]


def test_a_line_of_any_length_takes_little_memory(workspace: WorkspacePaths) -> None:
    item = planned(repeats=1)
    campaign = write_planned(workspace, "long", [item])
    log = trial(campaign).node("n0").log
    end_trial(campaign, item, 1, {"n0/out.log": ""})
    with log.open("wb") as stream:
        stream.seek(LONG_LINE)
        stream.write(b"\n" + own_log(100.0).encode())
        stream.truncate(stream.tell() + LONG_LINE)
    tracemalloc.start()
    derived = derive(trial(campaign), item, TrialStatus(TrialKey(item.configuration.id, 1), State.SUCCEEDED))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert derived.timeline.log_lines.first_line == 4
    assert derived.timeline.log_lines.before[0].startswith("DLPERF ")
    assert peak < LONG_LINE / 4


def test_a_row_of_telemetry_without_end_or_with_an_open_quote_costs_no_other_row(tmp_path: Path):
    path = tmp_path / "telemetry.csv"
    path.write_text(f'time,cpu_percent\n1,10\n2,{"9" * 10_000}\n3,"\n4,40\n')
    assert [row.metrics for row in read_telemetry(path, "n")] == [
        {"time": 1.0, "cpu_percent": 10.0},
        {"time": 3.0},
        {"time": 4.0, "cpu_percent": 40.0},
    ]
