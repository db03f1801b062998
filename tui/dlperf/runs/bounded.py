"""Read documents that anything may have written or damaged: bounded in nesting and numbers."""

from __future__ import annotations

import json
import re
from math import isinf
from typing import Any

MAX_DEPTH = 64
"""Of YAML: libyaml recurses on the C stack."""
_LARGE_NUMBER = re.compile(rb"[0-9](?<![^:,\[\s-].)(?:[0-9.]*[eE]\+?[0-9]{3}|[0-9]{307})", re.DOTALL)
"""Begins as a number of JSON does, not within a word; a class of characters first is what Python searches fastest."""


def load_json(data: bytes) -> Any:
    """Return the value of a JSON document.

    Raises:
        ValueError: it is none, has unpaired surrogates or numbers that are no finite float, or is nested deeper than
            200 levels.
    """
    from pydantic_core import from_json  # `dlperf --help` reads no file

    value = from_json(data, allow_inf_nan=False)
    if _LARGE_NUMBER.search(data):
        json.loads(data, parse_float=_finite, parse_int=_finite)
    return value


def _finite(text: str) -> float:
    if isinf(value := float(text)):
        raise ValueError(f"{text[:20]} is too large a number")
    return value


def load_yaml(data: bytes) -> Any:
    """Return the plain data of a YAML document without aliases, which a few of could expand to gigabytes.

    Raises:
        ValueError: it is none, has aliases or tags, or is nested too deeply.
    """
    import yaml  # the first picture of the terminal UI reads none

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        refuse_expanding(data, loader)
        return yaml.load(data, Loader=loader)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def refuse_expanding(data: bytes, loader: Any) -> None:
    """Raise ValueError for a YAML document with aliases, tags or deep nesting, before anything is built from it."""
    import yaml

    depth = 0
    for event in yaml.parse(data, Loader=loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None):
            raise ValueError("aliases and tags are not allowed")
