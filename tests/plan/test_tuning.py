"""Which configurations a search for the fastest one proposes."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlperf.catalog.files.load import Catalog, load_catalog
from dlperf.plan.expand import expand
from dlperf.plan.model import Selection
from dlperf.plan.tuning import Point, Search, SearchSpace, search_space

GPUS = """\
id: box
title: Box
accelerator: h100-sxm
gpus_per_node: 4
nodes: [{name: box, host: box}]
"""


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    folder: Path = tmp_path_factory.mktemp("catalog")
    (folder / "hardware").mkdir()
    (folder / "hardware" / "box.yaml").write_text(GPUS)
    return load_catalog(folder)


def speed(space: SearchSpace, point: Point) -> float:
    """A made-up speed with one best point: larger batches, no checkpointing, compiled."""
    values = space.named(point)
    kept = {"none": 1.0, "selective": 0.9, "full": 0.7}[str(values["checkpointing"])]
    split = float(values["tensor_parallel"]) * float(values["context_parallel"])
    return float(values["batch_size"]) ** 0.1 * kept * (1.3 if values["compile"] == "yes" else 1.0) / split**0.2


def trials_until_best(space: SearchSpace, seed: int) -> int:
    search, best = Search(space, seed), max(speed(space, point) for point in space.points)
    for count in range(1, 1 + len(space.points)):
        point = search.propose()
        assert point is not None
        if speed(space, point) == best:
            return count
        search.learn(speed(space, point))
    raise AssertionError("the best point was never proposed")


def space_of(catalog: Catalog, gpus: str) -> SearchSpace:
    wanted = Selection(("box",), ("torchtitan",), ("llama3-8b",), ("bf16-pure",), scales=(gpus,))
    return search_space(wanted, catalog)


def test_what_changes_the_training_keeps_its_default(box: Catalog) -> None:
    space = space_of(box, "1n4g")
    assert list(space.choices) == ["batch_size", "checkpointing", "compile", "tensor_parallel", "context_parallel"]
    first = space.points[space.default].configuration
    assert space.named(space.default).items() <= {**dict(first.axes), "batch_size": first.batch_size}.items()
    assert {dict(item.configuration.axes)["sequence_length"] for item in space.points.values()} == {8192}
    assert {item.repeats for item in space.points.values()} == {1}


def test_only_what_can_run_is_proposed(box: Catalog) -> None:
    assert list(space_of(box, "1n1g").choices) == ["batch_size", "checkpointing", "compile"]
    divided = {tuple(space_of(box, "1n4g").named(point).values())[-2:] for point in space_of(box, "1n4g").points}
    assert divided == {(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (4, 1)}, "four GPUs share the parts evenly"


@pytest.mark.parametrize(
    ("framework", "case", "gpus", "axes", "reason"),
    [
        (
            "torchtitan",
            "llama3-8b",
            "1n1g",
            ("tensor_parallel=2",),
            "tensor_parallel=2: a multiple of 2 GPUs is needed, not 1",
        ),
        (
            *("torchtitan", "llama3-8b", "1n4g", ("tensor_parallel=4", "context_parallel=2")),
            "tensor_parallel=4, context_parallel=2: a multiple of 8 GPUs is needed, not 4",
        ),
        (
            *("torchtitan", "qwen3-30b-a3b-4l", "1n4g", ("expert_parallel=8",)),
            "expert_parallel=8: a multiple of 8 GPUs is needed, not 4",
        ),
    ],
)
def test_parts_that_the_gpus_cannot_share_evenly_have_no_plan(
    box: Catalog, framework: str, case: str, gpus: str, axes: tuple[str, ...], reason: str
) -> None:
    wanted = Selection(("box",), (framework,), (case,), ("bf16",), scales=(gpus,), axes=axes)
    plan = expand(wanted, box)
    assert not plan.configurations
    assert {str(item.reason) for item in plan.impossible} == {reason}


def test_every_point_is_proposed_once(box: Catalog) -> None:
    space = space_of(box, "1n1g")
    search = Search(space)
    proposed = []
    while (point := search.propose()) is not None:
        proposed.append(point)
        search.learn(1.0)
    assert proposed[0] == space.default
    assert sorted(map(str, proposed)) == sorted(map(str, space.points))


def test_what_needs_no_less_memory_is_passed_over(box: Catalog) -> None:
    space = space_of(box, "1n1g")
    search = Search(space)
    proposed = set()
    while (point := search.propose()) is not None:
        proposed.add(point)
        too_large = space.named(point)["batch_size"] == min(space.choices["batch_size"])
        search.learn(None if too_large else 1.0, out_of_memory=too_large)
    for point in set(space.points) - proposed:
        assert space.named(point)["batch_size"] > min(space.choices["batch_size"])
    assert len(proposed) < len(space.points)


def test_the_search_learns_from_what_it_has_tried(box: Catalog) -> None:
    space = space_of(box, "1n4g")
    counts = sorted(trials_until_best(space, seed) for seed in range(9))
    assert counts[4] < len(space.points) / 4, "by drawing points it is half of them"
