"""A program prints all its iterations alike: the words between their values are learned from one of them.

A line that differs in nothing but the values of its metrics is then read by one expression instead of one for each
metric. It gives the same: every ``name : value`` of it stands where the learned line had that name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

LAYOUT_LIMIT = 20
"""Layouts learned of one log: learning takes much longer than reading a line."""

_SEPARATOR = b" : "
_ANY_VALUE = rb"[^ :]*"


class Layouts:
    """The expressions for the layouts seen in one log."""

    def __init__(self, head: bytes) -> None:
        """``head``: the expression for what stands before the metrics."""
        self._head = head
        self._known: dict[bytes, re.Pattern[bytes]] = {}

    def learn(self, line: bytes, data: bytes, values: Mapping[bytes, bytes]) -> re.Pattern[bytes] | None:
        """The expression for lines like this one, as a whole; None where there is none to rely on.

        Args:
            line: a line.
            data: its metrics, ``name : value words name : value …``, with a space before the first name.
            values: metrics to capture → the expression for the value, which holds no space.
        """
        words = _layout(data, values)
        if words is None:
            return None
        if words not in self._known and len(self._known) < LAYOUT_LIMIT:
            self._known[words] = re.compile(self._head + words)
        pattern = self._known.get(words)
        return pattern if pattern is not None and pattern.fullmatch(line) else None


def _layout(data: bytes, values: Mapping[bytes, bytes]) -> bytes | None:
    """None where a value could be taken for a name, or a name stands there twice."""
    first, *rest = data.split(_SEPARATOR)
    names = [text.rpartition(b" ")[2] for text in (first, *rest[:-1])]
    cells = [text.partition(b" ") for text in rest]
    if not all(space for _, space, _ in cells[:-1]) or len(set(names)) < len(names):
        return None
    tail = [
        _SEPARATOR + values.get(name, _ANY_VALUE) + re.escape(space + words)
        for name, (_, space, words) in zip(names, cells, strict=True)
    ]
    return re.escape(first) + b"".join(tail)
