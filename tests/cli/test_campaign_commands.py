"""Campaigns from the command line, on this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from waiting import until

SELECTION = ("-H", "local", "-f", "counting", "-c", "lenet5")


def run(counting, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    return counting.dlperf("run", *SELECTION, *words, code=code)


def test_a_run_says_its_plan_and_prints_its_figures(counting):
    done = run(counting, "-b", "32,64", "--repeats", "2", "--name", "try")
    assert "2 configurations, 4 trials: counting on local" in done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[0] == ["configuration", "median", "unit", "spread", "n", "status"]
    assert rows[1][1:] == ["32.00", "images/s", "0.00", "%", "2", "measured"]
    assert rows[2][1:] == ["64.00", "images/s", "0.00", "%", "2", "measured"]


def test_a_run_of_nothing_in_particular_is_refused(counting):
    done = counting.dlperf("run", "--yes", "-b", "32", code=2)
    assert done.stderr.startswith("dlperf: nothing is selected: ")
    assert not list(counting.workspace.campaigns())


def test_no_trials_at_all_are_refused_and_not_taken_for_the_usual_number(counting):
    assert "'--repeats'" in run(counting, "-b", "32", "--repeats", "0", code=2).stderr
    assert not list(counting.workspace.campaigns())


def test_a_campaign_without_a_name_is_called_by_time_and_contents(counting):
    run(counting, "-b", "32", "--repeats", "1")
    (paths,) = counting.workspace.campaigns()
    assert paths.name.endswith("-counting-lenet5")


@pytest.mark.parametrize("name", ['it\'s a "quote" $HOME;`x`\nbreak', "数据", "a/%41"])
def test_any_name_will_do(counting, name):
    run(counting, "-b", "32", "--repeats", "1", f"--name={name}")
    told = json.loads(counting.dlperf("status", "--json", "--", name).stdout)
    assert (told["campaign"], [trial["state"] for trial in told["trials"]]) == (name, ["succeeded"])
    assert [path.parent for path in counting.workspace.runs.glob("*/campaign.json")] == [
        counting.campaign(name).directory
    ]


@pytest.mark.parametrize("name", ["", "published", "x" * 121])
def test_a_name_that_no_folder_can_have_is_refused(counting, name):
    assert ": a name " in run(counting, "-b", "32", f"--name={name}", code=2).stderr


def test_a_name_is_given_once(measured):
    assert "exists: choose another" in run(measured, "-b", "32", "--name", "try", code=2).stderr


def test_a_failure_is_exit_code_1_and_says_how_to_try_again(counting):
    broken = counting.fail(32)
    done = run(counting, "-b", "32", "--repeats", "3", "--name", "try", code=1)
    assert "not tried any more: failed 2 times the same way: exit code 7" in done.stderr
    assert "`dlperf retry try`" in done.stderr
    assert counting.states("try") == {"32/1": "failed", "32/2": "failed", "32/3": "cancelled"}
    broken.unlink()
    counting.dlperf("retry", "try")
    counting.wait_for("try", "32/6", "succeeded")
    assert list(counting.states("try").values()).count("succeeded") == 3
    assert "nothing to retry" in counting.dlperf("retry", "try", code=2).stderr


def test_a_gate_whose_trials_fail_says_so_in_its_verdicts_and_files_for_ci(counting):
    run(counting, "-b", "32", "--repeats", "5", "--name", "before")
    counting.dlperf("baseline", "save", "main")
    counting.fail(32)
    gated = run(counting, "-b", "32", "--gate", "main", "--ci", "verdict", code=1)
    assert "gate failed" in gated.stdout + gated.stderr
    assert "<failure" in (counting.workspace.root / "verdict/junit.xml").read_text()


def test_one_trial_is_tried_again(counting):
    broken = counting.fail(32)
    run(counting, "-b", "32", "--repeats", "2", "--name", "try", code=1)
    broken.unlink()
    counting.dlperf("retry", "try", "32_1n1g/2")
    counting.wait_for("try", "32/3", "succeeded")
    assert "was already retried" in counting.dlperf("retry", "try", "32_1n1g/2", code=2).stderr


def test_example_machines_are_not_run_on(counting):
    done = counting.dlperf("run", "-H", "perf-v100", "-c", "resnet50", "--yes", code=2)
    assert "--hardware perf-v100: an example with placeholder hosts: copy it with `dlperf catalog show" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_detached_engine_is_watched_paused_and_cancelled_from_elsewhere(counting):
    counting.hold(32)
    assert run(counting, "-b", "32", "--repeats", "2", "--name", "try", "--detach").stdout == "try\n"
    counting.wait_for("try", "32/1", "running")
    assert "running" in counting.dlperf("status").stdout
    counting.dlperf("pause", "try")
    assert "paused" in counting.dlperf("status").stdout
    assert "resume: accepted" in counting.dlperf("resume", "try").stderr
    assert "is not paused" in counting.dlperf("resume", "try", code=2).stderr
    counting.dlperf("cancel", "try", "32_1n1g/1")
    counting.wait_for("try", "32/1", "cancelled")
    counting.dlperf("cancel", "try")
    counting.wait_for("try", "32/2", "cancelled")
    assert "nothing to cancel" in counting.dlperf("cancel", "try", code=2).stderr


def test_a_run_whose_machine_is_in_use_says_so_once_without_a_terminal(counting):
    hold = counting.hold(32)
    run(counting, "-b", "32", "--repeats", "1", "--name", "holds", "--detach")
    counting.wait_for("holds", "32/1", "running")
    waiting = counting.start("run", *SELECTION, "-b", "64", "--repeats", "1", "--name", "waits", "--yes")
    stream, said = waiting.stderr, bytearray()
    assert stream is not None
    os.set_blocking(stream.fileno(), False)
    try:
        until(lambda: said.extend(stream.read() or b"") or b"lease: in use by" in said, said.decode)
    finally:
        hold.unlink()
    os.set_blocking(stream.fileno(), True)
    said += waiting.communicate()[1]
    assert (waiting.returncode, said.count(b": waits: ")) == (0, 1)


def test_a_check_of_this_machine_says_what_was_asked(counting):
    items = json.loads(counting.dlperf("check", "-H", "local", "--json").stdout)
    assert {item["check"] for item in items} >= {"reachable", "python", "disk", "clock"}
    assert all(item["ok"] for item in items)


def test_a_check_of_a_framework_starts_it(counting):
    said = counting.dlperf("check", "-H", "local", "-f", "counting").stdout
    assert "plain starts and finds sh" in said
    said = counting.dlperf("check", "-H", "local", "-f", "mxnet", code=1).stdout
    assert "NOT READY  plain does not start or does not find module mxnet" in said


def test_a_machine_that_does_not_answer_is_exit_code_3(counting):
    text = "id: nowhere\ntitle: Nowhere\nnodes: [{name: n, host: nowhere.invalid}]\n"
    hardware = counting.workspace.catalog / "hardware"
    hardware.mkdir()
    (hardware / "nowhere.yaml").write_text(text)
    said = counting.dlperf("check", "-H", "nowhere", code=3).stdout
    assert "NOT READY  the host name 'nowhere.invalid' cannot be resolved" in said


def test_a_new_workspace_can_run_and_is_made_once(counting, tmp_path):
    root = tmp_path / "new"
    counting.dlperf("init", str(root))
    assert {path.name for path in root.iterdir()} >= {"mkdocs.yml", "runs", "site", "catalog", ".gitignore"}
    shutil.copytree(counting.workspace.catalog, root / "catalog", dirs_exist_ok=True)
    counting.dlperf("--workspace", str(root), "catalog", "check")
    counting.dlperf("--workspace", str(root), "run", *SELECTION, "-b", "32", "--repeats", "1")
    assert "is a workspace already" in counting.dlperf("init", str(root), code=2).stderr
    (root / "site/workspace.json").write_text('{"version": "0.1.9", "replaced": {}}')
    assert "updated from dlperf 0.1.9 to " in counting.dlperf("init", str(root)).stderr


def test_the_quickstart_measures_this_machine_and_builds_a_site(counting, tmp_path):
    done = counting.dlperf("quickstart", str(tmp_path / "first"))
    index = tmp_path / "first" / "site" / "html" / "index.html"
    assert done.stdout.splitlines()[-1] == str(index)
    assert "numpy" in index.read_text().lower()
    rows = [line.split() for line in done.stdout.splitlines() if " measured" in line and "images/s" in line]
    assert [row[row.index("measured") - 1] for row in rows] == ["3"] * 2


def test_git_keeps_what_was_measured_though_logs_are_ignored_elsewhere(counting, tmp_path):
    root = tmp_path / "new"
    counting.dlperf("init", str(root))
    (root / "ignored").write_text("*.log\n")
    for name in ("try/a_1n1g/1/nodes/n/out.log", "try/engine.log"):
        (root / "runs" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "runs" / name).touch()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    words = ["git", "-c", f"core.excludesFile={root}/ignored", "-C", str(root), "status", "--short", "-uall", "runs"]
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    assert "runs/try/a_1n1g/1/nodes/n/out.log" in told
    assert "runs/try/engine.log" not in told


def test_a_gitignore_that_was_there_is_left_and_said(counting, tmp_path):
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / ".gitignore").write_text("*.pyc\n")
    done = counting.dlperf("init", str(tmp_path / "new"))
    assert "kept your .gitignore" in done.stderr
    assert (tmp_path / "new" / ".gitignore").read_text() == "*.pyc\n"


SPEED = """\
id: speed
title: Speed
unit: images/s
scope: global
window: interval
detect: 'step='
record: '{record}'
time_format: '%Y-%m-%dT%H:%M:%S.%f'
"""


def test_what_is_odd_about_a_figure_is_said_below_it(counting):
    script = counting.workspace.catalog / "workloads" / "count.sh"
    script.write_text(script.read_text().replace("throughput=$1", "throughput=1"))
    done = run(counting, "-b", "32", "--repeats", "1", "--name", "try")
    assert (
        "local_counting_lenet5_fp32_bs32_1n1g: warning: printed 1.000, computed from timestamps 32.00 " in done.stdout
    )
    assert "step=120" in counting.dlperf("logs", "try/1").stdout


def test_a_log_that_gave_no_figure_is_read_again_once_its_format_is_mended(counting):
    script = counting.workspace.catalog / "workloads" / "count.sh"
    script.write_text(script.read_text().replace("DLPERF 2026", "at 2026"))
    framework = counting.workspace.catalog / "frameworks" / "counting.yaml"
    framework.write_text(framework.read_text().replace("format: dlperf", "format: speed"))
    written = counting.workspace.catalog / "formats" / "speed.yaml"
    written.parent.mkdir()
    written.write_text(SPEED.format(record="(?P<time>.*) step=(?P<step>\\d+) speed=(?P<value>.*)"))
    done = run(counting, "-b", "32", "--repeats", "1", "--name", "try", code=1)
    assert (
        "1 trial gave no figure, for the reason above: if it is the log format, fix that, then `dlperf verify try"
        in done.stderr
    )
    assert "bs32_1n1g/1: succeeded: no figure" in done.stderr
    written.write_text(SPEED.format(record="at (?P<time>[^ Z]+)Z step=(?P<step>\\d+) .*throughput=(?P<value>.*)"))
    assert "1: value differs: nothing stored, 32.0 recomputed\n" in counting.dlperf("verify", "try", code=1).stdout
    corrected = counting.dlperf("verify", "try", "--write")
    assert "1: value differs: nothing stored, 32.0 recomputed (updated)\n" in corrected.stdout
    (row,) = json.loads(counting.dlperf("results", "--campaign", "try", "--json").stdout)
    assert row["value"] == pytest.approx(32)
    written.write_text("id: speed\n")
    assert "no log format 'speed'" in counting.dlperf("verify", "try", "--write", code=1).stderr
    (row,) = json.loads(counting.dlperf("results", "--campaign", "try", "--json").stdout)
    assert row["value"] == pytest.approx(32)
