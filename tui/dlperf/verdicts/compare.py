"""Compare two sets of results, matched on equal axes. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from dlperf.errors import RequestError
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import Claim, Context, context_of, joint_level
from dlperf.verdicts.trials import Pair
from dlperf.verdicts.variation import KnownOfHardware

ByKey = dict[tuple[str, ...], list[ConfigurationResult]]
"""Values of the equal axes → rows."""

AXES = ("campaign", "hardware", "framework", "case", "precision", "batch_size", "scale")


@dataclass(frozen=True)
class Selector:
    """The rows of one side of a comparison."""

    text: str
    fixed: dict[str, str]
    """Axis → value. Axes that a side fixes may differ between the sides; all others are equal."""

    def matches(self, row: ConfigurationResult) -> bool:
        return all(axis_value(row, axis) == value for axis, value in self.fixed.items())


@dataclass(frozen=True)
class Missing:
    """A row without counterpart on the other side."""

    row: ConfigurationResult
    reason: str


@dataclass(frozen=True)
class Comparisons:
    """Pairs of rows, and rows of one side only."""

    pairs: tuple[Claim, ...]
    only_a: tuple[Missing, ...]
    only_b: tuple[Missing, ...]
    ambiguous: tuple[str, ...]
    """Descriptions of keys with several rows on a side."""
    known: KnownOfHardware
    """Of the variation between campaigns and machines."""


def axis_value(row: ConfigurationResult, axis: str) -> str:
    """Return the value of an axis as text; ``None`` for a further one of which the row says nothing."""
    return str(getattr(row, axis) if axis in AXES else row.setting(axis))


def axes_of(rows: Iterable[ConfigurationResult]) -> tuple[str, ...]:
    """Return the names of all axes that the rows have."""
    return tuple(dict.fromkeys((*AXES, *(name for row in rows for name, _ in row.axes))))


def parse_selector(text: str, rows: Sequence[ConfigurationResult]) -> Selector:
    """Parse a campaign's name, a configuration id, ``campaign/configuration id``, or ``axis=value[,axis=value…]``.

    Raises:
        RequestError: an unknown axis or name.
    """
    if any(row.campaign == text for row in rows):
        return Selector(text, {"campaign": text})
    for row in rows:
        if text in (row.id, f"{row.campaign}/{row.id}"):
            axes = axes_of([row])[0 if "/" in text else 1 :]
            return Selector(text, {axis: axis_value(row, axis) for axis in axes})
    if "=" not in text:
        raise RequestError(f"{text!r} is no campaign and no configuration id here: see `dlperf results`")
    fixed = dict(part.split("=", 1) for part in text.split(",") if "=" in part)
    known = axes_of(rows)
    for axis in fixed:
        if axis not in known:
            raise RequestError(f"{text!r}: {axis!r} is no axis: choose {', '.join(known)}")
    return Selector(text, fixed)


def compare(
    rows: Sequence[ConfigurationResult],
    a: Selector,
    b: Selector,
    *,
    loss: float | None = None,
    context: Context | None = None,
) -> Comparisons:
    """Match the rows of both sides on every axis that neither side fixes, and compare each pair.

    Args:
        loss: relative loss that is sought; None for what the variation allows.
        context: of all results of the workspace, where ``rows`` are a part of them.

    Raises:
        RequestError: the sides share no configuration.
    """
    chosen = [list(filter(side.matches, rows)) for side in (a, b)]
    for side, rows_of_side in zip((a, b), chosen, strict=True):
        if not rows_of_side:
            raise RequestError(f"{side.text}: no result has all of these: see `dlperf results`")
    axes = [axis for axis in axes_of(chain(*chosen)) if axis not in a.fixed | b.fixed]
    left, right = (_by_key(rows_of_side, axes) for rows_of_side in chosen)
    shared = [key for key in left if key in right]
    if not shared:
        raise RequestError(
            f"{a.text} and {b.text} share no configuration: equal must be {', '.join(axes)}; "
            "an axis in which they may differ is named on both sides, such as campaign=…,framework=…"
        )
    clear = [key for key in shared if len(left[key]) == len(right[key]) == 1]
    context = context or context_of(rows)
    return Comparisons(
        pairs=claims_together([(left[key][0], right[key][0]) for key in clear], context, loss),
        only_a=tuple(_missing(left, right, axes)),
        only_b=tuple(_missing(right, left, axes)),
        ambiguous=tuple(_ambiguity(key, len(left[key]), len(right[key])) for key in shared if key not in clear),
        known=context.known,
    )


def claims_together(pairs: Sequence[Pair], context: Context, loss: float | None = None) -> tuple[Claim, ...]:
    """Compare pairs, at the level that holds for all of them together; a claim about a kind is one on all its GPUs."""
    found = _once(context.claim(*pair, loss) for pair in pairs)
    together = replace(context, level=joint_level(found))
    return found if together.level == context.level else tuple(together.claim(one.a, one.b, loss) for one in found)


def _once(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Return claims without those about a kind that another one of these is, too: it names another GPU."""
    found: dict[tuple[object, ...], Claim] = {}
    for one in claims:
        sides = one.machines or ((one.a, one.b),)
        found.setdefault(tuple((row.campaign, row.id, row.metric) for pair in sides for row in pair), one)
    return tuple(found.values())


def _by_key(rows: Iterable[ConfigurationResult], axes: Sequence[str]) -> ByKey:
    found: ByKey = {}
    for row in rows:
        found.setdefault(tuple(axis_value(row, axis) for axis in axes), []).append(row)
    return found


def _missing(side: ByKey, other: ByKey, axes: Sequence[str]) -> Iterator[Missing]:
    held = list(map(set, zip(*other, strict=True)))
    for key in side:
        if key not in other:
            absent = [_said(*item) for *item, known in zip(axes, key, held, strict=True) if item[1] not in known]
            reason = f"no {', '.join(absent)}" if absent else "all of its axes, not together"
            yield from (Missing(row, reason) for row in side[key])


def _said(axis: str, value: str) -> str:
    return f"batch size {value}" if axis == "batch_size" else value


def _ambiguity(key: tuple[str, ...], left: int, right: int) -> str:
    return f"{' '.join(key) or 'everything'}: {left} rows against {right}: name one more axis"
