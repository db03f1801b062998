"""The commands status and logs, of campaigns on this machine."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from dlperf.runs.journal import campaign_status


def test_a_log_is_followed_to_its_end(counting):
    hold = counting.hold(32)
    selection = ("-H", "local", "-f", "counting", "-c", "lenet5", "-b", "32")
    counting.dlperf("run", *selection, "--repeats", "1", "--name", "try", "--detach")
    counting.wait_for("try", "32/1", "running")
    following = counting.start("logs", "--follow", "try/local_counting_lenet5_fp32_bs32_1n1g/1")
    assert following.stdout is not None
    hold.unlink()
    printed = following.stdout.read()
    following.wait()
    assert printed == log_of(counting).read_bytes()
    assert printed.count(b"DLPERF") == 12


def log_of(counting) -> Path:
    paths = counting.campaign("try")
    return paths.trial(next(iter(campaign_status(paths).trials))).node("local").log


def test_a_trial_is_named_by_any_part_that_no_other_has(measured):
    assert measured.dlperf("logs", "32_1n1g/1").stdout.count("DLPERF") == 12
    assert "could be" in measured.dlperf("logs", "1n1g/1", code=2).stderr
    assert "no trial 'nope'" in measured.dlperf("logs", "nope", code=2).stderr
    assert "has logs of local" in measured.dlperf("logs", "32_1n1g/1", "--node", "other", code=2).stderr


def test_a_link_in_place_of_a_log_is_not_followed(measured, tmp_path):
    log = log_of(measured)
    content = log.read_bytes()
    log.unlink()
    log.symlink_to(secret := tmp_path / "secret")
    secret.write_text("not a log")
    try:
        assert "has no log" in measured.dlperf("logs", "32_1n1g/1", code=2).stderr
    finally:
        log.unlink()
        log.write_bytes(content)


def test_a_gzipped_log_is_printed_unpacked(measured):
    log = log_of(measured)
    content = log.read_bytes()
    log.unlink()
    packed = log.with_name("out.log.gz")
    packed.write_bytes(gzip.compress(content))
    try:
        assert measured.dlperf("logs", "32_1n1g/1").stdout.encode() == content
    finally:
        packed.unlink()
        log.write_bytes(content)


def test_foreign_files_in_runs_are_passed_over_and_a_broken_campaign_is_named(measured):
    runs = measured.workspace.runs
    (runs / "notes.txt").write_text("mine")
    (runs / "folder").mkdir()
    (runs / "cut").mkdir()
    (runs / "cut" / "campaign.json").write_text('{"trials": [')
    done = measured.dlperf("status")
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["campaign", "try"]
    assert "cut/campaign.json: not a campaign" in done.stderr
    told = measured.dlperf("status", "--json")
    assert [item["campaign"] for item in json.loads(told.stdout)] == ["try"]
    assert "cut/campaign.json: not a campaign" in told.stderr


def values_told(measured) -> list[float | None]:
    told = json.loads(measured.dlperf("status", "try", "--json").stdout)
    return [trial["value"] for trial in told["trials"]]


def test_a_status_is_told_from_the_journal_whatever_became_of_other_files(measured):
    campaign = measured.campaign("try")
    campaign.progress.write_text("{")
    for key in campaign_status(campaign).trials:
        campaign.trial(key).result.unlink()
    assert values_told(measured) == [32.0, 64.0]


def test_where_an_older_journal_tells_no_figures_each_trials_own_file_does(measured):
    campaign = measured.campaign("try")
    events = [json.loads(line) for line in campaign.journal.read_text().splitlines()]
    campaign.journal.write_text("".join(json.dumps(event | {"data": {}}) + "\n" for event in events))
    assert values_told(measured) == [32.0, 64.0]
    campaign.trial(next(iter(campaign_status(campaign).trials))).result.write_text("{")
    assert values_told(measured) == [None, 64.0]


def test_a_workspace_without_campaigns_says_so(counting):
    done = counting.dlperf("status")
    assert (done.stdout, "no campaign in" in done.stderr) == ("", True)
    assert json.loads(counting.dlperf("status", "--json").stdout) == []


def test_status_as_json_holds_every_trial_with_its_figure(measured):
    told = json.loads(measured.dlperf("status", "try", "--json").stdout)
    assert (told["finished"], told["engine"], told["paused"]) == (True, None, False)
    assert [(trial["state"], trial["value"], trial["unit"]) for trial in told["trials"]] == [
        ("succeeded", 32.0, "images/s"),
        ("succeeded", 64.0, "images/s"),
    ]
