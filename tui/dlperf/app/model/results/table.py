"""Show results as rows, and comparable results of others. Pure."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dlperf.app.model.campaigns_table import CAVEATS
from dlperf.app.model.table import FRAMEWORK, NOTHING, Column, Row, SortedView, Tone, axis_columns, bar
from dlperf.app.model.trial_pages import finding_text
from dlperf.catalog.axes import axes_text
from dlperf.messages import _, language
from dlperf.table.columns import csv_text, flat_columns
from dlperf.table.model import ConfigurationResult
from dlperf.table.shown import speed_up
from dlperf.view.text import number, percent, printable, spread, value_text

BAR_WIDTH = 8
AXES = ("case", "framework", "precision", "batch_size", "gpus", "hardware")
KEYS = (*AXES, "value", "share", "spread", "n", "speedup", "mfu", "campaign", "status")
"""What the columns are sorted by."""
SHORT_UNITS = {"images/s": "img/s", "samples/s": "smp/s", "sequences/s": "seq/s", "tokens/s": "tok/s"}
"""In cells: a line of the screen spells out the unit of the selected row."""


@dataclass(frozen=True)
class ResultsView(SortedView[ConfigurationResult]):
    rows: tuple[ConfigurationResult, ...] = ()
    published: bool = True
    marked: frozenset[Hashable] = frozenset()
    """Names of results to be compared side by side, or copied."""
    short_units: bool = True

    def as_csv(self) -> str:
        """Return all that ``dlperf results --csv`` writes."""
        return csv_text(flat_columns(self.chosen()))

    def as_markdown(self) -> str:
        return super(ResultsView, replace(self, short_units=False)).as_markdown()

    @cached_property
    def peers(self) -> Mapping[Hashable, list[ConfigurationResult]]:
        """Return the results of each case, precision and number of GPUs, best first, also those that are hidden."""
        return by_peers(self.rows)

    @cached_property
    def _best(self) -> dict[Hashable, float]:
        """The best score of each case, precision and number of GPUs, of those that reports rank."""
        return {key: rows[0].score for key, rows in by_peers(row for row in self.items() if row.stands).items()}

    def share(self, item: ConfigurationResult) -> float | None:
        """Return the share of the best; None where it has no value, or reports leave it out."""
        return item.score / self._best[peers_key(item)] if item.value and item.stands else None

    def chosen(self) -> list[ConfigurationResult]:
        return [row for row in self.shown() if not self.marked or name_of(row) in self.marked]

    def items(self) -> Sequence[ConfigurationResult]:
        return [row for row in self.rows if self.published or not row.is_third_party]

    def text(self, item: ConfigurationResult) -> str:
        return " ".join((*axes_of(item), axes_text(item.axes), item.campaign, str(item.status)))

    def key(self, item: ConfigurationResult, column: int) -> object:
        match name := KEYS[column]:
            case "gpus":
                return item.nodes * item.gpus
            case "share":
                return self.share(item)
            case "status":
                return str(item.status)
        return getattr(item, name)

    def columns(self) -> tuple[Column, ...]:
        return (
            *axis_columns(9, 16, 10, batch_importance=7, hardware_importance=8),
            Column(_("figure"), 14, right=True, importance=9, largest_first=True),
            Column(_("of best"), BAR_WIDTH, importance=5, drawn=True, largest_first=True),
            Column(_("spread"), 7, right=True, importance=6),
            Column("n", 2, right=True, importance=6, largest_first=True),
            Column(_("speed-up"), 8, right=True, importance=3, largest_first=True),
            Column("MFU", 6, right=True, importance=2, largest_first=True),
            Column(_("campaign"), 14, importance=5, flexible=True),
            Column(_("note"), 13, importance=4),
        )

    def cells(self, item: ConfigurationResult) -> Row:
        case, *axes = map(printable, axes_of(item))
        share = self.share(item)
        cells = (
            case,
            *axes,
            _figure_cell(item, SHORT_UNITS if self.short_units else {}),
            NOTHING if share is None else _("best") if share == 1.0 else bar(share, BAR_WIDTH),
            spread(item.spread),
            "-" if item.n is None else str(item.n),
            speed_up(item) or NOTHING,
            percent(item.mfu),
            printable(item.campaign),
            _note(item),
        )
        lacks: Tone = "dim" if item.status.code in ("not_run", "running") else "bad"
        tone: Tone = "dim" if item.is_third_party else "" if item.value is not None else lacks
        framework = "" if tone == "dim" else FRAMEWORK + item.framework
        tones = ("", framework, *[""] * 5, "good" if share == 1.0 else framework)
        return Row(cells, tone, tones, marked=name_of(item) in self.marked)

    def result(self, item: ConfigurationResult) -> ConfigurationResult:
        return item

    def about(self, item: ConfigurationResult) -> list[str]:
        return about_result(item)

    def title(self) -> str:
        title = _("Results: {shown} of {total}", shown=len(self.shown()), total=len(self.rows))
        return title if self.published else f"{title} · " + _("published ones are hidden: p")

    def summary(self) -> str:
        return ""


def name_of(row: ConfigurationResult) -> Hashable:
    return row.campaign, row.id, row.value


def peers_key(row: ConfigurationResult) -> Hashable:
    """Return what results that are compared with each other share."""
    return row.case, row.precision, row.nodes * row.gpus, row.unit


def number_of_evidence(row: ConfigurationResult) -> int | None:
    """Return the number of the trial whose value is nearest to the configuration's, of those that count if any does."""
    trials = row.usable_trials or row.trials
    gaps = [(abs(trial.value - (row.value or 0.0)), trial.number) for trial in trials if trial.value is not None]
    return min(gaps, default=(0.0, None))[1]


