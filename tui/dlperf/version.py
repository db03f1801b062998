"""The version of dlperf: the release, and for a development build the commit that it was made from."""

import subprocess
from functools import cache
from pathlib import Path

RELEASE = "0.2.0"
PACKAGED = Path(__file__).with_name("commit.txt")
"""Written into wheels that are built in a checkout (``hatch_build.py``)."""
CHECKOUT = Path(__file__).parents[2]
SECONDS = 10.0
"""Longest wait for git."""


@cache
def version() -> str:
    """Return the release, such as ``0.2.0``, or ``0.2.0+g1b0c4790`` for what was built from another commit."""
    commit = PACKAGED.read_text("utf-8").strip() if PACKAGED.is_file() else commit_of(CHECKOUT)
    return f"{RELEASE}+{commit}" if commit else RELEASE


def commit_of(checkout: Path) -> str:
    """Return ``g`` and the commit of a checkout, with ``.dirty`` where files differ from it.

    Empty where there is no checkout, and for the commit that is tagged as the release.
    """
    if not (checkout / ".git").exists():
        return ""
    if not (found := _git(checkout, "describe", "--always", "--exclude=*", "--abbrev=8")):
        return ""
    # ``describe --dirty`` locks the index: killed then, git would leave the lock in somebody's checkout
    found += ".dirty" if _git(checkout, "--no-optional-locks", "status", "--porcelain", "--untracked-files=no") else ""
    tags = _git(checkout, "tag", "--points-at", "HEAD").split()
    return "" if f"v{RELEASE}" in tags and not found.endswith(".dirty") else f"g{found}"


def _git(checkout: Path, *arguments: str) -> str:
    # a container's root may read the checkout of somebody else
    command = ["git", "-C", str(checkout), "-c", "safe.directory=*", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
