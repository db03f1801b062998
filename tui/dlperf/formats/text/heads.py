"""Find words that stand before every line and name who wrote it, as programs and loggers of one's own put them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from dlperf.formats.text.prefixes import Kind, Wrapping, are_few, sampled

_WORDS = [re.compile(rb"(?P<writer>\S{1,128}(?:[ \t]{1,8}\S{1,128}){%d})(?=[ \t])" % more) for more in range(4)]
LEAST_SHARE = 0.9
"""Of lines with the heads that are repeated."""
_COUNTS = re.compile(
    rb"(?i)(?<![A-Za-z])(?:epochs?|steps?|iter|iters|iteration|it|eval|evaluation|val|valid|validation|test|dev)(?![A-Za-z])"
)
"""Words that begin a record, or say that it is none of training."""


def find_heads(lines: Sequence[bytes], outer: Wrapping | None) -> Iterator[Wrapping]:
    """Yield what may stand before every line inside other prefixes, one word first."""
    sample = sampled(lines)
    for expression in _WORDS:
        kind = Kind(expression)
        heads = Counter(match[1] for line in sample if (match := expression.match(line)))
        repeated = {head: lines for head, lines in heads.items() if lines > 1}
        if (
            not are_few(repeated, len(sample))
            or sum(repeated.values()) < LEAST_SHARE * len(sample)
            or any(map(_COUNTS.search, repeated))
        ):
            continue
        yield Wrapping((kind,), frozenset({kind})).inside(outer)
