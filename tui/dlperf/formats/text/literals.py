"""Find which of many texts are in a block of bytes, in one pass."""

from __future__ import annotations

from functools import cache
from typing import Any

SMALL = 1 << 16
"""Bytes from which on one pass is faster than one for each text."""


def texts_in(data: bytes, texts: frozenset[bytes]) -> set[bytes]:
    """Return the texts that occur in some bytes."""
    if len(data) < SMALL:
        return {text for text in texts if text in data}
    finder, ordered = _finder(texts)
    return {text for text in texts if not text}.union(ordered[index] for index in finder.Match(data) or ())


@cache
def _finder(texts: frozenset[bytes]) -> tuple[Any, list[bytes]]:
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.literal = True
    finder, ordered = re2.Set.SearchSet(options), sorted(filter(None, texts))
    for text in ordered:
        finder.Add(text)
    finder.Compile()
    return finder, ordered
