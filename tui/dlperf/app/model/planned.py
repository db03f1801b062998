"""Show a plan as lines and rows: what would run, for how long, and what cannot. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from dlperf.app.model.table import Column, Row, axis_columns
from dlperf.messages import _, pgettext, render
from dlperf.plan import Configuration, Impossible, Plan, PlannedConfiguration
from dlperf.view.estimates import estimate, expected_seconds, seconds_by_kind
from dlperf.view.text import short_duration


def plan_lines(plan: Plan, history: Mapping[str, float]) -> list[str]:
    """Return the plan in at most three lines."""
    runnable = [item for item in plan.configurations if not item.example]
    trials = sum(item.repeats for item in runnable)
    parts = [_("configurations: {count}", count=f"{len(runnable):,}"), _("trials: {count}", count=f"{trials:,}")]
    nodes = dict.fromkeys(node.name for item in runnable for node in item.launch.nodes)
    if nodes:
        names = list(nodes)
        parts.append(_("on {nodes}", nodes=", ".join(names[:6]) + (" …" if len(names) > 6 else "")))
    lines = ["  ".join(parts), _time_line(plan, history)]
    examples = len(plan.configurations) - len(runnable)
    rest = []
    if examples:
        rest.append(_("{count} on machines of published reports: to look at, not to run", count=f"{examples:,}"))
    if plan.impossible:
        rest.append(_("{count} impossible, left out", count=f"{len(plan.impossible):,}"))
    return [line for line in [*lines, "  ".join(rest)] if line]


def _time_line(plan: Plan, history: Mapping[str, float]) -> str:
    known = estimate(plan, history)
    if known.unknown == len(plan.configurations):
        return _("No earlier trial tells how long it takes.")
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
    time = short_duration(seconds * item.repeats) if seconds else "-"
    return Row((*_axes(item.configuration), str(item.repeats), time, note), "dim" if item.example else "")


def _impossible_row(item: Impossible) -> Row:
    return Row((*_axes(item.configuration), "-", "-", render(item.reason)), "dim")


def _axes(point: Configuration) -> tuple[str, ...]:
    return (point.case, point.framework, point.precision, str(point.batch_size), point.scale, point.hardware)
