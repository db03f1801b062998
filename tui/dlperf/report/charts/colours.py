"""Which framework has which colour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set

from dlperf.report.charts.svg import COLOURS


def coloured(meetings: Iterable[Set[str]]) -> dict[str, int]:
    """Name → index of its series, so that those that stand in one chart differ in colour as far as colours reach.

    Args:
        meetings: the names of each chart.

    Returns:
        An index below ``COLOURS`` is a colour; those above it are the same colours with other marks and dashes.
    """
    neighbours: dict[str, set[str]] = {}
    for names in meetings:
        for name in names:
            neighbours.setdefault(name, set()).update(names - {name})
    chosen: dict[str, int] = {}
    users: Counter[int] = Counter()
    for name in sorted(neighbours, key=lambda name: (-len(neighbours[name]), name)):
        met = Counter(chosen[other] % COLOURS for other in neighbours[name] if other in chosen)
        colour = min(range(COLOURS), key=lambda colour: (met[colour], users[colour], colour))
        chosen[name] = colour + COLOURS * users[colour]
        users[colour] += 1
    return chosen
