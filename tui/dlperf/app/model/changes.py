"""Changes of campaigns that can be taken back: renaming, tagging, removing and restoring."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from dlperf.app.model.table import Column, Row
from dlperf.messages import _, language
from dlperf.runs.lookup import Trashed, remove_campaign, rename_campaign, restore_campaign, tag_campaign, tags_of
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.view.text import local_time, printable


@dataclass(frozen=True)
class CampaignChange:
    """A change, not made yet."""

    name: str
    """Of the campaign."""
    renamed: str | None
    """Its name afterwards; None where it is gone then."""
    said: str
    """What is said once it is made."""
    make: Callable[[], CampaignChange]
    """Makes it and returns the change that takes it back. Raises DlperfError."""


def rename(workspace: WorkspacePaths, name: str, to: str) -> CampaignChange:
    def make() -> CampaignChange:
        rename_campaign(workspace, workspace.campaign(name), to)
        return rename(workspace, to, name)

    return CampaignChange(name, to, _("{name} is now {other}.", name=printable(name), other=printable(to)), make)


def tag(paths: CampaignPaths, tags: str) -> CampaignChange:
    def make() -> CampaignChange:
        before = " ".join(tags_of(paths))
        tag_campaign(paths, tags)
        return tag(paths, before)

    words = " ".join(f"#{word}" for word in tags.split()) or _("no tags")
    return CampaignChange(paths.name, paths.name, printable(f"{paths.name}{language().colon}{words}"), make)


def remove(workspace: WorkspacePaths, name: str, to: CampaignPaths | None = None) -> CampaignChange:
    """
    Args:
        to: where it was in the trash, where an earlier change may look for it.
    """

    def make() -> CampaignChange:
        return restore(workspace, remove_campaign(workspace, workspace.campaign(name), to), name)

    return CampaignChange(name, None, _("{name} is in the trash: u brings it back.", name=printable(name)), make)


def restore(workspace: WorkspacePaths, trashed: CampaignPaths, name: str) -> CampaignChange:
    def make() -> CampaignChange:
        return remove(workspace, restore_campaign(workspace, trashed).name, trashed)

    return CampaignChange(name, name, _("{name} is restored.", name=printable(name)), make)


def trash_columns() -> tuple[Column, ...]:
    return Column(_("campaign"), 30, importance=9), Column(_("removed"), 14, importance=8, flexible=True)


def trash_rows(trashed: Iterable[Trashed]) -> dict[Hashable, Row]:
    """Return rows by the names of folders in the trash."""
    return {
        item.paths.directory.name: Row(
            (printable(item.name), local_time(datetime.fromtimestamp(item.removed, UTC).isoformat()))
        )
        for item in trashed
    }
