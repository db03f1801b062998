"""Compose the pages about one trial: result and findings, environment, command."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.cells import cell_len

from dlperf.app.model.trials import LOOKS
from dlperf.evidence.facts import flattened
from dlperf.measured.model import MetricValue, TrialResult
from dlperf.messages import N_, _, render
from dlperf.messages.finding import Finding
from dlperf.plan import PlannedConfiguration
from dlperf.runs.archive import TrialFiles
from dlperf.runs.bounded import load_json
from dlperf.runs.paths import TrialPaths
from dlperf.runs.records import State, TrialStatus
from dlperf.table.shown import shown_of_trial
from dlperf.view.text import local_time, number, printable, short_duration

NAME_WIDTH = 28
BY_SEVERITY = {"note": N_("note: {message}"), "warning": N_("warning: {message}"), "error": N_("error: {message}")}


def figure_lines(trial: TrialStatus, result: TrialResult | None) -> list[str]:
    lines = [_line(_("state"), _(LOOKS[trial.state].name)), _line(_("started"), local_time(trial.started))]
    if trial.cause and trial.state is not State.SUCCEEDED:
        lines.append(_line(_("cause"), render(trial.cause)))
    if result is None:
        return [*lines, "", _("The result is not written yet.") if trial.state.finished else _("No figure yet.")]
    steps = _range(N_("steps {first} to {last}"), result.first_step, result.last_step)
    lines += [
        _line(_("duration"), short_duration(result.duration_seconds)),
        _line(_("figure"), number(result.value, result.unit)),
        _line(_("by timestamps"), number(result.value_from_timestamps, result.unit)),
        _line(_("estimator"), result.estimator),
        _line(_("samples"), f"{result.samples}, {steps}"),
        _line(_("log lines"), _range(N_("{first} to {last}"), result.first_line, result.last_line)),
        _line(_("mean power"), _power_text(result.power_watts)),
        "",
        _("Findings"),
        *([f"  {finding_text(item)} ({item.code})" for item in result.findings] or [_("  none")]),
    ]
    if others := result.metrics[1:]:
        lines += [
            "",
            _("Other metrics"),
            *(_labelled(f"  {item.id}", _value_with_basis(result, item)) for item in others),
        ]
    if result.estimates:
        lines += ["", _("The same samples under other estimators")]
        lines += [_labelled(f"  {name}", number(value, result.unit)) for name, value in result.estimates.items()]
    return lines


def _power_text(watts: float | None) -> str:
    return number(None) if watts is None else _("{value} in the measured window", value=number(watts, "W"))


def _value_with_basis(result: TrialResult, metric: MetricValue) -> str:
    shown = shown_of_trial(result, metric)
    value = number(shown, metric.unit, aligned=shown == metric.value)
    return f"{value}  {printable(metric.basis)}" if metric.basis else value


def finding_text(finding: Finding) -> str:
    return _(BY_SEVERITY[finding.severity], message=printable(render(finding.message)))


def _line(name: str, text: str) -> str:
    return _labelled(name, printable(text))


def _labelled(name: str, text: str) -> str:
    return f"{name}{' ' * max(1, NAME_WIDTH - cell_len(name))}{text}"


def _range(words: str, first: int | None, last: int | None) -> str:
    return "-" if first is None or last is None else _(words, first=first, last=last)


def environment_lines(planned: PlannedConfiguration, probed: Mapping[str, Any]) -> list[str]:
    lines = [_("Stated by the catalogue")]
    lines += [_labelled(f"  {name}", printable(value)) for name, value in planned.facts.items()]
    for node, facts in probed.items():
        lines += ["", _("Found on {node}", node=printable(node))]
        for name, text in flattened(facts):
            first, *more = map(printable, text.splitlines())
            lines += [_labelled(f"  {printable(name)}", first), *(_labelled("  ", line) for line in more)]
    return lines


def read_environment(paths: TrialPaths) -> dict[str, Any]:
    found: dict[str, Any] = {}
    files = TrialFiles(paths)
    for node in files.nodes():
        try:
            found[node.directory.name] = load_json(files.read(node.environment))
        except (OSError, ValueError):
            continue
    return found


def command_text(paths: TrialPaths, planned: PlannedConfiguration, finished: bool) -> str:
    """Return the scripts that were sent to the nodes or, before that, would be."""
    files = TrialFiles(paths)
    scripts = [path for path in files.sent() if path.suffix in (".sh", ".sbatch", "")]
    if not scripts:
        from dlperf.render.preview import preview_text

        sent = _("Nothing was sent, or it is not here. This is what the plan gives:")
        will_be = _("Not sent yet. This is what it will be:")
        return f"{sent if finished else will_be}\n\n{preview_text(planned.launch)}"
    return "\n".join(f"##### {path.relative_to(paths.rendered)}\n{_content(files, path)}" for path in scripts)


def _content(files: TrialFiles, path: Path) -> str:
    lines = files.read(path).decode("utf-8", "replace").splitlines()
    return "\n".join(printable(line) for line in lines) + "\n"
