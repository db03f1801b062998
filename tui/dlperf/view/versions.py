"""Versions of a program: commits of its checkout, other checkouts, Python environments; campaigns of two."""

from __future__ import annotations

import math
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from dlperf.catalog.axes import REVISION
from dlperf.errors import DlperfError, RequestError
from dlperf.executors.wheels import locked_requirements
from dlperf.plan import Plan, PlannedConfiguration
from dlperf.plan.model import Version
from dlperf.plan.versions import ACTIVATE
from dlperf.runs.paths import WorkspacePaths
from dlperf.table.load import Filters, load_results
from dlperf.verdicts.compare import Selector, compare
from dlperf.verdicts.judging import DEFAULTS, Judgement, Options, judge_pairs
from dlperf.verdicts.trials import scores

if TYPE_CHECKING:
    from dlperf.messages import Message
    from dlperf.verdicts.inference.commit_search import History, Step


IMAGE, LOCK = "image:", "env:"
"""How the name of an image or of a lock begins among versions."""


def add_worktrees(planned: Iterable[PlannedConfiguration]) -> None:
    """Check out the commits that a campaign compares, each in a folder of its own, unless they are.

    Raises:
        DlperfError: git cannot.
    """
    for checkout, folder, commit in _commits(planned):
        if not Path(folder).exists():
            run_git(Path(checkout), "worktree", "add", "--quiet", "--force", "--detach", folder, commit)


def remove_worktrees(planned: Iterable[PlannedConfiguration]) -> None:
    """Remove what ``add_worktrees`` added, and the folder of the checkout's commits where no other is there."""
    for checkout, folder, _ in _commits(planned):
        with suppress(DlperfError, OSError):
            run_git(Path(checkout), "worktree", "remove", "--force", folder)
            Path(folder).parent.rmdir()


def _commits(planned: Iterable[PlannedConfiguration]) -> list[tuple[str, str, str]]:
    """Return checkout, folder and hash of each commit, once."""
    versions = (item.version for item in planned)
    return list(dict.fromkeys((*item.moved, item.commit) for item in versions if item and item.moved and item.commit))


GIT_SECONDS = 600.0
"""A partial clone asks a server for what it lacks."""


