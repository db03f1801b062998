"""Rename, tag and remove campaigns that have ended."""

from __future__ import annotations

import time
from dataclasses import replace

from dlperf.errors import RequestError, StorageError
from dlperf.runs.bounded import read_bytes
from dlperf.runs.journal import campaign_status
from dlperf.runs.lock import engine_pid
from dlperf.runs.paths import CampaignPaths, Workspace
from dlperf.runs.store import read_campaign, write_atomic, write_campaign


def rename_campaign(workspace: Workspace, paths: CampaignPaths, name: str) -> None:
    """Give a campaign another name.

    Raises:
        DlperfError: a trial has not ended, or the name is taken or none for a campaign.
    """
    if any(not trial.state.finished for trial in campaign_status(paths).trials.values()):
        raise RequestError(f"campaign {paths.name!r}: trials have not ended, and are known to nodes by the old name")
    renamed = workspace.new_campaign(name)
    if renamed.directory.exists():
        raise RequestError(f"{renamed.directory} exists: choose another name")
    write_campaign(paths, replace(read_campaign(paths), name=name))
    _move(paths, renamed)


def remove_campaign(workspace: Workspace, paths: CampaignPaths) -> CampaignPaths:
    """Move a campaign into the trash of its workspace; return where it is.

    Raises:
        DlperfError: its engine runs, or it cannot be moved.
    """
    trash = CampaignPaths(workspace.trash / f"{paths.directory.name}-{time.time_ns()}")
    _move(paths, trash)
    return trash


def _move(paths: CampaignPaths, to: CampaignPaths) -> None:
    if (pid := engine_pid(paths)) is not None:
        raise RequestError(f"campaign {paths.name!r}: its engine is running (process {pid})")
    try:
        to.directory.parent.mkdir(exist_ok=True)
        paths.directory.rename(to.directory)
    except OSError as error:
        raise StorageError(f"{paths.directory}: cannot be moved ({error.strerror})") from error


def tag_campaign(paths: CampaignPaths, tags: str) -> None:
    """Keep these words as the tags of a campaign."""
    write_atomic(paths.tags, (" ".join(tags.split()) + "\n").encode())


def tags_of(paths: CampaignPaths) -> tuple[str, ...]:
    try:
        return tuple(read_bytes(paths.tags).decode("utf-8", "replace").split())
    except OSError:
        return ()
