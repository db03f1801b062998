"""What is marked on the Choose screen. Frozen: a mark gives a new choice."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from dlperf.plan import Selection

AXES = ("hardware", "frameworks", "cases", "precisions", "batch_sizes", "scales")
"""The lists of the screen; each is a field of ``Selection``."""

_OPTIONS = {
    "hardware": "--hardware",
    "frameworks": "--framework",
    "cases": "--case",
    "precisions": "--precision",
    "batch_sizes": "--batch-size",
    "scales": "--gpus",
}


@dataclass(frozen=True)
class Choice:
    """Marked values by axis, in the order in which they were marked; an axis without a mark means all that fits."""

    marked: dict[str, tuple[str, ...]] = field(default_factory=dict)
    repeats: int | None = None
    """None: as the protocol says."""
    protocol: str | None = None

    @property
    def empty(self) -> bool:
        return not any(self.marked.values())

    def values(self, axis: str) -> tuple[str, ...]:
        return self.marked.get(axis, ())

    def toggle(self, axis: str, value: str) -> Choice:
        """With a mark set or taken away."""
        values = self.values(axis)
        changed = tuple(item for item in values if item != value) if value in values else (*values, value)
        return replace(self, marked=self.marked | {axis: changed})

    def with_repeats(self, repeats: int | None) -> Choice:
        return replace(self, repeats=repeats)

    def selection(self) -> Selection:
        """The same as the planner reads it."""
        return Selection(
            hardware=self.values("hardware"),
            frameworks=self.values("frameworks"),
            cases=self.values("cases"),
            precisions=self.values("precisions"),
            batch_sizes=tuple(int(value) for value in self.values("batch_sizes")),
            scales=self.values("scales"),
            repeats=self.repeats,
            protocol=self.protocol,
        )


def choice_of(selection: Selection) -> Choice:
    """The choice that gives this selection."""
    marked = {axis: tuple(str(value) for value in getattr(selection, axis)) for axis in AXES}
    return Choice(marked, selection.repeats, selection.protocol)


def arguments_of(choice: Choice) -> list[str]:
    """The options of ``dlperf run`` and ``dlperf plan`` that say the same."""
    words: list[str] = []
    for axis, option in _OPTIONS.items():
        if choice.values(axis):
            words += [option, ",".join(choice.values(axis))]
    if choice.repeats is not None:
        words += ["--repeats", str(choice.repeats)]
    if choice.protocol is not None:
        words += ["--protocol", choice.protocol]
    return words


def command_line(words: Iterable[str]) -> str:
    """A command as a shell reads it."""
    return shlex.join(["dlperf", *words])
