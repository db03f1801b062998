"""Evidence of a configuration's trials: charts, log lines and the commands to repeat and to recompute them."""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from itertools import groupby

from dlperf.catalog.files.load import BUILTIN_PROGRAMS
from dlperf.derived.timeline import METRICS, LogLines
from dlperf.measured.model import TrialResult
from dlperf.messages import N_
from dlperf.opening import read_bytes
from dlperf.plan.nearest import can_be_planned
from dlperf.report.charts import svg
from dlperf.report.charts.plot import Band, ChartLine, Plot, sheet
from dlperf.report.data import is_published
from dlperf.report.evidence import TrialEvidence
from dlperf.report.files.downloads import Download
from dlperf.report.pages.page import Page
from dlperf.report.site import locations as at
from dlperf.report.views import Picture
from dlperf.runs.store import dump_record
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.inference.policies import APART

FoundOf = Mapping[int, TrialEvidence]
"""Evidence by trial number."""
Shapes = Mapping[str, tuple[float, float]]
"""Name of a chart → its width and height in the file of a configuration's charts."""
SPEED = "speed"
"""Name of the chart of throughput by step in the files of charts and curves."""
METRIC_TITLES = {
    "power_watts": N_("Power per GPU, W"),
    "sm_clock_mhz": N_("SM clock, MHz"),
    "utilization_percent": N_("Utilisation, %"),
    "cpu_percent": N_("CPU load of all cores, %"),
    "memory_used_mib": N_("Memory in use, MiB"),
    "temperature_celsius": N_("Temperature, °C"),
}
HEIGHT = 150
LEGEND_COLUMNS = 8
Piece = tuple[int, str]
"""Consecutive lines of a log, with 1 if they gave the value and 0 if not."""


def changed_programs(ran: Iterable[Download]) -> list[str]:
    """Return the names of the programs of which this version of dlperf ships another text than ran."""
    return [file.name for file in ran if _shipped().get(file.name, file.sha256) != file.sha256]


@cache
def _shipped() -> Mapping[str, str]:
    """Return the hash of each program that this version ships, by its name."""
    return {path.name: sha256(read_bytes(path)).hexdigest() for path in BUILTIN_PROGRAMS.glob("*/*.*")}


def pictures(row: ConfigurationResult, found: FoundOf) -> tuple[str, Shapes]:
    """Draw throughput by step and telemetry by second in one SVG file that all languages share."""
    lines = tuple(
        ChartLine(str(number), one.timeline.throughput, svg.series_of_trial(number), one.timeline.outliers)
        for number, one in found.items()
        if len(one.timeline.throughput) > 1
    )
    bands = _bands(measured_trial(row, found))
    plots = {SPEED: Plot(SPEED, "", "", lines, bands, height=HEIGHT, legend_columns=LEGEND_COLUMNS)}
    for metric in METRICS:
        series = {number: one.timeline.telemetry.get(metric, ()) for number, one in found.items()}
        lines = tuple(
            ChartLine(str(number), points, svg.series_of_trial(number))
            for number, points in series.items()
            if len(points) > 1
        )
        plots[metric] = Plot(metric, "", "", lines, height=HEIGHT, legend_columns=LEGEND_COLUMNS)
    return sheet(plots)


def trial_charts(page: Page, row: ConfigurationResult, found: FoundOf, shapes: Shapes) -> list[Picture]:
    """Return the charts of ``pictures`` with their captions."""
    unit = next((one.timeline.unit for one in found.values() if one.timeline.unit), row.unit)
    return [
        Picture(
            f"{page.data_file(at.pictures(row))}#{name}",
            f"{width:g}",
            f"{height:g}",
            page._("Speed by step, {unit}; y axis scaled to the data", unit=unit)
            if name == SPEED
            else page._("{metric}, by second; y axis scaled to the data", metric=page._(METRIC_TITLES[name])),
            _data(page, row, name, unit),
        )
        for name, (width, height) in shapes.items()
    ]


def curves(evidence: Mapping[tuple[str, int], TrialEvidence]) -> str:
    """Return the points of a page's curves for ``curves.js``, which all languages share; empty without any."""
    points_by_curve: dict[str, list[tuple[int, list[float], list[float]]]] = {}
    for (anchor, number), found in evidence.items():
        series = {SPEED: found.timeline.throughput, **found.timeline.telemetry}
        for name, points in series.items():
            if len(points) > 1:
                points_by_curve.setdefault(f"{anchor}/{name}", []).append(
                    (number, [x for x, _ in points], [y for _, y in points])
                )
    return _script("dlperfCurves", dump_record(points_by_curve).decode())


