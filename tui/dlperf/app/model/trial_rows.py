"""Draw the trials of a campaign, and their configurations, as rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite

from dlperf.app.model.campaigns_table import counts_text
from dlperf.app.model.table import Column, Row
from dlperf.app.model.trials import LOOKS, state_text
from dlperf.catalog.axes import axes_text
from dlperf.measured.model import TrialResult
from dlperf.messages import N_, Message, _, pgettext, render
from dlperf.plan import Configuration
from dlperf.runs.records import State, TrialProgress, TrialStatus, record_time, seconds_between
from dlperf.view.campaigns import BAD, step_text, trial_notes
from dlperf.view.text import number, percent, printable, short_duration

SPARK_WIDTH = 16
BLOCKS = "▁▂▃▄▅▆▇█"
NOISE = 0.02
"""Values within this share of the highest are drawn level, so that noise does not look like trouble."""
REQUESTS = {
    "cancel": N_("cancel requested"),
    "retry": N_("retry requested"),
    "pause": N_("pause requested"),
    "resume": N_("resume requested"),
}
"""Shown until the engine has carried out the request."""


@dataclass(frozen=True)
class Silences:
    """Seconds without anything new from a running trial."""

    nodes: dict[str, float] = field(default_factory=dict)
    """Of the nodes that send nothing at all."""
    log: float | None = None
    """Of a log that does not grow though its nodes answer."""


NO_SILENCE = Silences()


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


def configuration_text(configuration: Configuration) -> str:
    point = configuration
    batch = f"bs{point.batch_size}"
    parts = (point.case, point.framework, point.precision, batch, point.scale, axes_text(point.axes), point.hardware)
    return " · ".join(filter(None, parts))


def group_row(
    configuration: Configuration,
    trials: Sequence[TrialStatus],
    stopped: Message | None,
    value: str = "",
    share: float | None = None,
) -> Row:
    parts = [_ended_text([trial.state for trial in trials])]
    if share is not None:
        parts.append(_("best") if share == 1.0 else _("{share} of best", share=percent(share)))
    if value:
        parts.append(value)
    if stopped:
        parts.append(_("stopped: {reason}", reason=printable(render(stopped))))
    return Row((configuration_text(configuration), "  ".join(parts)), "group")


def _ended_text(states: Sequence[State]) -> str:
    """Return how the trials have ended, and of how many where some have not: ``2 ✓ 1 ✗ of 5``."""
    bad, cancelled = sum(state in BAD for state in states), states.count(State.CANCELLED)
    ended = sum(state.finished for state in states)
    counts = counts_text(ended - bad - cancelled, bad, cancelled)
    return counts if ended == len(states) else _("{done} of {total}", done=counts, total=len(states))


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


def _building_note(line: str) -> str:
    return _("building: {line}", line=printable(line)) if line else _("building")
