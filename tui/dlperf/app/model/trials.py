"""The trials of a campaign by configuration: which are shown, in which order, and how their states look."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from dlperf.app.model.table import Tone, has_words
from dlperf.messages import N_, _, render
from dlperf.plan import TrialKey
from dlperf.runs.records import CampaignRecord, CampaignStatus, State, TrialProgress, TrialStatus
from dlperf.view.campaigns import BAD, trial_notes
from dlperf.view.text import printable


class Look(NamedTuple):
    """How a state is shown."""

    glyph: str
    name: str
    tone: Tone


LOOKS: dict[State, Look] = {
    State.PLANNED: Look("·", N_("planned"), "dim"),
    State.SUBMITTED: Look("◌", N_("submitted"), "busy"),
    State.RUNNING: Look("▶", N_("running"), "busy"),
    State.SUCCEEDED: Look("✓", N_("succeeded"), "good"),
    State.FAILED: Look("✗", N_("failed"), "bad"),
    State.TIMED_OUT: Look("✗", N_("timed out"), "bad"),
    State.CANCELLED: Look("–", N_("cancelled"), "dim"),
    State.LOST: Look("?", N_("lost"), "bad"),
}


@dataclass(frozen=True)
class TrialGroup:
    """Key of the row above the trials of a configuration."""

    configuration: str


RowKey = TrialGroup | TrialKey


def state_text(state: State) -> str:
    return f"{LOOKS[state].glyph} {_(LOOKS[state].name)}"


def row_keys(
    status: CampaignStatus,
    matching: str = "",
    folded: Collection[str] = (),
    ranks: Mapping[str, float] = MappingProxyType({}),
    failed_only: bool = False,
) -> list[RowKey]:
    """Return groups, those of the highest rank first, each followed by its trials that match every word."""
    groups: dict[str, list[TrialKey]] = defaultdict(list)
    for key, trial in status.trials.items():
        if (not matching or _matches(trial, matching)) and (not failed_only or trial.state in BAD):
            groups[key.configuration].append(key)
    rows: list[RowKey] = []
    for configuration, keys in sorted(groups.items(), key=lambda group: -ranks.get(group[0], 0.0)):
        rows.append(TrialGroup(configuration))
        if configuration not in folded:
            rows.extend(sorted(keys))
    return rows


def _matches(trial: TrialStatus, matching: str) -> bool:
    """Search the text as stored and as shown."""
    words = LOOKS[trial.state].name
    cause = f"{trial.cause} {render(trial.cause)}" if trial.cause else ""
    return has_words(f"{trial.key.configuration} {trial.key.number} {words} {_(words)} {cause}", matching)


def shares_of_best(record: CampaignRecord, values: Mapping[str, float | None]) -> dict[str, float]:
    """Return the share of the best of each configuration with rivals: of equal case, precision, GPUs and unit.

    Args:
        values: of configurations, by their id.
    """
    scores: dict[tuple[object, ...], dict[str, float]] = defaultdict(dict)
    for item in (item for item in record.configurations if not item.profiled):
        point = item.configuration
        if value := values.get(point.id):
            score = value if item.primary.direction == "higher" else 1 / value
            scores[point.case, point.precision, point.gpus_total, item.unit][point.id] = score
    rivals = [by_id for by_id in scores.values() if len(by_id) > 1]
    return {name: score / max(by_id.values()) for by_id in rivals for name, score in by_id.items()}


def trial_to_show(key: RowKey | None, status: CampaignStatus) -> TrialKey | None:
    """Return the trial whose log is shown; of a configuration, one that runs, ended last or comes first."""
    if not isinstance(key, TrialGroup):
        return key
    trials = [trial for trial in status.trials.values() if trial.key.configuration == key.configuration]
    order = {State.RUNNING: 0, State.SUBMITTED: 1, State.PLANNED: 3}
    best = min(
        trials,
        key=lambda trial: (order.get(trial.state, 2), -trial.key.number if trial.state.finished else 0),
        default=None,
    )
    return best.key if best else None


def first_to_show(status: CampaignStatus) -> TrialKey | None:
    """Return a trial that runs, else one that failed, else the first."""
    order = {State.RUNNING: 0, State.SUBMITTED: 1, State.FAILED: 2, State.TIMED_OUT: 2, State.LOST: 2}
    first = min(status.trials.values(), key=lambda trial: order.get(trial.state, 3), default=None)
    return first.key if first else None


def by_configuration(status: CampaignStatus) -> Mapping[str, list[TrialStatus]]:
    groups: dict[str, list[TrialStatus]] = defaultdict(list)
    for trial in status.trials.values():
        groups[trial.key.configuration].append(trial)
    return groups


def nodes_of(record: CampaignRecord, key: TrialKey) -> tuple[str, ...]:
    for item in record.configurations:
        if item.configuration.id == key.configuration:
            return tuple(node.name for node in item.launch.nodes)
    return ()


def no_log_text(trial: TrialStatus, progress: TrialProgress | None) -> str:
    """Return why a trial has no log to show, and for what it waits, which its row cuts."""
    if trial.state.finished:
        cause = render(trial.cause) if trial.cause else _("the reason is not known")
        return _("The trial left no log: {cause}", cause=printable(cause))
    first = (
        _("No log yet: the trial has not started.")
        if trial.state is State.PLANNED
        else _("No log yet: the node has not written anything so far.")
    )
    return "\n".join((first, *trial_notes(trial, progress)))
