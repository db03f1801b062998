"""What a stored record says otherwise than the one that is derived again, and what only the latter says."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dlperf.runs.bounded import load_json
from dlperf.runs.store import record_bytes

KEYS = ("id", "code")
"""By which the items of a list are told apart, whatever their order."""
DECISIVE = frozenset({"value", "unit", "state", "log_sha256"})
"""Fields that a log always gave: a record without them is another result, not an older one."""


@dataclass(frozen=True)
class Differing:
    """A place in a record, such as ``metrics.mfu.value``, and what stands there."""

    what: str
    stored: Any
    recomputed: Any
    others: int = 0
    """Differences below the same field, which are not listed."""


@dataclass(frozen=True)
class _Leaf:
    place: tuple[str, ...]
    stored: Any
    recomputed: Any
    is_added: bool


def compare(stored: Any, recomputed: Any, content: bytes | None = None) -> tuple[list[Differing], list[str]]:
    """Return the first difference of each field, and the fields in which only the recomputed record says something.

    Args:
        stored: dataclass of a file.
        content: of the file, if it may lack fields, which have their default in ``stored``.
    """
    if stored == recomputed:
        return [], []
    before, after = (json.loads(record_bytes(record)) for record in (stored, recomputed))
    written = after if content is None else load_json(content)
    differing, added = [], []
    for name in after.keys() - {"schema"}:
        leaves = list(_leaves((name,), before[name], after[name]))
        changed = [leaf for leaf in leaves if not leaf.is_added and name in written]
        if changed:
            first = changed[0]
            differing.append(Differing(".".join(first.place), first.stored, first.recomputed, len(changed) - 1))
        elif leaves:
            added.append(name)
    order = list(after)
    return sorted(differing, key=lambda item: order.index(item.what.partition(".")[0])), sorted(added, key=order.index)


def _leaves(place: tuple[str, ...], stored: Any, recomputed: Any) -> Iterator[_Leaf]:
    stored, recomputed = _by_key(stored), _by_key(recomputed)
    if stored == recomputed:
        return
    if (stored is None or stored in ("", [], {})) and place[0] not in DECISIVE:
        yield _Leaf(place, stored, recomputed, is_added=not _is_error(recomputed))
    elif isinstance(stored, dict) and isinstance(recomputed, dict):
        for name in dict.fromkeys((*stored, *recomputed)):
            yield from _leaves((*place, name), stored.get(name), recomputed.get(name))
    elif isinstance(stored, list) and isinstance(recomputed, list) and len(stored) == len(recomputed):
        for number, (one, other) in enumerate(zip(stored, recomputed, strict=True)):
            yield from _leaves((*place, str(number)), one, other)
    else:
        yield _Leaf(place, stored, recomputed, is_added=False)


def _is_error(value: Any) -> bool:
    """Tell whether a finding keeps a value out of medians."""
    return isinstance(value, dict) and value.get("severity") == "error"


def _by_key(value: Any) -> Any:
    """Return a list of things with names as a mapping."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return value
    named = {_name(item): item for item in value}
    return named if None not in named and len(named) == len(value) else value


def _name(item: dict[str, Any]) -> str | None:
    known = item.get("message", item)
    return next((known[key] for key in KEYS if key in known), None) if isinstance(known, dict) else None
