"""``dlperf clean``: nodes lose only what is archived whole."""

from __future__ import annotations

import json
import shutil

import pytest

RUN = ("run", "-H", "local", "-f", "counting", "-c", "lenet5", "-b", "32", "--yes", "--name", "try")


def folders(counting) -> list[str]:
    return sorted(folder.name for folder in (counting.home / ".dlperf").iterdir() if folder.name != "bin")


def test_archived_trials_are_removed_when_it_is_said_twice(counting):
    counting.dlperf(*RUN, "--repeats", "2")
    told = counting.dlperf("clean", "try")
    assert (
        "2 archived trials would be removed from 1 node (local), unless a folder holds what is not archived"
        in told.stderr
    )
    assert len(folders(counting)) == 2
    wheel = counting.home / ".dlperf" / "wheels" / ("0" * 64) / "x-1-py3-none-any.whl"
    wheel.parent.mkdir(parents=True)
    wheel.touch()
    done = counting.dlperf("clean", "try", "--yes")
    assert done.stdout.splitlines()[1].split()[:2] == ["local", "2"]
    assert wheel.exists(), "another trial may need it"
    assert folders(counting) == ["wheels"], "no trial is left, and dlperf's program went, too"
    counting.dlperf("clean", "try", "--caches", "--yes")
    assert not (counting.home / ".dlperf").exists()
    counting.dlperf("clean", "--yes")
    assert json.loads(counting.dlperf("verify", "try", "--json").stdout)


def test_a_trial_whose_archive_is_not_whole_stays(counting):
    counting.dlperf(*RUN, "--repeats", "2")
    first, second = counting.campaign("try").directory.glob("*/*/nodes/local/out.log")
    first.write_bytes(first.read_bytes()[:-1])
    done = counting.dlperf("clean", "--yes", code=1)
    assert "kept: its archive is not whole: nodes/local/out.log: changed: see `dlperf verify`" in done.stderr
    assert len(folders(counting)) == 1
    assert second.is_file()


def test_a_log_that_did_not_come_home_whole_stays(counting):
    counting.dlperf(*RUN, "--repeats", "1")
    (log,) = (counting.home / ".dlperf").glob("*/local/out.log")
    with log.open("a") as stream:
        stream.write("more\n")
    done = counting.dlperf("clean", "--yes", code=1)
    assert "kept: not in the archive: local/out.log" in done.stderr
    assert "name files that may be lost: `--discard-unarchived PATTERN`" in done.stderr
    assert log.is_file()
    counting.dlperf("clean", "--yes", "--discard-unarchived", "out.log")
    assert not (counting.home / ".dlperf").exists()


def test_only_trials_on_the_named_machines_are_removed(counting):
    counting.dlperf(*RUN, "--repeats", "1")
    told = counting.dlperf("clean", "--hardware", "h200")
    assert "0 archived trials would be removed" in told.stderr
    told = counting.dlperf("clean", "--hardware", "elsewhere", code=2)
    assert told.stderr.startswith("dlperf: --hardware elsewhere: neither measured nor in the catalogue")


def test_trials_of_a_removed_workspace_are_found_and_removed(counting):
    counting.dlperf(*RUN, "--repeats", "1")
    counting.dlperf(*RUN[:-1], "gone", "--repeats", "2")
    shutil.rmtree(counting.campaign("gone").directory)
    (counting.home / ".dlperf/builds").mkdir()
    orphans = ("clean", "--orphans", "--hardware", "local")
    assert "0 trials (0 B) would be removed" in counting.dlperf(*orphans).stderr, "they are younger than 30 days"
    told = counting.dlperf(*orphans, "--unchanged", "0")
    assert "2 trials (" in told.stderr
    assert "another workspace may have planned them: add --yes" in told.stderr
    assert len(folders(counting)) == 4
    done = counting.dlperf(*orphans, "--unchanged", "0", "--yes")
    assert done.stdout.splitlines()[1].split()[:2] == ["local", "2"]
    (kept,) = (name for name in folders(counting) if name != "builds")
    assert kept.startswith("try-")
    counting.dlperf("clean", "--yes")
    assert folders(counting) == ["builds"], "later trials would reuse it"
    counting.dlperf(*orphans, "--yes")
    assert not (counting.home / ".dlperf").exists()


def test_an_orphan_that_runs_stays(counting):
    counting.dlperf(*RUN, "--repeats", "1")
    (exit_file,) = (counting.home / ".dlperf").glob("*/local/exit.json")
    exit_file.unlink()
    shutil.rmtree(counting.campaign("try").directory)
    done = counting.dlperf("clean", "--orphans", "-H", "local", "--unchanged", "0", "--yes")
    assert "kept: it left no exit file: its processes may still run" in done.stderr
    assert len(folders(counting)) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["try", "--hardware", "local"], "--orphans is of machines: name them with --hardware, and no campaign"),
        ([], "--orphans is of machines: name them with --hardware, and no campaign"),
        (["--hardware", "nowhere"], "--hardware nowhere: no machine of yours (known: "),
    ],
)
def test_orphans_are_asked_of_known_machines(counting, words, said):
    assert said in counting.dlperf("clean", "--orphans", *words, code=2).stderr
