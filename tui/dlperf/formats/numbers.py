"""Numbers of a log, as texts → floats."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

ABSENT = b"nan"
"""Stands for what a record does not say; told by identity from a number that is printed as nan."""


def floats(texts: Sequence[bytes]) -> list[float]:
    """Numbers of texts; NaN where one is none. A column such as the epoch's often holds the same text throughout."""
    if texts[0] == texts[-1] and texts.count(texts[0]) == len(texts):
        return [_float(texts[0])] * len(texts)
    try:
        return list(map(float, map(int, texts)))  # half the time where all are whole numbers
    except (ValueError, OverflowError):
        pass
    try:
        return list(map(float, texts))
    except ValueError:
        return [_float(text) for text in texts]


def _float(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return nan
