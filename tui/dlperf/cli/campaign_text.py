"""Campaigns in words: the rows and lines that commands print. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dlperf.plan import Plan, TrialKey
from dlperf.results.model import ConfigurationResult
from dlperf.runs.journal import trial_key
from dlperf.runs.records import CampaignStatus, JournaledFigure, Progress, State, TrialProgress, TrialStatus
from dlperf.view.campaigns import CampaignSummary, Standing
from dlperf.view.text import count_noun, duration, number, percent

FIGURE_HEADERS = ("configuration", "median", "unit", "spread", "n", "status")
TRIAL_HEADERS = ("trial", "state", "figure", "unit", "step", "left", "since", "cause")
CAMPAIGN_HEADERS = ("campaign", "state", "done", "failed", "trials", "left")


def plan_summary(plan: Plan) -> list[str]:
    """The plan in a few lines, for the question whether to run it."""
    hardware = dict.fromkeys(item.configuration.hardware for item in plan.configurations)
    frameworks = dict.fromkeys(item.configuration.framework for item in plan.configurations)
    lines = [
        f"{count_noun(len(plan.configurations), 'configuration')}, {count_noun(len(plan.trials), 'trial')}: "
        f"{', '.join(frameworks)} on {', '.join(hardware)}"
    ]
    lines += [f"  {item.configuration.id} × {item.repeats}" for item in plan.configurations[:12]]
    if len(plan.configurations) > 12:
        lines.append(f"  and {len(plan.configurations) - 12} more: see `dlperf plan`")
    if plan.impossible:
        lines.append(f"{count_noun(len(plan.impossible), 'configuration')} cannot run: {_why_impossible(plan)}")
    return lines


def why_nothing_runs(plan: Plan) -> str:
    """Why a plan without a configuration has none."""
    return f"nothing can run: {_why_impossible(plan)}"


def _why_impossible(plan: Plan) -> str:
    first, *others = dict.fromkeys(item.reason for item in plan.impossible)
    return f"{first}, and {count_noun(len(others), 'reason')} more: see `dlperf plan`" if others else str(first)


def progress_lines(status: CampaignStatus, progress: Progress) -> list[str]:
    """What runs now, a line for each trial, and how far the campaign is."""
    lines = [_running_line(status.trials[key], item) for key, item in _running(status, progress)]
    left = duration(progress.seconds_left)
    paused = ", paused" if status.paused else ""
    about = f", about {left} left" if left else ""
    return [*lines, f"{progress.done} of {count_noun(progress.total, 'trial')} done{paused}{about}"]


def _running(status: CampaignStatus, progress: Progress) -> Iterator[tuple[TrialKey, TrialProgress]]:
    for name, item in progress.trials.items():
        key = trial_key(name)
        if key in status.trials and not status.trials[key].state.finished:
            yield key, item


def _running_line(trial: TrialStatus, now: TrialProgress) -> str:
    parts = [str(trial.key), str(trial.state)]
    if now.step is not None:
        parts.append(f"step {now.step}" + (f"/{now.steps}" if now.steps else ""))
    if now.value is not None:
        parts.append(number(now.value, now.unit))
    if now.seconds_left is not None:
        parts.append(f"{duration(now.seconds_left)} left")
    if now.pending_reason:
        parts.append(f"waits: {now.pending_reason}")
    parts += [f"{node} does not answer since {since}" for node, since in now.unreachable_since.items()]
    return "  ".join(parts)


def announcements(before: CampaignStatus, after: CampaignStatus) -> list[str]:
    """A line for each trial that ran and ended between two looks, each configuration that was stopped, and each machine
    that fell silent or was left out."""
    lines = []
    for key, trial in after.trials.items():
        known = before.trials.get(key, TrialStatus(key))
        never_ran = known.state is State.PLANNED and trial.state is State.CANCELLED
        if trial.state.finished and not known.state.finished and not never_ran:
            lines.append(f"{key}: {trial.state}" + (f": {why(trial)}" if why(trial) else ""))
    for configuration, cause in after.stopped_configurations.items():
        if configuration not in before.stopped_configurations:
            lines.append(f"{configuration}: not tried any more: {cause}")
    silent = sorted(after.unreachable.keys() - before.unreachable.keys())
    lines += [f"node {node} does not answer: {after.silence[node]}; other machines go on" for node in silent]
    news = replace(after, left_out={node: after.left_out[node] for node in after.left_out.keys() - before.left_out})
    return lines + left_out_lines(news)


def left_out_lines(status: CampaignStatus) -> list[str]:
    """A line for each machine on which nothing more is started."""
    advice = f"mend it, then `dlperf retry {shlex.quote(status.name)}`"
    return [f"node {node} is left out: {cause}: {advice}" for node, cause in sorted(status.left_out.items())]


def why(trial: TrialStatus) -> str:
    """The cause of a state that asks for one."""
    if trial.lacks_figure:
        return "no figure"
    return "" if trial.state is State.SUCCEEDED or trial.cause is None else str(trial.cause)


def figure_row(row: ConfigurationResult) -> tuple[Any, ...]:
    """A row under FIGURE_HEADERS."""
    return (row.configuration, row.value, row.unit, percent(row.spread), row.n, str(row.status))


def remarks(row: ConfigurationResult) -> list[str]:
    """What is odd about a figure, or about the trials that it comes from; notes are for the page."""
    told = row.findings if row.value is not None else ()
    return [f"{finding.severity}: {finding.message}" for finding in told if finding.severity != "note"]


def standing_text(standing: Standing) -> str:
    """What a campaign is doing."""
    return "engine is not running" if standing is Standing.INTERRUPTED else standing.value


def campaign_row(summary: CampaignSummary) -> tuple[Any, ...]:
    """A row under CAMPAIGN_HEADERS."""
    state, left = standing_text(summary.standing), duration(summary.seconds_left)
    return (summary.name, state, summary.done, summary.bad, summary.total, left)


def trial_row(trial: TrialStatus, figure: JournaledFigure, now: TrialProgress | None) -> tuple[Any, ...]:
    """A row under TRIAL_HEADERS: the figure of a trial that ended, the last throughput of one that runs."""
    shown = now if now and not trial.state.finished else figure
    value, unit = shown.value, shown.unit
    step = f"{now.step}/{now.steps or '?'}" if now and now.step is not None else ""
    left = duration(now.seconds_left) if now else ""
    since = (trial.since or "")[:19].replace("T", " ")
    cause = why(trial) or (f"waits: {now.pending_reason}" if now and now.pending_reason else "")
    return (str(trial.key), str(trial.state), value, unit if value is not None else "", step, left, since, cause)
