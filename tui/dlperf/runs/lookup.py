"""Find campaigns and trials by their names or a unique substring; rename, tag and remove campaigns."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from dlperf.errors import RequestError, StorageError
from dlperf.opening import is_plain, linked, read_bytes
from dlperf.plan import TrialKey
from dlperf.runs.journal import campaign_status
from dlperf.runs.lock import engine_pid
from dlperf.runs.names import text_of
from dlperf.runs.paths import CampaignPaths, TrialPaths, WorkspacePaths
from dlperf.runs.store import each_readable, read_campaign, write_atomic, write_campaign

Item = TypeVar("Item")


@dataclass(frozen=True)
class FoundTrial:
    """A trial of a workspace."""

    campaign: CampaignPaths
    key: TrialKey

    @property
    def paths(self) -> TrialPaths:
        return self.campaign.trial(self.key)


def find_campaign(workspace: WorkspacePaths, text: str) -> CampaignPaths:
    """Find a campaign by name or unique substring. Raises RequestError: no campaign, or several, match."""
    refuse_unfinished(workspace, text)
    return _only("campaign", text, {paths.name: paths for paths in workspace.campaigns()})


def refuse_unfinished(workspace: WorkspacePaths, name: str) -> None:
    """Explain a campaign without a plan. Raises RequestError: there is one of that name."""
    if found := workspace.unfinished(name):
        raise RequestError(
            f"campaign {name!r}: {found.directory} has no plan: dlperf ended before it was written, "
            "and nothing was started: delete the folder, then run the selection again"
        )


def find_key(paths: CampaignPaths, text: str) -> TrialKey:
    """Find a trial of a campaign by ``<configuration id>/<number>`` or a unique substring.

    Raises:
        RequestError: no trial, or several, match.
    """
    return _only("trial", text, {str(key): key for key in campaign_status(paths).trials})


def find_trial(workspace: WorkspacePaths, text: str) -> FoundTrial:
    """Find a trial by ``<campaign>/<configuration id>/<number>`` or a unique substring.

    A campaign's whole name restricts the search to its trials; ``<campaign>/<number>`` is enough where the campaign has
    one configuration. Where several match, those that were tried again do not count, nor do unreadable campaigns.

    Raises:
        RequestError: no trial, or several, match.
    """
    named = [paths for paths in workspace.campaigns() if f"{text}/".startswith(f"{paths.name}/")]
    trials: dict[str, FoundTrial] = {}
    replaced: set[str] = set()
    for paths, status in each_readable(
        named or workspace.campaigns(),
        lambda paths: (paths, campaign_status(paths)),
        None if named else lambda error: None,
    ):
        trials |= {f"{paths.name}/{key}": FoundTrial(paths, key) for key in status.trials}
        replaced |= {f"{paths.name}/{key.configuration}/{item.retry_of}" for key, item in status.trials.items()}
    latest = _matching(text, [name for name in trials if name not in replaced]) if text else []
    if text not in trials and len(latest) == 1:
        return trials[latest[0]]
    short = [name for name, found in trials.items() if text == f"{found.campaign.name}/{found.key.number}"]
    return trials[short[0]] if len(short) == 1 else _only("trial", text, trials)


def _only(what: str, text: str, named: Mapping[str, Item]) -> Item:
    if text in named:
        return named[text]
    matches = _matching(text, named) if text else []
    if len(matches) == 1:
        return named[matches[0]]
    if not matches:
        raise RequestError(f"no {what} {text!r}: {_known(what, named)}")
    raise RequestError(f"{what} {text!r} could be {_listed(matches)}: give more of its name")


def _matching(text: str, names: Iterable[str]) -> list[str]:
    """Prefer names that end with the text as whole parts, then names that end with them, then any that hold them."""
    holding = [name for name in names if text in name]
    ending = [name for name in holding if name.endswith(text)]
    return [name for name in ending if name.endswith(f"/{text}")] or ending or holding


def _known(what: str, names: Mapping[str, object]) -> str:
    return f"there are {_listed(names)}" if names else f"there is no {what} yet, see `dlperf run`"


def _listed(names: Iterable[str], most: int = 5) -> str:
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(repr(name) for name in every[:most]) + more


def rename_campaign(workspace: WorkspacePaths, paths: CampaignPaths, name: str) -> None:
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


@dataclass(frozen=True)
class Trashed:
    """A campaign in the trash."""

    paths: CampaignPaths
    name: str
    removed: float
    """When, in seconds since the epoch."""


def trashed_campaigns(workspace: WorkspacePaths) -> list[Trashed]:
    """Return what is in the trash of a workspace, the newest first."""
    found = []
    for folder in workspace.trash.iterdir() if workspace.trash.is_dir() else ():
        name, _, nanoseconds = folder.name.rpartition("-")
        if name and nanoseconds.isdecimal() and CampaignPaths(folder).plan.exists():
            found.append(Trashed(CampaignPaths(folder), text_of(name), int(nanoseconds) / 1e9))
    return sorted(found, key=lambda item: item.removed, reverse=True)


def restore_campaign(workspace: WorkspacePaths, trashed: CampaignPaths) -> CampaignPaths:
    """Move a campaign out of the trash, under its name; return where it is.

    Raises:
        DlperfError: another campaign has that name now, or it cannot be moved.
    """
    restored = workspace.campaign(read_campaign(trashed.existing()).name)
    if restored.directory.exists():
        raise RequestError(f"{restored.directory} exists: rename that campaign, then restore this one")
    _move(trashed, restored)
    return restored


def remove_campaign(workspace: WorkspacePaths, paths: CampaignPaths, to: CampaignPaths | None = None) -> CampaignPaths:
    """Move a campaign into the trash of its workspace, to a place of its own there or a given one; return where it is.

    Raises:
        DlperfError: its engine runs, or it cannot be moved.
    """
    trash = to or CampaignPaths(workspace.trash / f"{paths.directory.name}-{time.time_ns()}")
    _move(paths, trash)
    return trash


def _move(paths: CampaignPaths, to: CampaignPaths) -> None:
    if (pid := engine_pid(paths)) is not None:
        raise RequestError(f"campaign {paths.name!r}: its engine is running (process {pid})")
    try:
        for folder in (paths.directory, to.directory.parent):
            if not is_plain(folder):
                raise linked(folder)
        to.directory.parent.mkdir(exist_ok=True)
        paths.directory.rename(to.directory)
    except OSError as error:
        raise StorageError(f"{paths.directory}: cannot be moved ({error.strerror})") from error


def tag_campaign(paths: CampaignPaths, tags: str) -> None:
    """Keep these words as the tags of a campaign.

    Raises:
        DlperfError: the campaign is gone, or its file cannot be written.
    """
    write_atomic(paths.existing().tags, (" ".join(tags.split()) + "\n").encode())


def tags_of(paths: CampaignPaths) -> tuple[str, ...]:
    try:
        return tuple(read_bytes(paths.tags).decode("utf-8", "replace").split())
    except OSError:
        return ()
