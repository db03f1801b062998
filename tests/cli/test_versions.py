"""Two versions of a program in one campaign, and the search for the commit that made it slower."""

from __future__ import annotations

import re
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from versioned_program import ENTRY, SCRIPT, WORDS, program_entry

from counting_workspace import Counting
from dlperf.cli import main
from dlperf.runs.store import read_campaign
from dlperf.table.load import load_results
from dlperf.verdicts.workspace import compare_in_workspace
from made_wheels import keep, lock_line, make_wheel, python_with_pip
from waiting import until

BUILT = ENTRY.replace("recipes:", "build: [cp FOLDER/train/count.sh ., echo FOLDER-2 >other]\nrecipes:")


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", "-C", folder, *identity, *words], check=True, capture_output=True, text=True).stdout


def commit(folder: Path, slower: str) -> str:
    (folder / "train").mkdir(exist_ok=True)
    (folder / "train" / "count.sh").write_text(SCRIPT.replace("SLOWER", slower))
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", f"Divide by {slower}")
    return git(folder, "rev-parse", "HEAD").strip()


@pytest.fixture
def checkout(tmp_path, counting: Counting) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    entry = counting.workspace.catalog / "frameworks" / "mine.yaml"
    entry.write_text(ENTRY.replace("FOLDER", str(folder)))
    return folder


def test_two_commits_run_in_turns_in_one_campaign_and_the_slower_one_fails(counting, checkout):
    fast, slow = commit(checkout, "1"), commit(checkout, "2")
    done = counting.dlperf("ab", "--a", "HEAD~1", "--b", "HEAD", *WORDS, "--name", "turns", code=1)
    assert "worse: -50.00 % (-" in done.stdout
    assert f"1 of 1 worse than A (a-{fast[:12]}) or missing" in done.stderr
    assert git(checkout, "worktree", "list").count("\n") == 1
    assert not (counting.workspace.versions / "project").exists()
    sides = (f"revision=a-{fast[:12]}", f"revision=b-{slow[:12]}")
    (pair,) = compare_in_workspace(counting.workspace, *sides).pairs
    begun = sorted((trial.started, row.id) for row in (pair.a, pair.b) for trial in row.trials)
    drawn = [key.configuration for key in read_campaign(counting.workspace.campaign("turns")).trials]
    assert len(begun) == 12, "one pair that does not count, and five"
    assert [name for _, name in begun] == drawn, "in the order that the seed of the campaign draws"
    assert (len(pair.a.values), len(pair.b.values)) == (5, 5)
    assert pair.found.code == "worse"
    assert [why.code for why in pair.reasons] == ["short_window"], "a claim needs longer trials than these"
    assert f"facts.commit: {fast} against {slow}" in pair.differences


def test_a_trial_that_fails_leaves_open_whether_a_version_is_the_same(counting, checkout):
    commit(checkout, "1")
    script = checkout / "train" / "count.sh"
    script.write_text('echo >>"$HOME/starts"; [ "$(wc -l <"$HOME/starts")" = 3 ] && exit 7\n' + script.read_text())
    git(checkout, "commit", "-q", "-a", "-m", "Fail in the third trial")
    done = counting.dlperf("ab", "--a", "HEAD~1", "--b", "HEAD", *WORDS, "--ci", "verdict", code=4)
    assert "1 of 7 trials failed or gave no value" in done.stdout
    assert "gate open: 0 of 1 worse than A" in done.stderr
    assert re.search(r"^trials are added: cannot tell: \+0\.00 % \(.*1 of 6 trials failed", done.stderr, re.MULTILINE)
    assert "<error" in (counting.workspace.root / "verdict/junit.xml").read_text()


def test_a_version_runs_again_after_its_campaign_has_ended(counting, checkout):
    sides = [commit(checkout, slower) for slower in ("1", "2")]
    (counting.home / "broken").touch()
    counting.dlperf("ab", "--a", "HEAD~1", "--b", "HEAD", *WORDS, "--repeats", "1", "--name", "turns", code=1)
    (counting.home / "broken").unlink()
    counting.dlperf("retry", "turns")
    until(lambda: git(checkout, "worktree", "list").count("\n") == 1, lambda: git(checkout, "worktree", "list"))
    values = {row.id: row.value for row in load_results(counting.workspace)}
    assert sorted(values.values()) == [16.0, 32.0]
    (slower,) = (name for name in values if sides[1][:12] in name)
    done = counting.dlperf("reproduce", f"turns/{slower}", "--max-repeats", "2", "--name", "again", code=4)
    assert "yours: 16.00 images/s (again, 2 trials, spread 0.00 %)" in done.stdout
    assert "cannot tell, whatever is measured: the earlier result has 2 of the 5 trials" in done.stderr
    assert git(checkout, "worktree", "list").count("\n") == 1
    entry = counting.workspace.catalog / "frameworks" / "mine.yaml"
    entry.write_text(ENTRY.replace("FOLDER", "/elsewhere"))
    done = counting.dlperf("reproduce", f"turns/{slower}", code=2)
    assert done.stderr == f"dlperf: mine: measured in {checkout}: name it as `workdir` again\n"


