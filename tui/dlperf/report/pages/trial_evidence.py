"""What the trials of one configuration left, as charts, log lines and downloads."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping

from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.charts.plot import Band, Line, Plot, plot
from dlperf.report.evidence import Evidence
from dlperf.report.pages.page import Page
from dlperf.results.model import ConfigurationResult, TrialResult
from dlperf.results.timeline import METRICS, LogLines

FoundOf = Mapping[int, Evidence]
"""By trial number."""
SPEED = "speed"
"""What the curve of throughput by step is called in the file of curves."""
SMALL = 170
"""Height of the charts that stand side by side."""


def trial_charts(page: Page, row: ConfigurationResult, found: FoundOf) -> str:
    """Speed by step and telemetry by second, a line for each trial."""
    return md.paragraphs(_step_rate(page, row, found), _telemetry(page, row, found))


def curves(evidence: Mapping[tuple[str, int], Evidence]) -> str:
    """The points of every curve of a page, for ``curves.js``: the same file for all languages; empty without any."""
    told: dict[str, list[tuple[int, list[float], list[float]]]] = {}
    for (anchor, number), found in evidence.items():
        series = {SPEED: found.timeline.throughput, **found.timeline.telemetry}
        for name, points in series.items():
            if len(points) > 1:
                told.setdefault(f"{anchor}/{name}", []).append((number, [x for x, _ in points], [y for _, y in points]))
    return f"window.dlperfCurves = {json.dumps(told, separators=(',', ':'))};\n" if told else ""


def repeat(page: Page, row: ConfigurationResult) -> str:
    """The command that measures the configuration again; nothing where it was not measured here."""
    plan = page.data.plan(row)
    if plan is None or page.data.kind(row.campaign) != "measured":
        return ""
    axes = {
        "--hardware": row.hardware,
        "--framework": row.framework,
        "--case": row.case,
        "--precision": row.precision,
        "--batch-size": str(row.batch_size),
        "--gpus": row.scale,
        "--repeats": str(plan.repeats),
    }
    command = shlex.join(["dlperf", "run", *(word for axis in axes.items() for word in axis)])
    return md.paragraphs(page.say("repeat"), md.block(command))


def log_lines(page: Page, lines: Mapping[int, LogLines]) -> str:
    """The lines that gave the figure, marked, with their numbers and what stands around them."""
    shown = [line for number, found in lines.items() if found.head for line in _excerpt(page, number, found)]
    return md.marked_details(page.say("log_used"), shown) if shown else ""


def file_downloads(page: Page, found: FoundOf) -> str:
    """Script, environment and telemetry of each trial."""
    rows = [
        (
            md.number(str(number)),
            page.file(file.path, md.text(file.name), f"{number}.{file.name}"),
            md.code(file.sha256),
        )
        for number, evidence in found.items()
        for file in evidence.downloads
    ]
    header = (page.say("trial"), page.say("file"), "SHA-256")
    return md.paragraphs(f"{page.say('files')}{page.say.colon.rstrip()}", md.table(header, rows)) if rows else ""


def _step_rate(page: Page, row: ConfigurationResult, found: FoundOf) -> str:
    say = page.say
    lines = tuple(
        Line(f"{say('trial')} {number}", one.timeline.throughput, number - 1, one.timeline.outliers)
        for number, one in found.items()
        if len(one.timeline.throughput) > 1
    )
    measured = next((trial for trial in row.trials if trial.number in found and trial.first_step is not None), None)
    data = _for_script(page, row, SPEED, say("step"), row.unit)
    if measured and measured.last_step is not None:
        data["window"] = f"{measured.first_step},{measured.last_step}"
    chart = plot(Plot(say("step_rate"), say("step"), row.unit, lines, _bands(page, measured), data=data))
    if not chart:
        return ""
    note = say("outliers_note", number=md.number(str(measured.number))) if measured else ""
    return md.paragraphs(md.heading(3, say("step_rate"), f"{at.configuration_anchor(row)}-speed"), chart, note)


def _bands(page: Page, trial: TrialResult | None) -> tuple[Band, ...]:
    if trial is None or trial.first_step is None or trial.last_step is None:
        return ()
    first, last = float(trial.first_step), float(trial.last_step)
    return Band(page.say("warm_up"), 0.0, first, "warm-up"), Band(page.say("window"), first, last, "measured")


def _for_script(page: Page, row: ConfigurationResult, name: str, x: str, y: str) -> dict[str, str]:
    say = page.say
    address = at.relative_file(say, page.path, at.curves(at.group_of(row)))
    return {
        "curve": f"{at.configuration_anchor(row)}/{name}",
        "curves": address,
        "x": x,
        "y": y,
        "line": say("trial"),
        "open": say("curve_open"),
        "close": say("curve_close"),
    }


def _telemetry(page: Page, row: ConfigurationResult, found: FoundOf) -> str:
    drawn = "".join(_metric(page, row, found, metric) for metric in METRICS)
    return f'<div class="charts">{drawn}</div>' if drawn else ""


def _metric(page: Page, row: ConfigurationResult, found: FoundOf, metric: str) -> str:
    told = {number: one.timeline.telemetry.get(metric, ()) for number, one in found.items()}
    lines = tuple(
        Line(f"{page.say('trial')} {number}", points, number - 1) for number, points in told.items() if len(points) > 1
    )
    data = _for_script(page, row, metric, page.say("second"), page.say(metric))
    return plot(Plot(page.say("telemetry"), page.say("second"), page.say(metric), lines, height=SMALL, data=data))


def _excerpt(page: Page, number: int, lines: LogLines) -> Iterator[tuple[str, bool]]:
    """Lines with their numbers, and whether they gave the figure."""
    yield f"{page.say('trial')} {number}", False
    yield from _numbered(lines.before, lines.first_line - len(lines.before), marked=False)
    yield from _numbered(lines.head, lines.first_line, marked=True)
    if lines.left_out:
        yield page.say("lines_left_out", count=str(lines.left_out)), False
    tail = lines.first_line + len(lines.head) + lines.left_out
    yield from _numbered(lines.tail, tail, marked=True)
    yield from _numbered(lines.after, tail + len(lines.tail), marked=False)


def _numbered(lines: tuple[str, ...], first: int, *, marked: bool) -> Iterator[tuple[str, bool]]:
    return ((f"{number:>7}  {line}", marked) for number, line in enumerate(lines, first))
