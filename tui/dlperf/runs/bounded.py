"""Read JSON that anything may have written or damaged: bounded in nesting and numbers."""

import json
import re
from math import isinf
from typing import Any

_SHAPE = bytes.maketrans(b"123456789E", b"000000000e")
"""Makes a zero of every digit, so that few texts are searched in place of an expression at each digit."""
_DIGITS = 308
"""Of a number that a float may not hold; exponents that it may not hold have three."""
_EXPONENT = re.compile(rb"0e\+?000")
_BEFORE = b":,[- \t\r\n"
"""What stands before a number, and not within a word."""


def load_json(data: bytes) -> Any:
    """Return the value of a JSON document.

    Raises:
        ValueError: it is none, has unpaired surrogates or numbers that are no finite float, or is nested deeper than
            200 levels.
    """
    from pydantic_core import from_json  # `dlperf --help` reads no file

    value = from_json(data, allow_inf_nan=False)
    if _may_have_large_number(data):
        json.loads(data, parse_float=_finite, parse_int=_finite)
    return value


def _may_have_large_number(data: bytes) -> bool:
    shape = data.translate(_SHAPE)
    return b"0" * _DIGITS in shape or any(_is_of_number(shape, found.start()) for found in _EXPONENT.finditer(shape))


def _is_of_number(shape: bytes, place: int) -> bool:
    """Whether digits begin a value, seen from the last one; the other search finds those of longer numbers."""
    before = shape[max(0, place - 2 * _DIGITS) : place].rstrip(b"0.")
    return before[-1:] in _BEFORE


def _finite(text: str) -> float:
    if isinf(value := float(text)):
        raise ValueError(f"{text[:20]} is too large a number")
    return value
