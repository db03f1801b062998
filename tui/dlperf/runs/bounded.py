"""Read JSON that anything may have written or damaged: bounded in nesting and numbers."""

from __future__ import annotations

import json
import re
from math import isinf
from typing import Any

_LARGE_NUMBER = re.compile(rb"[0-9](?<![^:,\[\s-].)(?:[0-9.]*[eE]\+?[0-9]{3}|[0-9]{307})", re.DOTALL)
"""Begins as a number of JSON does, not within a word; a class of characters first is what Python searches fastest."""
_SHAPE = bytes.maketrans(b"123456789E", b"000000000e")
_SHAPES = (b"0e000", b"0e+000", b"0" * 308)
"""What every large number has where all digits are zeros: found in a tenth of the time that the expression takes."""


def load_json(data: bytes) -> Any:
    """Return the value of a JSON document.

    Raises:
        ValueError: it is none, has unpaired surrogates or numbers that are no finite float, or is nested deeper than
            200 levels.
    """
    from pydantic_core import from_json  # `dlperf --help` reads no file

    value = from_json(data, allow_inf_nan=False)
    shape = data.translate(_SHAPE)
    if any(part in shape for part in _SHAPES) and _LARGE_NUMBER.search(data):
        json.loads(data, parse_float=_finite, parse_int=_finite)
    return value


def _finite(text: str) -> float:
    if isinf(value := float(text)):
        raise ValueError(f"{text[:20]} is too large a number")
    return value
