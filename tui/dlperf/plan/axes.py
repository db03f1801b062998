"""The axes that case and recipe declare, and the values of them that a selection takes."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from dlperf.errors import RequestError

if TYPE_CHECKING:
    from dlperf.catalog.axes import AxisValue
    from dlperf.catalog.model import Axis, Case, Recipe
    from dlperf.plan.model import Selection

OPTIONS = {
    "hardware": "--hardware",
    "frameworks": "--framework",
    "cases": "--case",
    "precisions": "--precision",
    "batch_sizes": "--batch-size",
    "scales": "--gpus",
    "nodes": "--node",
    "axes": "--set",
}
"""Field of ``Selection`` → option of ``dlperf run`` and ``dlperf plan``."""
ALL = "all"
"""Stands for every value of an axis, also where it has a default."""


def declared_axes(case: Case, recipe: Recipe | None) -> dict[str, Axis]:
    """Return the axes of a recipe: those of its case, and its own, which take precedence."""
    return case.axes | (recipe.axes if recipe else {})


def parse_axes(texts: Collection[str]) -> dict[str, list[str]]:
    """Return the values by axis of texts such as ``sequence_length=8192``.

    Raises:
        RequestError: a text is not of this form.
    """
    wanted: dict[str, list[str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise RequestError(f"--set {text!r}: write axis=value, such as sequence_length=8192")
        wanted.setdefault(name, []).append(value)
    return wanted


def options_of_selection(selection: Selection) -> list[str]:
    """Return the options of ``dlperf run`` that select this."""
    words: list[str] = []
    for name, option in OPTIONS.items():
        values: Sequence[object] = getattr(selection, name)
        if name == "axes":
            values = [f"{axis}={','.join(texts)}" for axis, texts in parse_axes(selection.axes).items()]
            words += [word for value in values for word in (option, str(value))]
        elif values:
            words += [option, ",".join(map(str, values))]
    words += ["--repeats", str(selection.repeats)] if selection.repeats else []
    words += ["--protocol", selection.protocol] if selection.protocol else []
    words += ["--first-seed", str(selection.first_seed)] if selection.first_seed != 1 else []
    return words


def run_command(selection: Selection) -> str:
    """Return the ``dlperf run`` command with the selection from which a campaign was planned."""
    return shlex.join(["dlperf", "run", *options_of_selection(selection)])


def axis_points(
    axes: Mapping[str, Axis], wanted: Mapping[str, list[str]]
) -> Iterator[tuple[tuple[str, AxisValue], ...]]:
    """Yield the combinations of values; an axis that is asked for and not declared keeps the text of its value."""
    names = (*axes, *(name for name in wanted if name not in axes))
    for values in product(*(_values(axes.get(name), wanted.get(name)) for name in names)):
        yield tuple(zip(names, values, strict=True))


def _values(axis: Axis | None, wanted: list[str] | None) -> tuple[AxisValue, ...]:
    if axis is None:
        return tuple(wanted or ())
    if wanted is None and axis.default is not None:
        return (axis.default,)
    if wanted is None or wanted == [ALL]:
        return axis.values
    known = {str(value): value for value in axis.values}
    return tuple(known.get(text, text) for text in wanted)


def in_step(case: Case, batch_size: int, axes: Mapping[str, AxisValue], asked: Collection[str]) -> bool:
    """Whether the values of each zipped group have one position in their lists.

    A group is free where all of it is asked for, and where the batch size is and the others keep their defaults.
    """
    kept = {name for name, axis in case.axes.items() if axis.default is not None and "batch_size" in asked}
    values = {"batch_size": batch_size, **axes}
    lists = {"batch_size": case.batch_sizes, **{name: axis.values for name, axis in case.axes.items()}}
    return all(set(group) <= {*asked, *kept} or len(_positions(group, values, lists)) < 2 for group in case.zip)


def _positions(
    group: Collection[str], values: Mapping[str, AxisValue], lists: Mapping[str, tuple[AxisValue, ...]]
) -> set[int]:
    return {lists[name].index(values[name]) for name in group if values[name] in lists[name]}