def test_the_first_worse_commit_is_found_and_its_steps_are_not_results(counting, checkout):
    commits = [commit(checkout, slower) for slower in ("1", "1", "0", "1", "2", "2")]
    done = counting.dlperf("bisect", commits[0], "HEAD", *WORDS, "--yes")
    assert done.stdout == f"{commits[4]}\n"
    assert "first worse commit, at least 99 % probable, by " in done.stderr
    plan, _, _, ends, *steps = done.stderr.splitlines()
    assert plan == "2 configurations, 12 trials: mine on local"
    assert ends.startswith(f"{commits[5][:12]} against {commits[0][:12]}: worse: -50.00 % (")
    known = ("likeliest so far: ", f"{commits[2][:12]} gives no value: ", "not measured, ", "first worse commit")
    assert [line for line in steps if not line.startswith(known)] == []
    assert "100.0 %" not in done.stderr, "no commit is certain"
    assert load_results(counting.workspace) == []
    assert git(checkout, "worktree", "list").count("\n") == 1


def test_commits_that_do_not_run_leave_a_range_and_another_exit_code(counting, checkout):
    commits = [commit(checkout, slower) for slower in ("1", "0", "2")]
    done = counting.dlperf("bisect", "HEAD~2", "HEAD", *WORDS, "--yes", "--budget", "0.1s", code=4)
    assert (done.stdout.split(), "--budget 0.1s is spent\n" in done.stderr) == (commits[1:], True)
    done = counting.dlperf("bisect", "HEAD~2", "HEAD", *WORDS, "--yes", "-v", code=4)
    assert "/1: succeeded" in done.stderr
    assert done.stdout.splitlines() == commits[1:]
    assert f"not measured, because it gave no value: {commits[1]}" in done.stderr
    assert "cannot tell: one of 2 commits" in done.stderr


def test_equal_ends_may_still_differ_by_less_than_their_trials_exclude(counting, checkout):
    for _ in range(3):
        commit(checkout, "1")
    done = counting.dlperf("bisect", "HEAD~2", "HEAD", *WORDS, "--yes", code=4)
    said = r"cannot tell: \+0\.00 % \(-0\.35 % … \+0\.35 %\), not even 1,000 trials each would decide$"
    assert re.search(said, done.stderr, re.MULTILINE), done.stderr


def test_each_commit_has_a_build_of_its_own(counting, checkout):
    entry = counting.workspace.catalog / "frameworks" / "mine.yaml"
    built = BUILT.replace("train/count.sh, ", '"{build}/count.sh", ')
    entry.write_text(built.replace("FOLDER", str(checkout)))
    for slower in ("1", "2"):
        commit(checkout, slower)
    sides = ("--a", "HEAD~1", "--b", "HEAD")
    done = counting.dlperf("ab", *sides, *WORDS, "--repeats", "5", code=1)
    assert "worse: -50.00 %" in done.stdout
    others = {path.read_text() for path in (counting.home / ".dlperf" / "builds").glob("*/other")}
    assert others == {f"{checkout}-2\n"}


