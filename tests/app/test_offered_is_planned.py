"""Over the whole catalogue, Choose offers exactly what a plan accepts."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from dlperf.app.model.choice import AXES, Choice
from dlperf.app.model.options import options_of
from dlperf.catalog.files.load import load_catalog
from dlperf.errors import RequestError
from dlperf.plan import expand

CATALOG = load_catalog()


def is_planned(choice: Choice) -> bool:
    try:
        return bool(expand(choice.selection(), CATALOG).configurations)
    except RequestError:
        return False


def differences(choice: Choice, axes: tuple[str, ...]) -> list[str]:
    """Return the entries that are offered without a plan, and those with a plan that are not."""
    options = options_of(CATALOG, choice)
    return [
        f"{choice.marked} {axis} {option.value}: {option.reason or 'offered'}"
        for axis in axes
        for option in options[axis]
        if (option.reason == "") != is_planned(replace(choice, marked=choice.marked | {axis: (option.value,)}))
    ]


@pytest.mark.parametrize("framework", CATALOG.frameworks)
def test_what_is_offered_with_hardware_framework_and_case_is_what_a_plan_accepts(framework: str) -> None:
    made = {recipe.case for recipe in CATALOG.frameworks[framework].recipes}
    for hardware, case in product(CATALOG.hardware, CATALOG.cases):
        choice = Choice({"hardware": (hardware,), "frameworks": (framework,), "cases": (case,)})
        axes = ("precisions", "batch_sizes", "scales", "axes") if case in made else ("precisions",)
        assert differences(choice, axes) == []


def test_every_precision_that_a_recipe_has_can_be_chosen() -> None:
    offered = {option.value for option in options_of(CATALOG, Choice({}))["precisions"]}
    recipes = (recipe for framework in CATALOG.frameworks.values() for recipe in framework.recipes)
    assert {precision for recipe in recipes for precision in recipe.precisions} == offered


@pytest.mark.parametrize(
    ("axis", "value"),
    [
        ("hardware", "local"),
        ("hardware", "perf-v100-4nodes"),
        ("frameworks", "pytorch"),
        ("frameworks", "paddleclas"),
        ("cases", "lenet5"),
        ("cases", "llama3-8b"),
        ("precisions", "fp8"),
        ("scales", "4n8g"),
    ],
)
def test_what_is_offered_with_one_mark_is_what_a_plan_accepts(axis: str, value: str) -> None:
    assert differences(Choice({axis: (value,)}), AXES) == []
