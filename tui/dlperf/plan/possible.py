"""What may be chosen beside a selection: the values that are offered, and why one of them has no plan. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from dlperf.catalog.axes import Configuration
from dlperf.messages import Message, message
from dlperf.plan.axes import declared_axes, parse_axes
from dlperf.plan.expand import combinations_of, planned_of, points_of
from dlperf.plan.model import Impossible, Selection

if TYPE_CHECKING:
    from dlperf.catalog.files.load import Catalog

_OF_COMBINATION = ("no_recipe", "wrong_device", "no_data")
"""Reasons that all configurations of one hardware, framework and case have."""
_SHARED = {
    "hardware_precision": attrgetter("hardware", "precision"),
    "recipe_precision": attrgetter("framework", "case", "precision"),
    "recipe_batch_size": attrgetter("framework", "case", "batch_size"),
    "recipe_scale": attrgetter("framework", "case", "scale"),
    "too_small": attrgetter("hardware", "scale"),
}
"""Other reason → the parts of a configuration with which all have it."""


@dataclass
class Possibilities:
    """Answers for values of every axis beside one selection, whose entries are in the catalogue."""

    selection: Selection
    catalog: Catalog
    _reasons: dict[Configuration, Message | None] = field(default_factory=dict)
    """Why a configuration is impossible; None where it is not."""
    _shared: set[tuple[str, object]] = field(default_factory=set)

    def offered(self, axis: str) -> list[str]:
        """Return the batch sizes, scales or further axes that recipes and cases offer, without repeats."""
        values: dict[str, None] = {}
        for _, framework, case in combinations_of(_with(self.selection, axis, ()), self.catalog):
            recipe = framework.recipe_for(case)
            if axis == "axes":
                declared = declared_axes(case, recipe).items()
                values |= dict.fromkeys(f"{name}={value}" for name, each in declared for value in each.values)
            else:
                values |= dict.fromkeys(map(str, getattr(recipe, axis, None) or getattr(case, axis)))
        return list(values)

    def why_not(self, axis: str, value: str) -> Message | None:
        """Return why there is no plan with one value in place of those selected on its axis; None where there is one.

        Args:
            axis: field of ``Selection``.
        """
        selection = self._with_value(axis, value)
        here = tuple(name for name, item in self.catalog.hardware.items() if not item.example)
        # where nothing goes together, machines are named, so that the reason is theirs
        for asked in (selection, replace(selection, hardware=selection.hardware or here)):
            first: Message | None = None
            for reason in self._reasons_of(asked):
                if reason is None:
                    return None
                first = first or reason
            if first:
                return first
        return message("not_combined")

    def _reasons_of(self, selection: Selection) -> Iterator[Message | None]:
        """Yield why configurations of a selection are impossible, one for all that share their reason with another."""
        known = False
        for combination in combinations_of(selection, self.catalog):
            for point in points_of(*combination, selection, self.catalog):
                if known and any((code, parts(point)) in self._shared for code, parts in _SHARED.items()):
                    continue
                reason = self._reason(point)
                yield reason
                known = True
                if reason and reason.code in _OF_COMBINATION:
                    break

    def _reason(self, point: Configuration) -> Message | None:
        if point not in self._reasons:
            found = planned_of(point, self.selection, self.catalog)
            reason = self._reasons[point] = found.reason if isinstance(found, Impossible) else None
            if reason and (parts := _SHARED.get(reason.code)):
                self._shared.add((reason.code, parts(point)))
        return self._reasons[point]

    def _with_value(self, axis: str, value: str) -> Selection:
        if axis == "batch_sizes":
            return replace(self.selection, batch_sizes=(int(value),))
        if axis != "axes":
            return _with(self.selection, axis, (value,))
        name = parse_axes((value,)).keys()
        others = (text for text in self.selection.axes if parse_axes((text,)).keys() != name)
        return replace(self.selection, axes=(*others, value))


def _with(selection: Selection, axis: str, values: tuple[str, ...]) -> Selection:
    changed: dict[str, Any] = {axis: values}
    return replace(selection, **changed)
