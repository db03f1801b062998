"""From what a person types to a campaign or a trial: a name, or any part of it that only one has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from dlperf.errors import RequestError
from dlperf.plan import TrialKey
from dlperf.runs.journal import campaign_status
from dlperf.runs.paths import CampaignPaths, TrialPaths, Workspace

Thing = TypeVar("Thing")


@dataclass(frozen=True)
class FoundTrial:
    """A trial of a workspace."""

    campaign: CampaignPaths
    key: TrialKey

    @property
    def paths(self) -> TrialPaths:
        return self.campaign.trial(self.key)


def find_campaign(workspace: Workspace, words: str) -> CampaignPaths:
    """The campaign of that name, or the only one whose name holds the words.

    Raises:
        RequestError: none does, or several do.
    """
    return _only("campaign", words, {paths.name: paths for paths in workspace.campaigns()})


def find_key(paths: CampaignPaths, words: str) -> TrialKey:
    """The trial of a campaign: ``<configuration id>/<number>``, or a part of it that only one has.

    Raises:
        RequestError: none has it, or several have.
    """
    return _only("trial", words, {str(key): key for key in campaign_status(paths).trials})


def find_trial(workspace: Workspace, words: str) -> FoundTrial:
    """The trial ``<campaign>/<configuration id>/<number>``, or the only one whose name holds the words.

    A campaign's whole name means its trials, whatever others have in their names; ``<campaign>/<number>`` is enough
    where the campaign has one configuration.

    Raises:
        RequestError: none does, or several do.
    """
    named = [paths for paths in workspace.campaigns() if f"{words}/".startswith(f"{paths.name}/")]
    trials = {
        f"{paths.name}/{key}": FoundTrial(paths, key)
        for paths in named or workspace.campaigns()
        for key in campaign_status(paths).trials
    }
    short = [name for name, found in trials.items() if words == f"{found.campaign.name}/{found.key.number}"]
    return trials[short[0]] if len(short) == 1 else _only("trial", words, trials)


def _only(what: str, words: str, named: Mapping[str, Thing]) -> Thing:
    if words in named:
        return named[words]
    matches = _matching(words, named) if words else []
    if len(matches) == 1:
        return named[matches[0]]
    if not matches:
        raise RequestError(f"no {what} {words!r}: {_known(what, named)}")
    raise RequestError(f"{what} {words!r} could be {_listed(matches)}: give more of its name")


def _matching(words: str, names: Iterable[str]) -> list[str]:
    """The names that end with the words as whole parts (``a/1`` is no beginning of ``campaign/a/12``), else those that
    end with them, else those that hold them."""
    holding = [name for name in names if words in name]
    ending = [name for name in holding if name.endswith(words)]
    return [name for name in ending if name.endswith(f"/{words}")] or ending or holding


def _known(what: str, names: Mapping[str, object]) -> str:
    return f"there are {_listed(names)}" if names else f"there is no {what} yet, see `dlperf run`"


def _listed(names: Iterable[str], most: int = 5) -> str:
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(repr(name) for name in every[:most]) + more
