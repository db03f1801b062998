"""Show the trials of a campaign as rows, grouped by configuration."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from statistics import median
from types import MappingProxyType
from typing import NamedTuple

from dlperf.app.model.campaigns_table import counts_text
from dlperf.app.model.table import Column, Row, Tone, has_words
from dlperf.catalog.axes import axes_text
from dlperf.measured.model import TrialResult
from dlperf.messages import N_, Message, _, pgettext, render
from dlperf.plan import Configuration, TrialKey
from dlperf.runs.records import (
    CampaignRecord,
    CampaignStatus,
    State,
    TrialProgress,
    TrialStatus,
    record_time,
    seconds_between,
)
from dlperf.view.campaigns import BAD, step_text, trial_notes
from dlperf.view.text import number, percent, printable, short_duration

SPARK_WIDTH = 16
BLOCKS = "▁▂▃▄▅▆▇█"
NOISE = 0.02
"""Values within this share of the highest are drawn level, so that noise does not look like trouble."""


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
REQUESTS = {
    "cancel": N_("cancel requested"),
    "retry": N_("retry requested"),
    "pause": N_("pause requested"),
    "resume": N_("resume requested"),
}
"""Shown until the engine has carried out the request."""


@dataclass(frozen=True)
class TrialGroup:
    """Key of the row above the trials of a configuration."""

    configuration: str


@dataclass(frozen=True)
class Silences:
    """Seconds without anything new from a running trial."""

    nodes: dict[str, float] = field(default_factory=dict)
    """Of the nodes that send nothing at all."""
    log: float | None = None
    """Of a log that does not grow though its nodes answer."""


NO_SILENCE = Silences()
RowKey = TrialGroup | TrialKey


def state_text(state: State) -> str:
    return f"{LOOKS[state].glyph} {_(LOOKS[state].name)}"


def trial_columns() -> tuple[Column, ...]:
    return (
        Column(pgettext("narrow column", "trial"), 7, importance=9),
        Column(_("state"), 12, importance=9),
        Column(_("step"), 11, right=True, importance=7),
        Column(_("throughput"), 20, right=True, importance=8),
        Column(_("recent"), SPARK_WIDTH, importance=3),
        Column(_("time"), 7, right=True, importance=6),
        Column(_("note"), 12, importance=9, flexible=True),
    )


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


def configuration_text(configuration: Configuration) -> str:
    point = configuration
    batch = f"bs{point.batch_size}"
    parts = (point.case, point.framework, point.precision, batch, point.scale, axes_text(point.axes), point.hardware)
    return " · ".join(filter(None, parts))


def group_row(
    configuration: Configuration,
    trials: Sequence[TrialStatus],
    stopped: Message | None,
    values: Sequence[float],
    unit: str,
    share: float | None = None,
) -> Row:
    parts = [_ended_text([trial.state for trial in trials])]
    if share is not None:
        parts.append(_("★ best") if share == 1.0 else _("{share} of best", share=percent(share)))
    if values:
        parts.append(_("median {value}", value=number(median(values), unit)))
    if stopped:
        parts.append(_("stopped: {reason}", reason=printable(render(stopped))))
    return Row((configuration_text(configuration), "  ".join(parts)), "group")


def _ended_text(states: Sequence[State]) -> str:
    """Return how the trials have ended, and of how many where some have not: ``2 ✓ 1 ✗ of 5``."""
    bad, cancelled = sum(state in BAD for state in states), states.count(State.CANCELLED)
    ended = sum(state.finished for state in states)
    counts = counts_text(ended - bad - cancelled, bad, cancelled)
    return counts if ended == len(states) else _("{done} of {total}", done=counts, total=len(states))


def shares_of_best(record: CampaignRecord, trials: Mapping[str, Sequence[TrialStatus]]) -> dict[str, float]:
    """Return the share of the best of each configuration with rivals: of equal case, precision, GPUs and unit."""
    scores: dict[tuple[object, ...], dict[str, float]] = defaultdict(dict)
    for item in record.configurations:
        point = item.configuration
        figures = [trial.figure.value for trial in trials.get(point.id, ()) if trial.figure and trial.figure.value]
        if figures and not item.profiled:
            score = median(figures) if item.primary.direction == "higher" else 1 / median(figures)
            scores[point.case, point.precision, point.gpus_total, item.unit][point.id] = score
    rivals = [by_id for by_id in scores.values() if len(by_id) > 1]
    return {name: score / max(by_id.values()) for by_id in rivals for name, score in by_id.items()}


def trial_row(
    trial: TrialStatus,
    progress: TrialProgress | None,
    result: TrialResult | None,
    asked: str | None = None,
    silences: Silences = NO_SILENCE,
    now: float = 0.0,
    building: str | None = None,
) -> Row:
    live = progress if trial.state is State.RUNNING else None
    silent = live is not None and bool(live.unreachable_since or silences.nodes or silences.log)
    throughput, tone = _throughput(live, result), LOOKS[trial.state].tone
    return Row(
        cells=(
            f"  #{trial.key.number}",
            state_text(trial.state),
            step_text(live),
            throughput,
            sparkline(live.recent, SPARK_WIDTH) if live else "",
            _time(trial, now),
            " · ".join(
                [
                    *([] if building is None else [_building_note(building)]),
                    *_left(live, silent),
                    *_silence_notes(silences, live),
                    *_notes(trial, progress, result, asked),
                ]
            ),
        ),
        tone="warn" if silent else tone if trial.state is not State.SUCCEEDED else "",
        tones=("", tone, "", "", "busy", "", ""),
        merged=None if live or throughput else 2,
    )


def _throughput(progress: TrialProgress | None, result: TrialResult | None) -> str:
    if progress is not None:
        return _("no step yet") if progress.step is None else number(progress.value, progress.unit)
    if result is not None and result.value is not None:
        return number(result.value, result.unit)
    return ""


def sparkline(values: Sequence[float], width: int, low: float | None = None) -> str:
    """Return the last ``width`` values as blocks from ``low``, by default the lowest of them, to the highest."""
    shown = [value for value in values[-width:] if isfinite(value)]
    if not shown:
        return ""
    blocks = BLOCKS if low is None else BLOCKS[:-1]  # full ones of neighbouring rows would run into each other
    low, high = min(shown) if low is None else low, max(shown)
    if high - low <= NOISE * abs(high):
        return BLOCKS[4] * len(shown)
    steps = len(blocks) - 1
    return "".join(blocks[round((value - low) / (high - low) * steps)] for value in shown)


def _time(trial: TrialStatus, now: float) -> str:
    """Return the time since the start; at the end, the time it took."""
    if trial.started is None:
        return ""
    end = trial.ended or record_time(datetime.fromtimestamp(now, UTC))
    return short_duration(max(0.0, seconds_between(trial.started, end)))


def _left(live: TrialProgress | None, silent: bool) -> list[str]:
    """Return the time left, where nothing hangs."""
    if live is None or live.seconds_left is None or silent:
        return []
    return [_("{time} left", time=short_duration(live.seconds_left))]


def _silence_notes(silences: Silences, live: TrialProgress | None) -> list[str]:
    known = live.unreachable_since if live else {}
    notes = [
        _("{node}: no answer for {time}", node=printable(node), time=short_duration(seconds))
        for node, seconds in silences.nodes.items()
        if node not in known
    ]
    return notes + ([_("silent for {time}", time=short_duration(silences.log))] if silences.log else [])


def _notes(
    trial: TrialStatus, progress: TrialProgress | None, result: TrialResult | None, asked: str | None
) -> list[str]:
    parts = [_(REQUESTS[asked])] if asked and not trial.state.finished else []
    parts += trial_notes(trial, progress)
    if result and result.findings:
        parts.append(_("findings: {count}", count=len(result.findings)))
    return parts


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


def no_log_text(trial: TrialStatus) -> str:
    """Return why a trial has no log to show."""
    if trial.state is State.PLANNED:
        return _("No log yet: the trial has not started.")
    if trial.state.finished:
        cause = render(trial.cause) if trial.cause else _("the reason is not known")
        return _("The trial left no log: {cause}", cause=printable(cause))
    return _("No log yet: the node has not written anything so far.")


def _building_note(line: str) -> str:
    return _("building: {line}", line=printable(line)) if line else _("building")
