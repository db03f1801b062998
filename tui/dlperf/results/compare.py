"""Two sets of results side by side, matched on equal axes: by how much, and how sure. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dlperf.errors import RequestError
from dlperf.messages import Message, message
from dlperf.results.model import ConfigurationResult

ByKey = dict[tuple[str, ...], list[ConfigurationResult]]
"""Values of the axes that must be equal → the rows there."""

AXES = ("campaign", "hardware", "framework", "case", "precision", "batch_size", "scale")


@dataclass(frozen=True)
class Selector:
    """Which rows one side of a comparison means."""

    text: str
    fixed: dict[str, str]
    """Axis → value. The axes that either side fixes may differ between the sides; all others must be equal."""

    def matches(self, row: ConfigurationResult) -> bool:
        return all(axis_value(row, axis) == value for axis, value in self.fixed.items())


@dataclass(frozen=True)
class Comparison:
    """B relative to A at one point of the matrix."""

    a: ConfigurationResult
    b: ConfigurationResult
    ratio: float | None
    """B's figure over A's; None where either is missing."""
    low: float | None
    """B's worst trial over A's best, to ``high``: the range that the trials leave open. None under two trials each."""
    high: float | None
    verdict: Message
    """faster, slower, not_distinguishable (the ranges of the trials overlap), spread_unknown, or not_comparable."""
    differences: tuple[str, ...] = ()
    """Conditions in which the sides differ beside the axes that are compared: options, protocol, environment."""


@dataclass(frozen=True)
class Missing:
    """A point that only one side holds."""

    row: ConfigurationResult
    reason: str
    """What the other side lacks."""


@dataclass(frozen=True)
class Comparisons:
    """Every point that both sides hold, and what only one of them holds."""

    pairs: tuple[Comparison, ...]
    only_a: tuple[Missing, ...]
    only_b: tuple[Missing, ...]
    ambiguous: tuple[str, ...]
    """Points that one side holds more than once, in words; not compared."""


def axis_value(row: ConfigurationResult, axis: str) -> str:
    """A row's value on an axis, as text."""
    return str(getattr(row, axis))


def parse_selector(text: str, rows: Sequence[ConfigurationResult]) -> Selector:
    """A campaign's name, a configuration id, ``campaign/configuration id``, or ``axis=value[,axis=value…]``.

    Raises:
        RequestError: an unknown axis, or nothing that is called so.
    """
    if any(row.campaign == text for row in rows):
        return Selector(text, {"campaign": text})
    for row in rows:
        if text in (row.configuration, f"{row.campaign}/{row.configuration}"):
            axes = {axis: axis_value(row, axis) for axis in AXES}
            return Selector(text, axes if "/" in text else {k: v for k, v in axes.items() if k != "campaign"})
    if "=" not in text:
        raise RequestError(f"{text!r} is no campaign and no configuration id here: see `dlperf results`")
    return Selector(text, _axes_of(text))


def _axes_of(text: str) -> dict[str, str]:
    fixed = dict(part.split("=", 1) for part in text.split(",") if "=" in part)
    for axis in fixed:
        if axis not in AXES:
            raise RequestError(f"{text!r}: {axis!r} is no axis: choose {', '.join(AXES)}")
    return fixed


def compare(rows: Sequence[ConfigurationResult], a: Selector, b: Selector) -> Comparisons:
    """Match the rows of both sides on every axis that neither side fixes, and compare each pair.

    Raises:
        RequestError: the sides share no point.
    """
    axes = [axis for axis in AXES if axis not in a.fixed | b.fixed]
    left, right = (_by_key(rows, side, axes) for side in (a, b))
    for side, rows_of_side in ((a, left), (b, right)):
        if not rows_of_side:
            raise RequestError(f"{side.text}: no result has all of these: see `dlperf results`")
    shared = [key for key in left if key in right]
    if not shared:
        raise RequestError(
            f"{a.text} and {b.text} share no configuration: equal must be {', '.join(axes)}; "
            "an axis in which they may differ is named on both sides, such as campaign=…,framework=…"
        )
    clear = [key for key in shared if len(left[key]) == len(right[key]) == 1]
    return Comparisons(
        pairs=tuple(compare_rows(left[key][0], right[key][0]) for key in clear),
        only_a=tuple(_missing(left, right, axes)),
        only_b=tuple(_missing(right, left, axes)),
        ambiguous=tuple(_ambiguity(key, len(left[key]), len(right[key])) for key in shared if key not in clear),
    )


def falls_below(comparison: Comparison, threshold: float) -> bool:
    """B is slower than the threshold allows, or has no figure where A has one."""
    if comparison.ratio is None:
        return comparison.a.value is not None
    return comparison.ratio < threshold


def _by_key(rows: Iterable[ConfigurationResult], side: Selector, axes: Sequence[str]) -> ByKey:
    found: ByKey = {}
    for row in rows:
        if side.matches(row):
            found.setdefault(tuple(axis_value(row, axis) for axis in axes), []).append(row)
    return found


def _missing(side: ByKey, other: ByKey, axes: Sequence[str]) -> Iterator[Missing]:
    """What the other side does not hold."""
    held = list(map(set, zip(*other, strict=True)))
    for key in side:
        if key not in other:
            absent = [_said(*item) for *item, known in zip(axes, key, held, strict=True) if item[1] not in known]
            reason = f"no {', '.join(absent)}" if absent else "all of its axes, not together"
            yield from (Missing(row, reason) for row in side[key])


def _said(axis: str, value: str) -> str:
    return f"batch size {value}" if axis == "batch_size" else value


def compare_rows(a: ConfigurationResult, b: ConfigurationResult) -> Comparison:
    """B relative to A, whatever their axes are."""
    if a.unit != b.unit:
        return Comparison(a, b, None, None, None, _not_comparable(message("units_differ", a=a.unit, b=b.unit)))
    if not a.value or not b.value:
        return Comparison(a, b, None, None, None, _not_comparable((b if a.value else a).status.in_full))
    ratio = b.value / a.value
    if min(len(a.values), len(b.values)) < 2:
        return Comparison(a, b, ratio, None, None, message("spread_unknown"))
    low, high = min(b.values) / max(a.values), max(b.values) / min(a.values)
    return Comparison(a, b, ratio, low, high, message(_verdict(low, high)))


def _verdict(low: float, high: float) -> str:
    if low > 1:
        return "faster"
    return "slower" if high < 1 else "not_distinguishable"


def _not_comparable(why: Message) -> Message:
    return message("not_comparable", why=why)


def _ambiguity(key: tuple[str, ...], left: int, right: int) -> str:
    return f"{' '.join(key) or 'everything'}: {left} rows against {right}: name one more axis"
