"""A plan in words and rows: what would run, for how long, and what cannot. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from statistics import median

from dlperf.app.model.table import Column, Row
from dlperf.app.model.text import duration
from dlperf.app.words import say, told
from dlperf.plan import Configuration, Impossible, Plan, PlannedConfiguration


@dataclass(frozen=True)
class Estimate:
    """How long a plan takes, from earlier trials."""

    seconds: float
    """Of the machine that takes longest; machines work side by side."""
    unknown: int
    """Configurations without any earlier trial to go by; they are not in ``seconds``."""


def trial_seconds(point: Configuration, history: Mapping[str, float], by_kind: Mapping[str, float]) -> float | None:
    """How long one trial takes: as the same configuration did, else as the same framework and case did there."""
    return history.get(point.id) or by_kind.get(_kind(point))


def seconds_by_kind(history: Mapping[str, float]) -> dict[str, float]:
    """Median seconds of the configurations of each hardware, framework and case."""
    kinds: dict[str, list[float]] = defaultdict(list)
    for configuration, seconds in history.items():
        kinds["_".join(configuration.split("_")[:3])].append(seconds)
    return {kind: median(values) for kind, values in kinds.items()}


def _kind(point: Configuration) -> str:
    return f"{point.hardware}_{point.framework}_{point.case}"


def estimate(plan: Plan, history: Mapping[str, float]) -> Estimate:
    """How long the plan takes."""
    by_kind = seconds_by_kind(history)
    machines: dict[str, float] = defaultdict(float)
    unknown = 0
    for item in plan.configurations:
        one = trial_seconds(item.configuration, history, by_kind)
        if one is None:
            unknown += 1
        else:
            machines[item.configuration.hardware] += one * item.repeats
    return Estimate(max(machines.values(), default=0.0), unknown)


def plan_lines(plan: Plan, history: Mapping[str, float]) -> list[str]:
    """The plan in at most three lines."""
    runnable = [item for item in plan.configurations if not item.example]
    trials = sum(item.repeats for item in runnable)
    parts = [say("configurations: {count}", count=len(runnable)), say("trials: {count}", count=trials)]
    nodes = dict.fromkeys(node.name for item in runnable for node in item.launch.nodes)
    if nodes:
        names = list(nodes)
        parts.append(say("on {nodes}", nodes=", ".join(names[:6]) + (" …" if len(names) > 6 else "")))
    lines = ["  ".join(parts), _time_line(plan, history)]
    examples = len(plan.configurations) - len(runnable)
    rest = []
    if examples:
        rest.append(say("{count} on machines of published reports: to look at, not to run", count=examples))
    if plan.impossible:
        rest.append(say("{count} impossible, left out", count=len(plan.impossible)))
    return [line for line in [*lines, "  ".join(rest)] if line]


def _time_line(plan: Plan, history: Mapping[str, float]) -> str:
    known = estimate(plan, history)
    if known.unknown == len(plan.configurations):
        return say("No earlier trial tells how long it takes.")
    text = say("about {time}, by earlier trials", time=duration(known.seconds))
    return text + (
        say("; configurations never run before, and not counted: {count}", count=known.unknown) if known.unknown else ""
    )


def plan_columns() -> tuple[Column, ...]:
    """The columns of the table of configurations."""
    return (
        Column(say("case"), 12, importance=9),
        Column(say("framework"), 18, importance=9),
        Column(say("prec."), 5, importance=8),
        Column(say("batch"), 6, right=True, importance=8),
        Column(say("GPUs"), 6, importance=8),
        Column(say("hardware"), 14, importance=6),
        Column(say("trials"), 6, right=True, importance=5),
        Column(say("time"), 6, right=True, importance=6),
        Column(say("note"), 10, importance=7, flexible=True),
    )


def plan_rows(plan: Plan, history: Mapping[str, float]) -> dict[Hashable, Row]:
    """Rows by ``plan`` or ``impossible`` and the configuration's id: what runs, then what cannot, with the reason."""
    by_kind = seconds_by_kind(history)
    rows: dict[Hashable, Row] = {
        ("plan", item.configuration.id): _planned_row(item, trial_seconds(item.configuration, history, by_kind))
        for item in plan.configurations
    }
    return rows | {("impossible", item.configuration.id): _impossible_row(item) for item in plan.impossible}


def _planned_row(item: PlannedConfiguration, seconds: float | None) -> Row:
    note = say("to look at, not to run") if item.example else ", ".join(node.name for node in item.launch.nodes)
    time = duration(seconds * item.repeats) if seconds else "-"
    return Row((*_axes(item.configuration), str(item.repeats), time, note), "dim" if item.example else "")


def _impossible_row(item: Impossible) -> Row:
    return Row((*_axes(item.configuration), "-", "-", told(item.reason)), "dim")


def _axes(point: Configuration) -> tuple[str, ...]:
    return (point.case, point.framework, point.precision, str(point.batch_size), point.scale, point.hardware)
