"""Results as rows: sorted, filtered, compared with another campaign, beside the published figures. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from dlperf.app.model.table import Column, Row, Tone
from dlperf.app.model.text import number, percent, printable
from dlperf.app.model.trial_pages import finding_text
from dlperf.app.words import say, told
from dlperf.results.model import ConfigurationResult

Key = Callable[[ConfigurationResult], tuple[bool, object]]


def _known(value: object) -> tuple[bool, object]:
    """Sorts what is missing last."""
    return value is None, value if value is not None else 0


SORT_KEYS: tuple[Key, ...] = (
    lambda row: _known(row.case),
    lambda row: _known(row.framework),
    lambda row: _known(row.precision),
    lambda row: _known(row.batch_size),
    lambda row: _known(row.nodes * row.gpus),
    lambda row: _known(row.hardware),
    lambda row: _known(row.value),
    lambda row: _known(row.spread),
    lambda row: _known(row.n),
    lambda row: _known(row.speedup),
    lambda row: _known(row.mfu),
    lambda row: _known(row.campaign),
    lambda row: _known(row.status),
)
"""One for each column."""


@dataclass(frozen=True)
class ResultsView:
    """What the Results screen shows of all rows."""

    rows: tuple[ConfigurationResult, ...] = ()
    matching: str = ""
    column: int | None = None
    """Sorted by this column; in the order of the campaigns if None."""
    descending: bool = False
    published: bool = True
    baseline: str | None = None
    """The campaign that every row is compared with."""

    def sorted_by(self, column: int) -> ResultsView:
        """Sorted by a column; once more turns the order round."""
        if column == self.column:
            return replace(self, descending=not self.descending)
        return replace(self, column=column, descending=False)

    @property
    def campaigns(self) -> tuple[str, ...]:
        """All campaigns that have rows."""
        return tuple(dict.fromkeys(row.campaign for row in self.rows))

    def shown(self) -> list[ConfigurationResult]:
        """The rows that are wanted, in order."""
        rows = [row for row in self.rows if self._wanted(row)]
        if self.column is not None:
            rows.sort(key=SORT_KEYS[self.column], reverse=False)
            if self.descending:
                known = [row for row in rows if not SORT_KEYS[self.column](row)[0]]
                rows = known[::-1] + rows[len(known) :]
        return rows

    def _wanted(self, row: ConfigurationResult) -> bool:
        if row.status == "published" and not self.published:
            return False
        text = " ".join(map(str, (*_axes(row), row.campaign, row.status))).lower()
        return all(word in text for word in self.matching.lower().split())

    def base_of(self, row: ConfigurationResult) -> ConfigurationResult | None:
        """The same point of the baseline: on the same hardware where it has that, else on its only one."""
        same = [
            other
            for other in self.rows
            if other.campaign == self.baseline and other is not row and _point(other) == _point(row)
        ]
        there = [other for other in same if other.hardware == row.hardware]
        return there[0] if there else same[0] if len(same) == 1 else None


def _axes(row: ConfigurationResult) -> tuple[str, ...]:
    batch = "-" if row.batch_size is None else str(row.batch_size)
    return (row.case, row.framework, row.precision, batch, f"{row.nodes}n{row.gpus}g", row.hardware)


def _point(row: ConfigurationResult) -> tuple[object, ...]:
    return (row.case, row.framework, row.precision, row.batch_size, row.nodes, row.gpus)


def result_columns(compared: bool) -> tuple[Column, ...]:
    """The columns; with a comparison, two more before the last."""
    columns = (
        Column(say("case"), 9, importance=9),
        Column(say("framework"), 14, importance=9),
        Column(say("prec."), 5, importance=8),
        Column(say("batch"), 6, right=True, importance=7),
        Column(say("GPUs"), 6, importance=8),
        Column(say("hardware"), 10, importance=5),
        Column(say("figure"), 17, right=True, importance=9),
        Column(say("spread"), 7, right=True, importance=7),
        Column("n", 2, right=True, importance=7),
        Column(say("speed-up"), 8, right=True, importance=3),
        Column("MFU", 6, right=True, importance=2),
        Column(say("campaign"), 14, importance=6, flexible=True),
        Column(say("note"), 13, importance=6),
    )
    extra = (Column(say("baseline"), 10, right=True, importance=8), Column(say("change"), 9, right=True, importance=9))
    return columns + extra if compared else columns


def result_row(view: ResultsView, row: ConfigurationResult) -> Row:
    """A configuration as a row."""
    cells: tuple[str, ...] = (
        *map(printable, _axes(row)),
        _figure(row).partition(":")[0],
        percent(row.spread),
        "-" if row.n is None else str(row.n),
        "-" if row.speedup is None else f"{row.speedup:.2f}×",
        percent(row.mfu),
        printable(row.campaign),
        _note(row),
    )
    tone: Tone = "dim" if row.status == "published" else "" if row.value is not None else "bad"
    tones: tuple[Tone, ...] = ()
    if view.baseline is not None:
        base = view.base_of(row)
        change = row.value / base.value - 1 if base and base.value and row.value is not None else None
        cells += (number(base.value) if base else "-", percent(change, sign=True))
        tones = (*_no_tones(len(cells) - 1), _change_tone(row, base, change))
    return Row(cells, tone, tones)


def _figure(row: ConfigurationResult) -> str:
    """The figure, or why there is none: a word, and after a colon the cause."""
    if row.value is not None:
        return number(row.value, row.unit)
    word, _, cause = row.status.partition(": ")
    return printable(": ".join(part for part in (say(word), told(cause)) if part))


def _note(row: ConfigurationResult) -> str:
    """What a reader must know of the figure."""
    if row.value is None:
        return _figure(row).partition(":")[2].strip()
    if row.status != "measured":
        return say(printable(row.status))
    return say("findings: {count}", count=len(row.findings)) if row.findings else ""


def _no_tones(count: int) -> list[Tone]:
    return [""] * count


def _change_tone(row: ConfigurationResult, base: ConfigurationResult | None, change: float | None) -> Tone:
    """Coloured only where the difference is larger than what the trials differ among themselves."""
    if change is None or base is None:
        return ""
    noise = max(row.spread or 0.0, base.spread or 0.0)
    return "" if abs(change) <= noise else "good" if change > 0 else "bad"


def about_result(row: ConfigurationResult) -> list[str]:
    """The figure of a row with its worth: trials, protocol, findings."""
    values = [number(trial.value) for trial in row.trials if trial.value is not None]
    lines = [
        " · ".join((*map(printable, _axes(row)), printable(row.campaign))),
        f"{say('figure')}: {_figure(row)}",
    ]
    if row.protocol:
        lines[-1] += "  " + say("protocol {name}", name=row.protocol)
    if values:
        lines.append(say("trials") + ": " + "  ".join(values))
    if row.source:
        lines.append(say("source") + ": " + printable(row.source))
    lines += [finding_text(item) for item in row.findings]
    return lines


def beside(rows: Iterable[ConfigurationResult], row: ConfigurationResult) -> list[ConfigurationResult]:
    """Other figures for the same case, precision and number of GPUs, best first."""
    others = [
        other
        for other in rows
        if other is not row
        and other.value is not None
        and (other.case, other.precision) == (row.case, row.precision)
        and other.nodes * other.gpus == row.nodes * row.gpus
    ]
    return sorted(others, key=lambda other: -(other.value or 0.0))


def beside_columns() -> tuple[Column, ...]:
    """The columns of the figures beside."""
    return (
        Column(say("framework"), 16, importance=9),
        Column(say("hardware"), 16, importance=8, flexible=True),
        Column(say("batch"), 6, right=True, importance=6),
        Column(say("figure"), 18, right=True, importance=9),
        Column(say("ratio"), 6, right=True, importance=8),
        Column(say("campaign"), 20, importance=5),
    )


def beside_rows(row: ConfigurationResult, others: Sequence[ConfigurationResult]) -> list[Row]:
    """Other figures, and what part of each this one is."""
    return [
        Row(
            (
                printable(other.framework),
                printable(other.hardware),
                "-" if other.batch_size is None else str(other.batch_size),
                number(other.value, other.unit),
                f"{row.value / other.value:.2f}×" if row.value is not None and other.value else "-",
                printable(other.campaign),
            ),
            "dim" if other.status == "published" else "",
        )
        for other in others
    ]
