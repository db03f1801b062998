"""Texts that lines hold: those of an expression, and which of many are in a block of bytes."""

import re
from functools import cache
from typing import Any

from dlperf.catalog.linear import split

_LITERAL = re.compile(
    r"\^?(?:\\b| [*+])*(?P<text>(?:[A-Za-z0-9 _:;,=<>@#%&'\"/!~`-]|\\[^A-Za-z0-9])*)(?P<next>.?)", re.DOTALL
)
_QUANTIFIERS = ("*", "?", "{")
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


def leading_text(pattern: str) -> str:
    """Return text that every match of a regular expression holds, "" where none is obvious.

    >>> leading_text(r"total step: (?P<step>\\d+)")
    'total step: '
    """
    pieces, *alternatives = split(pattern)
    found = [] if alternatives else [_literal(text) for _, text in pieces]
    return next(filter(None, found), "")


def _literal(pattern: str) -> str:
    """Return the text that an expression begins with."""
    match = _LITERAL.match(pattern)
    if match is None:
        return ""
    text = match["text"]
    if match["next"] in _QUANTIFIERS:
        text = text[:-2] if text[-2:-1] == "\\" else text[:-1]
    return re.sub(r"\\(.)", r"\1", text)
