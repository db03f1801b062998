"""Worktrees of git: the commits that a campaign compares, checked out while it runs."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from dlperf.errors import DlperfError
from dlperf.plan import PlannedConfiguration


def add_worktrees(planned: Iterable[PlannedConfiguration]) -> None:
    """Check out the commits that a campaign compares, each in a folder of its own, unless they are.

    Raises:
        DlperfError: git cannot.
    """
    for checkout, folder, commit in _commits(planned):
        if not Path(folder).exists():
            run_git(Path(checkout), "worktree", "add", "--quiet", "--force", "--detach", folder, commit)


def remove_worktrees(planned: Iterable[PlannedConfiguration]) -> None:
    """Remove what ``add_worktrees`` added."""
    for checkout, folder, _ in _commits(planned):
        with suppress(DlperfError):
            run_git(Path(checkout), "worktree", "remove", "--force", folder)


def _commits(planned: Iterable[PlannedConfiguration]) -> list[tuple[str, str, str]]:
    """Return checkout, folder and hash of each commit, once."""
    versions = (item.version for item in planned)
    return list(dict.fromkeys((*item.moved, item.commit) for item in versions if item and item.moved and item.commit))


def run_git(folder: Path, *words: str) -> str:
    """Return what a command of git prints.

    Raises:
        DlperfError: it fails, or there is no git.
    """
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise DlperfError("git: no such program on this machine: install it") from error
    if done.returncode:
        raise DlperfError(f"git {words[0]} in {folder}: {done.stderr.strip() or 'failed'}")
    return done.stdout.strip()
