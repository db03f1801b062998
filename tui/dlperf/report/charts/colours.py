"""Which framework has which colour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Set

from dlperf.report.charts.svg import COLOURS

LIGHT = ("#0072b2", "#c44e00", "#00795a", "#b0468a", "#8a6d00", "#4a8fc4", "#6a50c7", "#5a5a5a")
"""Of the series, on a light page, as ``dlperf.css`` has them."""
DARK = ("#56b4e9", "#ff9248", "#2dc79a", "#e89ac7", "#e6c229", "#a5c9ff", "#b9adff", "#c4c4c4")
"""The same on a dark page."""


def coloured(meetings: Iterable[Set[str]], first: Collection[str] = ()) -> dict[str, int]:
    """Name → index of its series, so that those that stand in one chart differ in colour as far as colours reach.

    Args:
        meetings: the names of each chart.
        first: names that choose before all others, and so have colours without marks or dashes besides.

    Returns:
        An index below ``COLOURS`` is a colour; those above it are the same colours with other marks and dashes.
    """
    neighbours: dict[str, set[str]] = {}
    for names in meetings:
        for name in names:
            neighbours.setdefault(name, set()).update(names - {name})
    chosen: dict[str, int] = {}
    users: Counter[int] = Counter()
    for name in sorted(neighbours, key=lambda name: (name not in first, -len(neighbours[name]), name)):
        met = Counter(chosen[other] % COLOURS for other in neighbours[name] if other in chosen)
        colour = min(range(COLOURS), key=lambda colour: (met[colour], users[colour], colour))
        chosen[name] = colour + COLOURS * users[colour]
        users[colour] += 1
    return chosen
