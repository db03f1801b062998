"""Format campaigns as rows and lines for commands. Pure."""

import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dlperf.plan import Plan, PlannedConfiguration, TrialKey
from dlperf.runs.journal import trial_key
from dlperf.runs.records import CampaignStatus, JournaledFigure, Progress, State, TrialProgress, TrialStatus
from dlperf.table.model import ConfigurationResult
from dlperf.view.campaigns import CampaignSummary, Standing, step_text, trial_notes
from dlperf.view.text import count_noun, duration, number, spread

RESULT_HEADERS = ("configuration", "median", "unit", "spread", "n", "status")
TRIAL_HEADERS = ("trial", "state", "throughput", "unit", "step", "left", "since", "note")
CAMPAIGN_HEADERS = ("campaign", "state", "done", "failed", "trials", "left")
_BRIEF = ("being_checked", "machines_used_meanwhile")
"""Reasons to wait that every trial has for a moment, or that its machines' other trials show."""
MOST_CONFIGURATIONS = 12
"""Configurations that the question whether to run a plan lists."""


def plan_summary(plan: Plan) -> list[str]:
    hardware = dict.fromkeys(item.configuration.hardware for item in plan.configurations)
    frameworks = dict.fromkeys(item.configuration.framework for item in plan.configurations)
    lines = [
        f"{count_noun(len(plan.configurations), 'configuration')}, {count_noun(len(plan.trials), 'trial')}: "
        f"{', '.join(frameworks)} on {', '.join(hardware)}"
    ]
    lines += [f"  {_repeated(item)}" for item in plan.configurations[:MOST_CONFIGURATIONS]]
    if len(plan.configurations) > MOST_CONFIGURATIONS:
        lines.append(f"  and {len(plan.configurations) - MOST_CONFIGURATIONS} more: see `dlperf plan`")
    if plan.impossible:
        lines.append(f"{count_noun(len(plan.impossible), 'configuration')} cannot run: {_first_reason(plan)}")
    return lines


def _repeated(item: PlannedConfiguration) -> str:
    before = f" after {item.uncounted} that does not count" if item.uncounted else ""
    return f"{item.configuration.id} × {item.repeats}{before}, compile cache {item.launch.compile_cache}"


def why_nothing_runs(plan: Plan) -> str:
    return f"nothing can run: {_first_reason(plan)}"


def _first_reason(plan: Plan) -> str:
    first, *others = dict.fromkeys(item.reason for item in plan.impossible)
    return f"{first}, and {count_noun(len(others), 'reason')} more: see `dlperf plan`" if others else str(first)


def progress_lines(status: CampaignStatus, progress: Progress) -> list[str]:
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
    left = f"{duration(now.seconds_left)} left" if now.seconds_left is not None else ""
    step = f"step {step_text(now)}" if now.step is not None else ""
    value = number(now.value, now.unit) if now.value is not None else ""
    return "  ".join(filter(None, (str(trial.key), str(trial.state), step, value, left, *trial_notes(trial, now))))


def waiting_lines(progress: Progress) -> dict[str, str]:
    """Return a line for each trial that waits for its machines or its job, by the trial."""
    reasons = {name: item.pending_reason for name, item in progress.trials.items()}
    return {name: f"{name}: waits: {why}" for name, why in reasons.items() if why and why.code not in _BRIEF}


def trial_lines(before: CampaignStatus, after: CampaignStatus) -> list[str]:
    """Return a line for each trial that ended and each configuration given up between two states."""
    lines = []
    for key, trial in after.trials.items():
        known = before.trials.get(key, TrialStatus(key))
        never_ran = known.state is State.PLANNED and trial.state is State.CANCELLED
        if trial.state.finished and not known.state.finished and not never_ran:
            lines.append(": ".join(filter(None, (str(key), str(trial.state), _cause(trial)))))
    for configuration, cause in after.stopped_configurations.items():
        if configuration not in before.stopped_configurations:
            lines.append(f"{configuration}: not tried any more: {cause}")
    return lines


def machine_lines(before: CampaignStatus, after: CampaignStatus) -> list[str]:
    """Return a line for each machine that became silent or was left out between two states."""
    silent = sorted(after.unreachable.keys() - before.unreachable.keys())
    lines = [f"node {node} does not answer: {after.silence[node]}; other machines go on" for node in silent]
    news = replace(after, left_out={node: after.left_out[node] for node in after.left_out.keys() - before.left_out})
    return lines + left_out_lines(news)


def left_out_lines(status: CampaignStatus) -> list[str]:
    """Return a line for each machine on which no more trials are started."""
    advice = f"fix it, then `dlperf retry {shlex.quote(status.name)}`"
    return [f"node {node} is left out: {cause}: {advice}" for node, cause in sorted(status.left_out.items())]


def _cause(trial: TrialStatus) -> str:
    if trial.lacks_figure:
        return "no figure"
    return "" if trial.state is State.SUCCEEDED or trial.cause is None else str(trial.cause)


def result_cells(row: ConfigurationResult) -> tuple[Any, ...]:
    """Return the cells under RESULT_HEADERS."""
    return (row.id, row.value, row.unit, spread(row.spread), row.n, str(row.status))


def caveats(row: ConfigurationResult) -> list[str]:
    """Return the warnings and errors of a result; notes are on its page only."""
    findings = row.findings if row.value is not None else ()
    return [f"{finding.severity}: {finding.message}" for finding in findings if finding.severity != "note"]


def standing_text(standing: Standing) -> str:
    return "engine is not running" if standing is Standing.INTERRUPTED else standing.value


def campaign_cells(summary: CampaignSummary) -> tuple[Any, ...]:
    """Return the cells under CAMPAIGN_HEADERS."""
    state, left = standing_text(summary.standing), duration(summary.seconds_left)
    return (summary.name, state, summary.done, summary.bad, summary.total, left)


def trial_cells(trial: TrialStatus, now: TrialProgress | None) -> tuple[Any, ...]:
    """Return the cells under TRIAL_HEADERS: the throughput of a finished trial, the last one of a running trial."""
    now = None if trial.state.finished else now
    shown = now or trial.figure or JournaledFigure()
    unit = shown.unit if shown.value is not None else ""
    left = duration(now.seconds_left) if now else ""
    since = (trial.since or "")[:19].replace("T", " ")
    notes = ["no figure"] if trial.lacks_figure else trial_notes(trial, now)
    return (str(trial.key), str(trial.state), shown.value, unit, step_text(now), left, since, "; ".join(notes))