def test_two_environments_run_the_program_with_their_own_interpreter(counting, checkout, tmp_path):
    commit(checkout, "$SLOWER")
    for name, slower in (("old", 1), ("new", 2)):
        (tmp_path / name / "bin").mkdir(parents=True)
        (tmp_path / name / "bin" / "activate").write_text(f"export SLOWER={slower}\n")
    sides = ("--a", str(tmp_path / "old"), "--b", str(tmp_path / "new"))
    done = counting.dlperf("ab", *sides, *WORDS, "--repeats", "5", code=1)
    assert "worse: -50.00 %" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ab", "--a", "HEAD", "--b", "nowhere", *WORDS), "--b nowhere: no commit in"),
        (("ab", "--a", "env:", "--b", "HEAD", *WORDS), "--a env:: no name after the colon"),
        (("ab", "--a", __file__, "--b", "HEAD", *WORDS), "name a lock of catalog/workloads as env:test_versions.py"),
        (("bisect", "env:a.lock", "env:b.lock", *WORDS), "compare two by `dlperf ab --a env:a.lock --b env:b.lock`"),
        (("ab", "--a", "--help=1", "--b", "HEAD", *WORDS), "--a --help=1: no commit in"),
        (("ab", "--a", "HEAD", "--b", "HEAD", "-f", "counting"), "counting: select one program whose recipe has a"),
        (("bisect", "HEAD", "HEAD~1", *WORDS), "HEAD is no ancestor of HEAD~1: name the older commit first"),
        (("bisect", "image:a:26.11", "image:a:26.13", *WORDS), "a:26.11, a:26.13: no date: month must be in 1..12"),
        (("bisect", "image:a:2026-06-01", "image:a:2026-06-31", *WORDS), "no date: day is out of range for month"),
    ],
)
def test_a_wrong_use_is_said_in_one_line(counting, checkout, capsys, words, said):
    commit(checkout, "1")
    commit(checkout, "1")
    with pytest.raises(SystemExit) as leaving:
        main(["--workspace", str(counting.workspace.root), *words])
    errors = capsys.readouterr().err
    assert leaving.value.code == 2
    assert said in errors
    assert len(errors.splitlines()) == 1


READ = 'int(open(sys.argv[2] + "/site/slower.txt").read())'
STEPS = f"""\
import sys
speed = int(sys.argv[1]) / {READ}
"""
STEPS += """\
for step in range(10, 130, 10):
    moment = f"2026-01-01T00:{step // 60:02}:{step % 60:02}.000000Z"
    print(f"DLPERF {moment} step={step} epoch=0 samples={step * speed:.0f} loss=1 throughput={speed}")
"""


def test_two_locks_are_installed_in_turns(counting, tmp_path):
    program_entry(counting, "requirements: old.lock", "{batch_size}", "{build}")
    entry = counting.workspace.catalog / "frameworks" / "mine.yaml"
    entry.write_text(entry.read_text().replace("interpreter: [sh]", "interpreter: [python3]"))
    folder = counting.workspace.catalog / "workloads"
    (folder / "count.sh").write_text(STEPS)
    for name, slower in (("old", 1), ("new", 2)):
        content = str(slower).encode()
        digest = sha256(content).hexdigest()
        store = counting.home / ".dlperf" / "wheels" / digest
        store.mkdir(parents=True)
        (store / "slower.txt").write_bytes(content)
        (folder / f"{name}.lock").write_text(
            f"slower.txt @ https://localhost:9/{name}/slower.txt --hash=sha256:{digest}\n"
        )
    done = counting.dlperf("ab", "--a", "env:old.lock", "--b", "env:new.lock", *WORDS, "--repeats", "5", code=1)
    assert "worse: -50.00 %" in done.stdout
    assert "no exact version" not in done.stderr
    done = counting.dlperf("ab", "--a", "env:none.lock", "--b", "env:new.lock", *WORDS, code=2)
    assert "none.lock is neither in dlperf/workloads nor in catalog/workloads" in done.stderr


def test_two_locks_of_a_framework_without_one_come_before_the_packages_of_its_python(counting, tmp_path):
    program_entry(counting, "description: It has packages of its own.", "{batch_size}")
    entry = counting.workspace.catalog / "frameworks" / "mine.yaml"
    entry.write_text(entry.read_text().replace("interpreter: [sh]", f"interpreter: [{python_with_pip()}]"))
    folder = counting.workspace.catalog / "workloads"
    (folder / "count.sh").write_text(STEPS.replace("import sys", "import sys, slower").replace(READ, "slower.BY"))
    for name, version in (("old", 1), ("new", 2)):
        wheel = make_wheel(tmp_path, "slower", f"{version}.0", f"BY = {version}\n")
        keep(counting.home / ".dlperf" / "wheels", wheel)
        same = make_wheel(tmp_path, "same", "1.0", "")
        if name == "old":
            keep(counting.home / ".dlperf" / "wheels", same)
        (folder / f"{name}.lock").write_text(lock_line(wheel) + lock_line(same))
    sides = ("ab", "--a", "env:old.lock", "--b", "env:new.lock", *WORDS)
    done = counting.dlperf(*sides, "--repeats", "5", "--name", "first", code=1)
    assert "worse: -50.00 %" in done.stdout
    assert "different conditions, 1 of 1: facts.packages: slower==1.0 against slower==2.0\n" in done.stderr
    counting.run(*sides, "--repeats", "1", "--max-repeats", "2", "--name", "second")
    builds = [path.read_text() for path in counting.campaign("second").directory.glob("*/*/nodes/*/ranks/build.log")]
    assert len(builds) >= 4
    assert all("used again: " in text and "package slower==" in text for text in builds)