def log_lines(evidence: Mapping[tuple[str, int], TrialEvidence]) -> str:
    """Return the numbered log lines behind a page's values, with context, for ``log-lines.js``; empty without any."""
    pieces: dict[str, list[tuple[int, list[Piece]]]] = {}
    for (anchor, number), found in evidence.items():
        if found.timeline.log_lines.head:
            pieces.setdefault(anchor, []).append((number, list(_pieces(found.timeline.log_lines))))
    return _script("dlperfLines", json.dumps(pieces, separators=(",", ":")))


def commands_again(page: Page, row: ConfigurationResult) -> tuple[str, str]:
    """Return the command that measures a result again, and the one that recomputes it from its log; empty if none."""
    if row.value is None or page.data.is_imported(row.campaign):
        return "", "" if row.value is None else shlex.join(("dlperf", "verify", row.campaign))
    if not is_published(row.campaign):
        return measuring_again(row), shlex.join(("dlperf", "verify", row.campaign))
    again = measuring_again(row) if can_be_planned(row, page.data.frameworks, page.data.cases) else ""
    logs = [one.log for one in page.data.audited.get((row.campaign, row.id), ()) if one.log]
    origin = logs[0].partition(":")[0] if logs and "@" in logs[0].partition(":")[0] else "owner/repository@commit"
    return again, f"dlperf verify published --logs {shlex.quote(origin)}:FOLDER" if logs else ""


def can_be_tested(row: ConfigurationResult) -> bool:
    """Return whether a result has trials enough to test for agreement: of one with fewer, only a ratio comes out."""
    return len(row.values) >= APART.least


def measuring_again(row: ConfigurationResult, framework: str = "") -> str:
    """Return the command that measures a result again, by another framework where one is given."""
    other = ("-f", framework) if framework else ()
    return shlex.join(("dlperf", "reproduce", f"{row.campaign}/{row.id}", *other, "-H", "MACHINE"))


def measured_trial(row: ConfigurationResult, found: FoundOf) -> TrialResult | None:
    """Return the trial whose measurement window is shaded: the first that counts, if any does."""
    trials = row.usable_trials or row.trials
    return next((trial for trial in trials if trial.number in found and trial.first_step is not None), None)


def _bands(trial: TrialResult | None) -> tuple[Band, ...]:
    if trial is None or trial.first_step is None or trial.last_step is None:
        return ()
    first, last = float(trial.first_step), float(trial.last_step)
    return Band("", 0.0, first, "warm-up"), Band("", first, last, "measured")


def _data(page: Page, row: ConfigurationResult, name: str, unit: str) -> dict[str, str]:
    attributes = {"curve": f"{at.configuration_anchor(row)}/{name}"}
    if name != SPEED:
        return attributes | {"x": page._("seconds"), "y": page._(METRIC_TITLES[name])}
    attributes |= {"x": page._("step"), "y": unit}
    trial = next((trial for trial in row.usable_trials or row.trials if trial.last_step is not None), None)
    return attributes | {"window": f"{trial.first_step},{trial.last_step}"} if trial else attributes


def _pieces(lines: LogLines) -> Iterator[Piece]:
    tail = lines.first_line + len(lines.head) + lines.left_out
    shown = [
        *_numbered(lines.before, lines.first_line - len(lines.before), 0),
        *_numbered(lines.head, lines.first_line, 1),
        *([(0, f"… {lines.left_out} …")] if lines.left_out else []),
        *_numbered(lines.tail, tail, 1),
        *_numbered(lines.after, tail + len(lines.tail), 0),
    ]
    for marked, members in groupby(shown, key=lambda line: line[0]):
        yield marked, "\n".join(text for _, text in members)


def _numbered(lines: Iterable[str], first: int, marked: int) -> Iterator[Piece]:
    return ((marked, f"{number:>7}  {line}") for number, line in enumerate(lines, first))


def _script(name: str, content: str) -> str:
    return f"window.{name} = {content};\n" if content != "{}" else ""
