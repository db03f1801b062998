"""What is offered beside any marks is what a plan of them accepts, and the rest has a reason that the plan gives."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dlperf.catalog.files.load import load_catalog
from dlperf.errors import RequestError
from dlperf.plan import Selection, expand
from dlperf.plan.possible import Possibilities

CATALOG = load_catalog()
VALUES: dict[str, Collection[Any]] = {
    "hardware": [*CATALOG.hardware],
    "frameworks": [*CATALOG.frameworks],
    "cases": [*CATALOG.cases],
    "precisions": [*CATALOG.precisions],
    "batch_sizes": (1, 8, 64, 128, 256),
    "scales": ("1n1g", "1n2g", "1n8g", "2n1g", "2n8g", "4n8g"),
    "axes": ("sequence_length=2048", "compile=regional", "checkpointing=full", "tensor_parallel=2"),
}


@st.composite
def selections(draw: st.DrawFn) -> Selection:
    axes = draw(st.sets(st.sampled_from([*VALUES]), max_size=4))
    return Selection(
        **{
            axis: tuple(draw(st.lists(st.sampled_from([*VALUES[axis]]), min_size=1, max_size=2, unique=True)))
            for axis in axes
        }
    )


@settings(max_examples=60, deadline=None)
@given(selections(), st.sampled_from([*VALUES]), st.data())
def test_a_value_beside_any_marks_has_a_plan_or_a_reason_of_the_plan(
    selection: Selection, axis: str, data: st.DataObject
) -> None:
    value = data.draw(st.sampled_from([*VALUES[axis]]))
    reason = Possibilities(selection, CATALOG).why_not(axis, str(value))
    others: tuple[str, ...] = ()
    if axis == "axes":
        others = tuple(text for text in selection.axes if text.partition("=")[0] != value.partition("=")[0])
    try:
        plan = expand(replace(selection, **{axis: (*others, value)}), CATALOG)
    except RequestError:
        assert reason is not None
        return
    assert (reason is None) == bool(plan.configurations)
    assert reason is None or str(reason) in {str(item.reason) for item in plan.impossible}
