"""Show a plan as lines and rows: what would run, for how long, and what cannot. Pure."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from dlperf.app.model.table import Column, Row, axis_columns
from dlperf.messages import _, pgettext, render
from dlperf.plan import Configuration, Impossible, Plan, PlannedConfiguration
from dlperf.view.text import short_duration


@dataclass(frozen=True)
class TimeEstimate:
    seconds: float
    """Of the machine that takes longest; machines run in parallel."""
    unknown: int
    """Configurations without an earlier trial; not in ``seconds``."""


def expected_seconds(point: Configuration, history: Mapping[str, float], by_kind: Mapping[str, float]) -> float | None:
    """Return the seconds of a trial from those of its configuration, else of its hardware, framework and case."""
    return history.get(point.id) or by_kind.get(f"{point.hardware}_{point.framework}_{point.case}")


def seconds_by_kind(history: Mapping[str, float]) -> dict[str, float]:
    kinds: dict[str, list[float]] = defaultdict(list)
    for configuration, seconds in history.items():
        kinds["_".join(configuration.split("_")[:3])].append(seconds)
    return {kind: median(values) for kind, values in kinds.items()}


def estimate(configurations: Sequence[PlannedConfiguration], history: Mapping[str, float]) -> TimeEstimate:
    by_kind = seconds_by_kind(history)
    machines: dict[str, float] = defaultdict(float)
    unknown = 0
    for item in configurations:
        one = expected_seconds(item.configuration, history, by_kind)
        if one is None:
            unknown += 1
        else:
            machines[item.configuration.hardware] += one * item.rounds
    return TimeEstimate(max(machines.values(), default=0.0), unknown)


def plan_lines(plan: Plan, history: Mapping[str, float]) -> list[str]:
    """Return the plan in at most three lines."""
    runnable = [item for item in plan.configurations if not item.example]
    trials = sum(item.rounds for item in runnable)
    parts = [_("configurations: {count}", count=f"{len(runnable):,}"), _("trials: {count}", count=f"{trials:,}")]
    nodes = dict.fromkeys(node.name for item in runnable for node in item.launch.nodes)
    if nodes:
        names = list(nodes)
        parts.append(_("on {nodes}", nodes=", ".join(names[:6]) + (" …" if len(names) > 6 else "")))
    lines = ["  ".join(parts), _time_line(plan, history)]
    examples = len(plan.configurations) - len(runnable)
    rest = []
    if examples:
        rest.append(_("{count} on machines that are not here: to look at, not to run", count=f"{examples:,}"))
    if plan.impossible:
        rest.append(_("{count} impossible, left out", count=f"{len(plan.impossible):,}"))
    return [line for line in [*lines, "  ".join(rest)] if line]


def _time_line(plan: Plan, history: Mapping[str, float]) -> str:
    known = estimate(plan.configurations, history)
    if known.unknown == len(plan.configurations):
        return _("No earlier trial to estimate the time from.")
    text = _("about {time}, by earlier trials", time=short_duration(known.seconds))
    if not known.unknown:
        return text
    return text + _("; configurations never run before, and not counted: {count}", count=f"{known.unknown:,}")


def plan_columns() -> tuple[Column, ...]:
    return (
        *axis_columns(12, 18, 14, hardware_importance=6),
        Column(pgettext("narrow column", "trials"), 6, right=True, importance=5),
        Column(_("time"), 6, right=True, importance=6),
        Column(_("note"), 10, importance=7, flexible=True),
    )


def plan_rows(plan: Plan, history: Mapping[str, float]) -> dict[Hashable, Row]:
    """Return rows by (``plan`` or ``impossible``, configuration id); those that can run come first."""
    by_kind = seconds_by_kind(history)
    rows: dict[Hashable, Row] = {
        ("plan", item.configuration.id): _planned_row(item, expected_seconds(item.configuration, history, by_kind))
        for item in plan.configurations
    }
    return rows | {("impossible", item.configuration.id): _impossible_row(item) for item in plan.impossible}


def _planned_row(item: PlannedConfiguration, seconds: float | None) -> Row:
    note = _("to look at, not to run") if item.example else ", ".join(node.name for node in item.launch.nodes)
    time = short_duration(seconds * item.rounds) if seconds else "-"
    return Row((*_axes(item.configuration), str(item.repeats), time, note), "dim" if item.example else "")


def _impossible_row(item: Impossible) -> Row:
    return Row((*_axes(item.configuration), "-", "-", render(item.reason)), "dim")


def _axes(point: Configuration) -> tuple[str, ...]:
    return (point.case, point.framework, point.precision, str(point.batch_size), point.scale, point.hardware)
