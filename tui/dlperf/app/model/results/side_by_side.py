"""Set results or trials side by side: their values, what may be claimed of them, and in what they differ. Pure."""

from collections.abc import Hashable, Iterable, Mapping, Sequence

from dlperf.app.model.results.table import axes_of, figure_text
from dlperf.app.model.table import NOTHING, Column, Row, axis_columns
from dlperf.messages import _, render
from dlperf.messages.numbers import change
from dlperf.plan import TrialKey
from dlperf.table.model import ConfigurationResult
from dlperf.table.rows import row_of_trial
from dlperf.verdicts.claims import Claim
from dlperf.view.text import printable, spread


def title_of(row: ConfigurationResult) -> str:
    """Return the campaign of a result and, of a single trial, its number."""
    return printable(row.campaign) + (f" #{row.trials[0].number}" if len(row.trials) == 1 else "")


def rows_by_trial(rows: Iterable[ConfigurationResult], campaign: str, key: TrialKey) -> list[ConfigurationResult]:
    """Return a row for each trial: first this one, then those of its configuration; none where it has no result."""
    own = (campaign, key.configuration, key.number)

    def distance(row: ConfigurationResult) -> tuple[bool, ...]:
        is_other = (row.campaign, row.id, row.trials[0].number) != own
        return is_other, row.id != key.configuration, row.campaign != campaign

    found = sorted((row_of_trial(row, trial) for row in rows for trial in row.trials), key=distance)
    return found if found and not distance(found[0])[0] else []


def side_by_side(
    rows: Sequence[ConfigurationResult], conditions: Sequence[Mapping[str, str]], claims: Sequence[Claim] = ()
) -> tuple[list[Column], dict[Hashable, Row]]:
    """Return a table with a column for each result; after the values, the conditions in which they differ.

    Args:
        claims: of each result but the first, relative to that; none of single trials.
    """
    first = rows[0]
    lines: dict[str, Sequence[str]] = {
        _("figure"): [figure_text(row) for row in rows],
        _ratio_title(rows): [_ratio(row, first) for row in rows],
        **_claimed(claims),
        _("spread"): [spread(row.spread) for row in rows],
        "n": [str(row.n or NOTHING) for row in rows],
        _("protocol"): [row.protocol or NOTHING for row in rows],
    }
    lines |= _axes(rows) | _unlike_conditions(conditions)
    columns = [Column("", 24, importance=9), *(Column(title, 16, importance=8) for title in _titles(rows))]
    return columns, {
        name: Row((name, *map(printable, cells)), tones=("dim", *["" if len({*cells}) == 1 else "warn"] * len(cells)))
        for name, cells in lines.items()
    }


def _axes(rows: Sequence[ConfigurationResult]) -> dict[str, Sequence[str]]:
    """Return the value of each result on each axis, also on those that only some recipes have."""
    titles = (column.title for column in axis_columns(9, 9, 9))
    further = dict.fromkeys(name for row in rows for name, _value in row.axes)
    values = zip(titles, zip(*map(axes_of, rows), strict=True), strict=True)
    return {**dict(values), **{name: [str(dict(row.axes).get(name, NOTHING)) for row in rows] for name in further}}


def _titles(rows: Sequence[ConfigurationResult]) -> list[str]:
    """Return a title for each result: its campaign; in one campaign the axes in which they differ."""
    names = [title_of(row) for row in rows]
    further = {name for row in rows for name, _value in row.axes}
    unlike = [
        [printable(f"{axis} {value}" if value.isdigit() or axis in further else value) for value in values]
        for axis, values in _axes(rows).items()
        if len({*values}) > 1
    ]
    return [" ".join(parts) for parts in zip(*unlike, strict=True)] if unlike and len({*names}) == 1 else names


def _unlike_conditions(conditions: Sequence[Mapping[str, str]]) -> dict[str, Sequence[str]]:
    """Return the conditions that differ, or that those of all are the same."""
    names = dict.fromkeys(name for known in conditions for name in known)
    values = {name: [known.get(name, NOTHING) for known in conditions] for name in names}
    unlike: dict[str, Sequence[str]] = {name: each for name, each in values.items() if len({*each}) > 1}
    title = _("environment")
    return unlike or ({title: [_("the same")] * len(conditions)} if all(conditions) else {})


def _ratio(row: ConfigurationResult, first: ConfigurationResult) -> str:
    return f"{row.score / first.score:.3f}×" if first.score and row.value else NOTHING


def _ratio_title(rows: Sequence[ConfigurationResult]) -> str:
    alike = len({(row.case, row.precision, row.batch_size, row.gpus_total, row.axes) for row in rows}) == 1
    return _("ratio") if alike else _("ratio, unlike settings")


def _claimed(claims: Sequence[Claim]) -> dict[str, Sequence[str]]:
    """Return what may be claimed of each result relative to the first, and on what it rests."""
    lines = {
        _("verdict"): [printable(render(found.verdict)) for found in claims],
        _("ratio of the kind"): [f"{found.gain:.3f}×" if found.of_kind and found.gain else "" for found in claims],
        _("interval"): [interval_text(found) for found in claims],
        _("each machine"): ["  ".join(change(b.score / a.score - 1) for a, b in found.machines) for found in claims],
        _("losses"): [losses_text(found) for found in claims],
    }
    return {name: [NOTHING, *(text or NOTHING for text in texts)] for name, texts in lines.items() if any(texts)}


def interval_text(found: Claim) -> str:
    """Return the interval of the ratio, and p; empty where there is none."""
    if found.interval is None:
        return ""
    low, high = (f"{end:.3f}" for end in found.interval)
    return f"{low} … {high}  p = {found.p:.2g}"


def losses_text(found: Claim) -> str:
    """Return how far the losses are apart where one side is called ahead; empty where none are printed."""
    return render(found.alike.said) if found.alike else ""
