"""Create a workspace, and bring one that another version of dlperf wrote up to date."""

import hashlib
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dlperf.catalog.files.entries import KINDS, PROGRAMS
from dlperf.errors import RequestError
from dlperf.opening import make_folder, read_bytes
from dlperf.report.site.before_stamps import convert, is_unstamped_copy
from dlperf.report.site.shipped import files_below, own_files, shipped_root
from dlperf.report.templating import TEMPLATES
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.store import read_record_if_whole, write_atomic, write_record
from dlperf.version import RELEASE

NEW_FILES = Path(__file__).parents[1] / "workspace"
"""Folder of the files of a new workspace."""


@dataclass(frozen=True)
class Stamp:
    """``site/workspace.json``: which dlperf wrote the workspace, and what its owner replaced of it."""

    version: str
    replaced: Mapping[str, str]
    """File in ``site`` → SHA-256 of the file of dlperf that it replaces."""


def create_workspace(root: Path, site_url: str = "") -> list[str]:
    """Write the files that a workspace lacks and return their paths."""
    files = files_below(NEW_FILES) | {".gitignore": NEW_FILES / ".gitignore"}
    missing = [name for name in files if not (root / name).exists()]
    for kind in (*KINDS, PROGRAMS):
        make_folder(root / "catalog" / kind)
    for name in missing:
        data = read_bytes(files[name])
        if name == "mkdocs.yml" and site_url:
            data = re.sub(rb"(?m)^# site_url:.*$", f"site_url: {site_url.rstrip('/')}/".encode(), data)
        write_atomic(root / name, data)
    update_workspace(WorkspacePaths(root), accept=True)
    return [*missing]


def update_workspace(workspace: WorkspacePaths, accept: bool = False) -> list[str]:
    """Bring a workspace to this version, and return what was done, one sentence each.

    Args:
        accept: files that replace those of dlperf fit this version.

    Raises:
        RequestError: a newer dlperf wrote it, it holds campaigns of version 0.1, or a file of it replaces one that has
            changed since.
    """
    _refuse_campaigns_of_0_1(workspace)
    notes = convert(workspace) if is_unstamped_copy(workspace) else []
    before = read_record_if_whole(workspace.site_stamp, Stamp)
    if before and _release(before.version) > _release(RELEASE):
        raise RequestError(
            f"{workspace.root} was written by dlperf {before.version}, and this is {RELEASE}: install that version"
        )
    replaced = _replaced(workspace)
    if before and not accept:
        _refuse_outdated(workspace, before, replaced)
    stamp = Stamp(RELEASE, {name: digest for name, (_, digest) in replaced.items()})
    if stamp != before:
        write_record(workspace.site_stamp, stamp)
    if before and before.version != RELEASE:
        notes.append(f"{workspace.root}: updated from dlperf {before.version} to {RELEASE}")
    if before and accept and before.replaced != stamp.replaced:
        notes.append(f"{workspace.site}: replaces {', '.join(stamp.replaced) or 'no file'} of dlperf {RELEASE}")
    return notes


def _refuse_campaigns_of_0_1(workspace: WorkspacePaths) -> None:
    if unread := workspace.unread():
        raise RequestError(f"{unread}: move it out of {workspace.runs}, or build with dlperf 0.1")


def _release(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)[:3]))


def _replaced(workspace: WorkspacePaths) -> dict[str, tuple[Path, str]]:
    """Return the owner's files that replace files of dlperf: by name, the latter and its SHA-256."""
    found = {}
    for folder, root in (("theme", shipped_root() / "theme"), ("templates", TEMPLATES)):
        shipped = files_below(root)
        for name in own_files(workspace.site / folder, shipped).keys() & shipped.keys():
            found[f"{folder}/{name}"] = (shipped[name], hashlib.sha256(read_bytes(shipped[name])).hexdigest())
    return dict(sorted(found.items()))


def _refuse_outdated(workspace: WorkspacePaths, before: Stamp, replaced: Mapping[str, tuple[Path, str]]) -> None:
    for name, (path, digest) in replaced.items():
        if before.replaced.get(name, digest) != digest:
            raise RequestError(
                f"{workspace.site / name}: replaces a file that changed since dlperf {before.version}: compare it with "
                f"{path}, then `dlperf init {shlex.quote(str(workspace.root))}`"
            )
