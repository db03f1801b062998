"""Secrets of the catalogue reach the node and nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from dlperf.runs.lookup import remove_campaign
from dlperf.runs.paths import WorkspacePaths
from planted_secrets import SECRETS, archived, leaks, planted_workspace

RUN = ("run", "-H", "local", "-f", "counting", "-c", "lenet5", "-b", "32,64", "--repeats", "1", "--name", "try")
RAW = frozenset({"out.log", "secrets.json"})


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    here = planted_workspace(tmp_path_factory.mktemp("planted"))
    here.fail(64)
    here.dlperf(*RUN, code=1)
    return here


def test_the_program_gets_the_values_and_runs_holds_placeholders(planted):
    runs = planted.workspace.runs
    for _, node in archived(planted.workspace, "try"):
        log = node.log.read_text()
        assert all(value in log for name, value in SECRETS.items() if name not in ("shell",))
    assert leaks(runs, RAW) == []
    text = planted.campaign("try").plan.read_text()
    assert "[secret:HF_TOKEN]" in text
    assert '"TOKENIZERS_PARALLELISM": "false"' in text
    assert '"PAD_TOKEN": "<pad>"' in text


def test_what_holds_secrets_is_for_its_owner_alone(planted):
    private = [path for path in planted.workspace.runs.rglob("*") if path.name in RAW]
    assert len(private) == 3
    assert {path.stat().st_mode & 0o777 for path in private} == {0o600}
    scripts = list(planted.home.glob(".dlperf/*/*/launch.sh"))
    assert len(scripts) == 2
    assert {path.stat().st_mode & 0o777 for path in scripts} == {0o600}


def test_git_ignores_the_values_whatever_the_workspace_s_own_gitignore_says_and_also_in_the_trash(planted, tmp_path):
    root = shutil.copytree(planted.workspace.root, tmp_path / "copy")
    (root / ".gitignore").write_text("*.pyc\n")
    copy = WorkspacePaths(root)
    remove_campaign(copy, copy.campaign("try"))
    shutil.copytree(planted.campaign("try").directory, copy.campaign("again").directory)
    for words in (("init", "-q"), ("add", "-A")):
        subprocess.run(["git", "-C", str(root), *words], check=True)
    kept = subprocess.check_output(["git", "-C", str(root), "ls-files"], text=True)
    assert "campaign.json" in kept
    assert "secrets.json" not in kept


def test_an_archived_script_differs_from_the_sent_one_only_in_its_placeholders(planted):
    values = json.loads((planted.campaign("try").directory / "secrets.json").read_text())
    assert set(values.values()) == set(SECRETS.values())
    for files, node in archived(planted.workspace, "try"):
        script = files.read(node.launch).decode()
        assert script.count("[secret:") == len(SECRETS)
        assert "--max-token 4096" in script


def test_verify_finds_no_difference(planted):
    assert planted.dlperf("verify", "try").stdout


def test_a_retry_has_the_secrets_again(planted):
    planted.home.joinpath("fail-64").unlink()
    planted.dlperf("retry", "try")
    planted.wait_for("try", "64/2", "succeeded")
    assert leaks(planted.workspace.runs, RAW) == []


def test_plan_shows_scripts_without_secrets(planted):
    shown = planted.dlperf("plan", *RUN[1:7], "--render").stdout
    assert SECRETS["HF_TOKEN"] not in shown
    assert "[secret:HF_TOKEN]" in shown


def test_a_trial_whose_secrets_are_gone_fails_and_says_what_is_missing(planted):
    planted.fail(64)
    planted.dlperf(*RUN[:-1], "other", code=1)
    (planted.campaign("other").directory / "secrets.json").unlink()
    planted.dlperf("retry", "other")
    assert "secrets.json of the campaign is missing" in planted.dlperf("resume", "other", code=1).stdout


def test_clean_removes_a_trial_whose_archive_lacks_only_the_secrets(planted):
    assert len(list(planted.home.glob(".dlperf/*/*/launch.sh"))) >= 2
    planted.dlperf("clean", "--yes")
    assert not (planted.home / ".dlperf").exists(), "no trial is left, and dlperf's program went, too"
