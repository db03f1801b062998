"""Compare two campaigns as rows: regressions first, then what only one of them has. Pure."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dlperf.app.model.results.side_by_side import interval_text, losses_text
from dlperf.app.model.results.table import about_result, axes_of, figure_text
from dlperf.app.model.table import NOTHING, Column, Row, SortedView, Tone, axis_columns, markdown
from dlperf.errors import RequestError
from dlperf.messages import N_, _, language, render
from dlperf.messages.numbers import change
from dlperf.table import columns as flat
from dlperf.table.conditions import differences
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import Claim, Context, context_of
from dlperf.verdicts.compare import Comparisons, Missing, Selector, compare
from dlperf.view.text import printable, spread, value_text

NO_FIGURE, NEW, MISSING, NOT_COMPARED = "not_comparable", "new", "missing", "several"
VERDICTS = {
    "worse": N_("worse"),
    NO_FIGURE: N_("not comparable"),
    MISSING: N_("missing"),
    "better": N_("better"),
    "same": N_("same"),
    "cannot_tell": N_("cannot tell"),
    NEW: N_("new"),
    NOT_COMPARED: N_("several rows, not compared"),
}
"""Verdict of ``dlperf.verdicts.compare``, or what only one side has → its label, bad news first."""
TONES: dict[str, Tone] = {"worse": "bad", "better": "good", NO_FIGURE: "bad", MISSING: "bad"}
COPIED = ("hardware", "framework", "case", "precision", "batch_size", "nodes", "gpus", "unit", "spread", "n")
"""Columns of CSV that are those of a result; of the newer one where both campaigns have it."""
Side = ConfigurationResult | None


@dataclass(frozen=True)
class ComparedPoint:
    """A configuration in two campaigns, or in one of them."""

    before: Side
    after: Side
    verdict: str
    claim: Claim | None = None

    @property
    def ratio(self) -> float | None:
        return self.claim.ratio if self.claim else None

    @property
    def result(self) -> ConfigurationResult:
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def rank(self) -> tuple[int, float]:
        """Sort key: lost results, then changes from the worst on, then what cannot be compared."""
        lost = self.verdict == NO_FIGURE and self.before is not None and self.before.value is not None
        if not self.ratio or self.after is None or self.before is None:
            return 0 if lost else 2, math.inf
        return 1, self.after.score / self.before.score


@dataclass(frozen=True)
class ComparisonView(SortedView[ComparedPoint]):
    points: tuple[ComparedPoint, ...] = ()
    before: str = ""
    after: str = ""
    not_compared: int = 0
    """Points with several rows in one campaign."""

    def items(self) -> Sequence[ComparedPoint]:
        return self.points

    def text(self, item: ComparedPoint) -> str:
        return " ".join((*axes_of(item.result), VERDICTS[item.verdict], _(VERDICTS[item.verdict])))

    def key(self, item: ComparedPoint, column: int) -> object:
        row, before, after = item.result, item.before, item.after
        axes = (row.case, row.framework, row.precision, row.batch_size, row.nodes * row.gpus, row.hardware)
        figures = (after.value if after else None, before.value if before else None, item.ratio)
        worth = (after.spread, after.n) if after else (None, None)
        return (*axes, *figures, *worth, item.verdict)[column]

    def columns(self) -> tuple[Column, ...]:
        return (
            *axis_columns(9, 11, 10, hardware_importance=7),
            Column(_("figure"), 10, right=True, importance=9, largest_first=True),
            Column(_("baseline"), 9, right=True, importance=6, largest_first=True),
            Column(_("change"), 9, right=True, importance=9),
            Column(_("spread"), 7, right=True, importance=6),
            Column("n", 2, right=True, importance=4),
            Column(_("verdict"), 11, importance=9, flexible=True),
        )

    def cells(self, item: ComparedPoint) -> Row:
        row, before = item.result, item.before
        difference = change(item.ratio - 1) if item.ratio is not None else _(VERDICTS[item.verdict])
        cells = (
            *map(printable, axes_of(row)),
            value_text(item.after) if item.after else NOTHING,
            value_text(before) if before else NOTHING,
            difference,
            spread(item.after.spread if item.after else None),
            str(item.after.n) if item.after and item.after.n else "-",
            self._verdict(item),
        )
        plain: list[Tone] = [""] * 8
        tone = TONES.get(item.verdict, "")
        return Row(cells, tones=(*plain, tone))

    def as_markdown(self) -> str:
        """Return the table below the names of both campaigns, with a column for the unit."""
        columns = [*self.columns(), Column(_("unit"), 9)]
        rows = [(*self.cells(item).cells, printable(item.result.unit)) for item in self.chosen()]
        return f"{self.title()}\n\n{markdown(columns, rows)}"

    def as_csv(self) -> str:
        shown = self.chosen()
        rows = [item.result for item in shown]
        columns = {name: [getattr(row, name) for row in rows] for name in COPIED}
        columns |= flat.axis_columns([row.axes for row in rows])
        columns |= {f"{side}_campaign": [getattr(self, side)] * len(shown) for side in ("after", "before")}
        columns |= {side: [_value_of(getattr(item, side)) for item in shown] for side in ("after", "before")}
        return flat.csv_text(columns | {name: [getattr(item, name) for item in shown] for name in ("ratio", "verdict")})

    def _verdict(self, item: ComparedPoint) -> str:
        if item.verdict == MISSING:
            return _("only in {name}", name=printable(self.before))
        if item.verdict == NEW:
            return _("only in {name}", name=printable(self.after))
        if item.verdict == NO_FIGURE:
            lacking = item.after if item.after is not None and item.after.value is None else item.before
            return figure_text(lacking) if lacking is not None and lacking.value is None else _(VERDICTS[NO_FIGURE])
        return _(VERDICTS[item.verdict])

    def result(self, item: ComparedPoint) -> ConfigurationResult:
        return item.result

    def title(self) -> str:
        return _("{after} against {before}", after=printable(self.after), before=printable(self.before))

    def summary(self) -> str:
        counts = Counter(point.verdict for point in self.points)
        counts[NOT_COMPARED] = self.not_compared
        colon = language().colon
        return " · ".join(f"{_(label)}{colon}{counts[code]}" for code, label in VERDICTS.items() if counts[code])

    def about(self, item: ComparedPoint) -> list[str]:
        lines = [" · ".join(map(printable, axes_of(item.result)))]
        for side in (item.after, item.before):
            if side is not None:
                lines += [printable(side.campaign), *(f"  {line}" for line in about_result(side)[1:])]
        if item.claim is not None:
            interval = interval_text(item.claim)
            lines += [_("interval") + language().colon + interval] if interval else []
            lines += filter(None, [losses_text(item.claim)])
            lines += [f"  {printable(render(why))}" for why in item.claim.reasons]
            lines += [printable(difference) for difference in differences(item.claim.a, item.claim.b)]
        return lines


def _value_of(side: Side) -> float | None:
    return side.value if side else None


def comparison_of(
    rows: Sequence[ConfigurationResult], before: str, after: str, context: Context | None = None
) -> ComparisonView | None:
    """Compare two campaigns on equal axes; return None if they share no configuration.

    Campaigns measured on one machine each are compared across these machines.

    Args:
        rows: all results, or where a ``context`` was made of them, at least those of both campaigns.
    """
    both = [row for row in rows if row.campaign in (before, after)]
    found = _compare_rows(both, before, after, context or context_of(rows))
    if found is None:
        return None
    points = [ComparedPoint(pair.a, pair.b, pair.verdict.code, pair) for pair in found.pairs]
    points += [ComparedPoint(item.row, None, MISSING) for item in _with_value(found.only_a)]
    points += [ComparedPoint(None, item.row, NEW) for item in _with_value(found.only_b)]
    ordered = tuple(sorted(points, key=lambda point: point.rank))
    return ComparisonView(points=ordered, before=before, after=after, not_compared=len(found.ambiguous))


def _with_value(missing: Iterable[Missing]) -> Iterable[Missing]:
    """Return the points with a value: what neither side could run is no difference."""
    return (item for item in missing if item.row.value is not None)


def _compare_rows(rows: Sequence[ConfigurationResult], before: str, after: str, context: Context) -> Comparisons | None:
    machines = [{row.hardware for row in rows if row.campaign == name} for name in (before, after)]
    attempts = [(Selector(before, {"campaign": before}), Selector(after, {"campaign": after}))]
    if all(len(names) == 1 for names in machines):
        first, second = (
            {"campaign": name, "hardware": min(on)} for name, on in zip((before, after), machines, strict=True)
        )
        attempts.append((Selector(before, first), Selector(after, second)))
    for a, b in attempts:
        try:
            return compare(rows, a, b, context=context)
        except RequestError:
            continue
    return None


def comparable(rows: Sequence[ConfigurationResult], after: str) -> dict[str, ComparisonView]:
    by_campaign: dict[str, list[ConfigurationResult]] = {}
    for row in rows:
        by_campaign.setdefault(row.campaign, []).append(row)
    mine, context = by_campaign.pop(after, []), context_of(rows)
    views = {name: comparison_of([*mine, *theirs], name, after, context) for name, theirs in by_campaign.items()}
    return {name: view for name, view in views.items() if view is not None}
