from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from dlperf.runs.checksums import ChecksumProblem, checksum_problems, write_checksums
from dlperf.runs.paths import TrialPaths


@pytest.fixture
def sealed(tmp_path: Path) -> TrialPaths:
    paths = TrialPaths(tmp_path / "trial")
    for name in ("trial.json", "nodes/a/out.log", "nodes/a/ranks/odd\nname\\.log"):
        file = paths.directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    write_checksums(paths)
    return paths


def test_an_untouched_trial_has_no_problem(sealed: TrialPaths):
    assert checksum_problems(sealed) == []


def test_sha256sum_reads_the_same_file(sealed: TrialPaths):
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=sealed.directory, check=True)


def test_a_derived_result_is_no_part_of_what_was_archived(sealed: TrialPaths):
    sealed.result.write_text("{}")
    assert checksum_problems(sealed) == []


def test_changed_missing_and_added_files_are_told_apart(sealed: TrialPaths):
    sealed.trial.write_text("other")
    (sealed.directory / "nodes/a/out.log").unlink()
    (sealed.directory / "nodes/a/extra.log").write_text("new")
    assert checksum_problems(sealed) == [
        ChecksumProblem("nodes/a/extra.log", "added"),
        ChecksumProblem("nodes/a/out.log", "missing"),
        ChecksumProblem("trial.json", "changed"),
    ]


def test_a_list_that_names_files_outside_the_trial_reads_none_of_them(sealed: TrialPaths):
    outside = sealed.directory.parent / "secret"
    outside.write_text("secret")
    sealed.checksums.write_text(sealed.checksums.read_text() + f"{'0' * 64}  ../secret\n")
    assert checksum_problems(sealed) == [ChecksumProblem("../secret", "missing")]


def test_a_link_out_of_the_trial_is_not_followed(sealed: TrialPaths):
    (sealed.directory / "link").symlink_to("/etc")
    (sealed.directory / "other").symlink_to("/etc/passwd")
    assert checksum_problems(sealed) == []


def test_a_trial_that_was_never_sealed_says_so(tmp_path: Path):
    assert checksum_problems(TrialPaths(tmp_path)) == [ChecksumProblem("SHA256SUMS", "missing")]