def run_git(folder: Path, *words: str) -> str:
    """Return what a command of git prints. Raises DlperfError: it fails, or there is no git."""
    try:
        command = ["git", "-C", str(folder), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=GIT_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise DlperfError(f"git {words[0]} in {folder}: not done within {GIT_SECONDS:g} s") from error
    except FileNotFoundError as error:
        raise DlperfError("git: no such program on this machine: install it") from error
    if done.returncode:
        raise DlperfError(f"git {words[0]} in {folder}: {done.stderr.strip() or 'failed'}")
    return done.stdout.strip()


def checkout_of(plan: Plan) -> Path:
    """Return the folder of the checkout that holds the program of a plan.

    Raises:
        RequestError: its recipes name no or several folders, or one that is not here.
    """
    folders = {item.launch.workdir for item in plan.configurations}
    if len(folders) != 1 or None in folders:
        names = ", ".join(sorted({item.configuration.framework for item in plan.configurations}))
        raise RequestError(f"{names}: select one program whose recipe has a `workdir`, the folder of its checkout")
    folder = Path(str(folders.pop()))
    if not folder.is_dir():
        raise RequestError(f"workdir {folder}: there is no such folder on this machine")
    with suppress(DlperfError):
        return Path(run_git(folder, "rev-parse", "--show-toplevel"))
    return folder


def find_versions(workspace: WorkspacePaths, plan: Plan, sides: Mapping[str, str]) -> list[Version]:
    """Return the versions that texts name: ``image:NAME``, ``env:LOCK``, a commit or a folder.

    Raises:
        RequestError: there is none of such a name.
    """
    stated = {side: _stated_version(side, text) for side, text in sides.items()}
    if all(stated.values()):
        return list(_with_packages(workspace, [version for version in stated.values() if version]))
    checkout = checkout_of(plan)
    return [version or find_version(workspace, checkout, side, sides[side]) for side, version in stated.items()]


def _stated_version(side: str, text: str) -> Version | None:
    if text in (IMAGE, LOCK):
        raise RequestError(f"--{side} {text}: no name after the colon")
    if text.startswith(IMAGE):
        return image_version(side, text.removeprefix(IMAGE))
    if text.startswith(LOCK):
        return Version(_label(side, text.removeprefix(LOCK)), requirements=text.removeprefix(LOCK))
    if Path(text).is_file():
        raise RequestError(f"--{side} {text}: a file: name a lock of catalog/workloads as {LOCK}{Path(text).name}")
    return None


def _with_packages(workspace: WorkspacePaths, versions: Sequence[Version]) -> Iterator[Version]:
    """Let each version state the packages of its lock that those of the others lack.

    Raises:
        RequestError: a lock is missing, or a line of it has no exact version or no hash.
    """
    names = [version.requirements for version in versions if version.requirements]
    packages = {
        name: frozenset(item.line.partition(" --hash")[0] for item in locked_requirements(name, workspace.catalog))
        for name in names
    }
    common = frozenset[str]().union(*packages.values()).intersection(*packages.values())
    for version in versions:
        yield replace(version, packages=", ".join(sorted(packages.get(version.requirements, common) - common)))


def image_version(side: str, image: str) -> Version:
    """Return the version of a program that runs in an image."""
    return Version(_label(side, image), image=image)


def _label(side: str, name: str) -> str:
    return f"{side}-{re.sub(r'[^A-Za-z0-9.]+', '-', name).strip('-')[-40:]}"


def find_version(workspace: WorkspacePaths, checkout: Path, side: str, text: str) -> Version:
    """Return the version that a commit or a folder names: of an environment, or else of another checkout.

    Raises:
        RequestError: it is neither.
    """
    folder = Path(text).expanduser().absolute()
    if "/" in text and folder.is_dir():
        label = _label(side, folder.name)
        if (folder / ACTIVATE).is_file():
            programs = tuple(sorted(path.name for path in folder.glob("bin/*")))
            return Version(label, environment=str(folder), programs=programs)
        return Version(label, moved=(str(checkout), str(folder)))
    try:
        commit = find_commit(checkout, text)
    except RequestError as error:
        raise RequestError(f"--{side} {error}, and no folder (written with a slash: ./{text})") from error
    worktree = workspace.versions / checkout.name / commit
    return Version(f"{side}-{commit[:12]}", commit, (str(checkout), str(worktree)))


def find_commit(checkout: Path, text: str) -> str:
    """Return the whole hash of a commit. Raises RequestError: there is none of that name."""
    try:
        return run_git(checkout, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{text}^{{commit}}")
    except DlperfError:
        raise RequestError(f"{text}: no commit in {checkout}") from None


def find_range(checkout: Path, good: str, bad: str) -> tuple[str, str]:
    """Return the whole hashes of two commits, of which the first leads to the second.

    Raises:
        RequestError: it does not, or one is none.
    """
    first, last = find_commit(checkout, good), find_commit(checkout, bad)
    if first == last or run_git(checkout, "merge-base", first, last) != first:
        raise RequestError(f"{good} is no ancestor of {bad}: name the older commit first")
    return first, last


def read_history(checkout: Path, first: str, last: str) -> History:
    """Return the commits after one commit up to another, with their parents."""
    from dlperf.verdicts.inference.commit_search import History

    listed = run_git(checkout, "rev-list", "--topo-order", "--reverse", "--parents", f"{first}..{last}").splitlines()
    parents = {commit: above for commit, *above in map(str.split, listed)}
    return History(first, {commit: [each for each in above if each in parents] for commit, above in parents.items()})


def dated_images(good: str, bad: str) -> History:
    """Return the images of one name from a dated tag to a later one: each day, or each month of tags such as 26.02.

    Raises:
        RequestError: the two differ in more than a date, which is none, or the first is no earlier.
    """
    from dlperf.verdicts.inference.commit_search import History

    for pattern, read, write, step in _DATES:
        first, last = (re.fullmatch(rf"(.*?)({pattern})(.*)", image) for image in (good, bad))
        if first and last and first.group(1, 3) == last.group(1, 3):
            try:
                begin, end = read(first[2]), read(last[2])
            except ValueError as error:
                raise RequestError(f"{good}, {bad}: no date: {error}") from error
            names = [f"{first[1]}{write(number)}{first[3]}" for number in range(begin, end + 1, step)]
            if len(names) > 1:
                return History(good, {name: [before] if before != good else [] for before, name in pairwise(names)})
    raise RequestError(
        f"{good}, {bad}: not one image with an earlier and a later date in its tag, such as 2026-06-01 or 26.06"
    )


def _month(text: str) -> int:
    year, month = map(int, text.split("."))
    if not 1 <= month <= 12:
        raise ValueError("month must be in 1..12")
    return 12 * year + month - 1


_DATES: tuple[tuple[str, Callable[[str], int], Callable[[int], str], int], ...] = (
    (
        r"\d{4}-\d\d-\d\d",
        lambda text: date.fromisoformat(text).toordinal(),
        lambda day: date.fromordinal(day).isoformat(),
        1,
    ),
    (r"\d{8}", lambda text: date.fromisoformat(text).toordinal(), lambda day: f"{date.fromordinal(day):%Y%m%d}", 1),
    (r"\d\d\.\d\d", _month, lambda number: f"{number // 12:02d}.{number % 12 + 1:02d}", 1),
)
"""How a date is written, as a number, and back."""


def judge_versions(
    workspace: WorkspacePaths, campaign: str, a: Version, b: Version, options: Options = DEFAULTS
) -> list[Judgement]:
    """Judge B against A on each configuration of a campaign of both."""
    rows = load_results(workspace, Filters(campaigns=(campaign,)))
    sides = (Selector(version.label, {"revision": version.label}) for version in (a, b))
    return judge_pairs(compare(rows, *sides), options)


def failure_of(workspace: WorkspacePaths, campaign: str, version: Version) -> Message:
    """Return why a version has no value in a campaign."""
    rows = load_results(workspace, Filters(campaigns=(campaign,)))
    return next(row.status.in_full for row in rows if dict(row.axes)[REVISION] == version.label)


def step_of(workspace: WorkspacePaths, campaign: str, commits: Mapping[str, str]) -> Step:
    """Return the commits, or images, and the logarithms of the scores of a campaign of two.

    Args:
        commits: label → commit or image.
    """
    rows = load_results(workspace, Filters(campaigns=(campaign,)))
    return tuple((commits[str(dict(row.axes)[REVISION])], math.log(score)) for row in rows for score in scores(row))