def axes_of(row: ConfigurationResult) -> tuple[str, ...]:
    batch = "-" if not row.batch_size else str(row.batch_size)
    return (row.case, row.framework, row.precision, batch, f"{row.nodes}n{row.gpus}g", row.hardware)


def _figure_cell(row: ConfigurationResult, short_units: Mapping[str, str]) -> str:
    """Return the value, marked if it has caveats, or why there is none."""
    if row.value is None:
        return row.status.kind(language())
    return value_text(row, short_units.get(row.unit, row.unit)) + (CAVEATS if row.caveats else "")


def figure_text(row: ConfigurationResult) -> str:
    """Return the value, or why there is none."""
    if row.value is not None:
        return value_text(row, row.unit)
    return printable(row.status.text(language()))


def _note(row: ConfigurationResult) -> str:
    if row.value is None:
        return printable(row.status.reason(language()))
    kind = row.status.kind(language()) if row.status.code != "measured" else ""
    findings = _("findings: {count}", count=len(row.findings)) if row.findings and not row.is_third_party else ""
    return " · ".join(filter(None, (kind, findings)))


def about_result(row: ConfigurationResult) -> list[str]:
    """Return a result with its trials, protocol and findings, its name first."""
    values = list(map(number, row.values))
    lines = [
        " · ".join((*map(printable, axes_of(row)), printable(row.campaign))),
        _("figure") + language().colon + figure_text(row),
    ]
    if row.protocol:
        lines[-1] += "  " + _("protocol {name}", name=row.protocol)
    if row.pauses and row.value is not None:
        lines[-1] += "  " + (_("with pauses") if row.pauses == "with" else _("without pauses"))
    if row.axes:
        lines.append(printable(axes_text(row.axes)))
    if values:
        lines.append(_("trials") + language().colon + "  ".join(values))
    if row.source:
        lines.append(_("source") + language().colon + printable(", ".join(filter(None, (row.source, row.date)))))
    return [*lines, *_findings(row)]


def _findings(row: ConfigurationResult) -> list[str]:
    """Return what was found, caveats first."""
    caveats = [finding_text(item) for item in row.caveats]
    if caveats and row.value is not None:
        caveats[0] = _("† The figure has caveats: {first}", first=caveats[0])
    return [*caveats, *(finding_text(item) for item in row.findings if item not in row.caveats)]


def version_lines(conditions: Mapping[str, str]) -> list[str]:
    """Return the version of a training stack that its lock names, else that which the program printed."""
    pinned = conditions.get("facts.version") if conditions.get("options.stack") else None
    version = pinned or conditions.get("framework_version")
    return [_("version {version}", version=printable(version))] if version else []


def by_peers(rows: Iterable[ConfigurationResult]) -> Mapping[Hashable, list[ConfigurationResult]]:
    """Return the results of each case, precision and number of GPUs, best first."""
    groups: dict[Hashable, list[ConfigurationResult]] = defaultdict(list)
    for row in sorted((row for row in rows if row.value is not None), key=lambda row: -row.score):
        groups[peers_key(row)].append(row)
    return groups
