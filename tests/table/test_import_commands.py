"""The command import, as a person or a script calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from run_commands import Command

from dlperf.runs.paths import WorkspacePaths
from handmade_trials import own_log


def test_import_then_results_and_verify(run: Command, workspace: WorkspacePaths, tmp_path: Path):
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "x.log").write_text(own_log(300.0))
    (logs / "notes.txt").write_text("hello\n")
    words = ("import", str(logs), "--campaign", "theirs", "-H", "Their Machine", "--estimator", "mean()")
    dry = run(*words, "--dry-run")
    assert (dry.returncode, workspace.campaign("theirs").directory.exists()) == (0, False)
    assert "no throughput record of any known format" in dry.stdout
    done = run(*words, "--source", "owner/repository@abc", "--json")
    document = json.loads(done.stdout)
    assert document["trials"][0]["result"]["value"] == pytest.approx(300.0)
    assert document["trials"][0]["configuration"] == "their-machine_numpy_lenet5_fp32_bs4_1n2g"
    (row,) = json.loads(run("results", "--campaign", "theirs", "--json").stdout)
    assert (row["value"], row["protocol"]) == (pytest.approx(300.0), "mean()")
    assert run("verify", "theirs").returncode == 0
    again = run(*words)
    assert (again.returncode, len(again.stderr.splitlines())) == (2, 1)


def test_an_import_says_of_how_many_logs_there_is_something_odd(run: Command, tmp_path: Path):
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "a.log").write_text(own_log(300.0))
    (logs / "b.log").write_text(own_log(300.0, batch_size=8, printed=900.0))
    done = run("import", str(logs), "--campaign", "their logs", "-H", "theirs")
    assert "see `dlperf results --campaign 'their logs'`; 1 log with caveats: see `dlperf parse`" in done.stderr


@pytest.mark.parametrize("option", ["--campaign", "--report"])
def test_an_import_gives_the_error_of_a_log_in_place_of_its_value(run: Command, tmp_path: Path, option: str):
    """41,000 images/s of ResNet-50 on one GPU are more than any H100 computes."""
    log = tmp_path / "resnet50_bf16_b4.log"
    log.write_text(own_log(41_000.0, gpus=1))
    done = run("import", str(log), option, "theirs", "-H", "h100", "-f", "pytorch", "-c", "resnet50", "-p", "bf16")
    assert "is above the 40,367 possible at the GPUs' dense peak" in done.stdout
    assert " dlperf - images/s " in " ".join(done.stdout.split())
    assert done.stderr.endswith("; 1 trial without a usable value: see notes\n")


WRONG = {
    "two rules": ("--estimator", "mean()", "--protocol", "dlperf"),
    "an unknown protocol": ("--protocol", "nothing"),
    "an unknown estimator": ("--estimator", "best()"),
    "an unknown format": ("--format", "nothing"),
    "a pattern that names nothing known": ("--map", "{speed}.log"),
    "a source without a commit": ("--source", "somewhere"),
}


@pytest.mark.parametrize("options", WRONG.values(), ids=WRONG)
def test_a_wrong_import_is_refused_and_writes_nothing(
    run: Command, workspace: WorkspacePaths, tmp_path: Path, options: tuple[str, ...]
):
    log = tmp_path / "x.log"
    log.write_text(own_log(300.0))
    done = run("import", str(log), "--campaign", "theirs", "-H", "h", *options)
    assert done.returncode == 2
    assert not workspace.campaign("theirs").directory.exists()


def test_a_log_that_is_imported_is_called_as_it_was_asked_for(run: Command, tmp_path: Path):
    log = tmp_path / "a.log"
    log.write_text(own_log(100.0))
    (tmp_path / "b.log").touch()
    done = run("import", str(log), str(tmp_path / "b.log"), "--campaign", "new", "-H", "here", "--json")
    told = json.loads(done.stdout)
    assert [item["log"] for item in (*told["trials"], *told["skipped"])] == [str(log), str(tmp_path / "b.log")]
