"""Group items by what they have in common."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from dlperf.table.model import ConfigurationResult

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


def point(result: ConfigurationResult) -> tuple[object, ...]:
    """Return the key that identifies a configuration across campaigns."""
    subject = result.case, result.hardware, result.framework
    return *subject, result.precision, result.batch_size, result.nodes, result.gpus, result.axes, result.unit


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, tuple[Item, ...]]:
    """Group items by key, in order of first appearance."""
    found: defaultdict[Key, list[Item]] = defaultdict(list)
    for item in items:
        found[key(item)].append(item)
    return {name: tuple(members) for name, members in found.items()}


def distinct(items: Iterable[Key]) -> tuple[Key, ...]:
    """Remove repetitions, in order of first appearance."""
    return tuple(dict.fromkeys(items))
