"""Third-party results: what a machine can run of them, and what differs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dlperf.catalog.axes import Configuration, field_values
from dlperf.catalog.files.load import load_catalog
from dlperf.errors import RequestError
from dlperf.plan import expand
from dlperf.plan.model import Selection
from dlperf.plan.nearest import built_in_framework, can_be_planned, differing_axes, nearest
from dlperf.runs.paths import WorkspacePaths
from dlperf.substitution import names_in
from dlperf.table.load import load_results
from dlperf.table.model import ConfigurationResult, Status
from dlperf.verdicts.reproduction import beside_published, of_published

ROOT = Path(__file__).parents[2]
CATALOG = load_catalog(ROOT / "catalog")
FOUR = Selection(hardware=("h100-4x",), repeats=1)


def published(framework="torchtitan-2024-12", precision="fp8", gpus=8, **axes):
    point = Configuration(
        "8-x-h100", framework, "llama3-8b", precision, 2, 1, gpus, axes=tuple({"sequence_length": 8192, **axes}.items())
    )
    return ConfigurationResult(
        **field_values(point),
        campaign="published/torchtitan",
        unit="tokens/s",
        value=8000.0 * gpus,
        status=Status("published"),
    )


@pytest.mark.parametrize(
    ("name", "framework"),
    [
        ("torchtitan-2024-12", "torchtitan"),
        ("torchtitan", "torchtitan"),
        ("pytorch-2.1", "pytorch"),
        ("pytorch-compiled", "pytorch-compiled"),
        ("mxnet-w-o-clip", None),
        ("megatron-bridge-nemo-26.08", None),
    ],
)
def test_a_framework_of_a_report_is_one_of_the_catalogue_by_its_id_and_a_version(name, framework):
    assert built_in_framework(name, CATALOG.frameworks) == framework


def test_the_nearest_configuration_keeps_what_the_machine_can_do_and_lists_the_rest():
    row = published(compile="yes", global_batch=16, fsdp=8, virtual_pipeline=2, weights="fp32")
    found = nearest(row, FOUR, CATALOG)
    chosen = found.selection
    assert (chosen.precisions, chosen.scales, chosen.batch_sizes) == (("fp8",), ("1n4g",), (2,))
    assert chosen.axes == ("sequence_length=8192", "compile=yes")
    assert [str(each) for each in found.differences] == [
        "hardware: 8-x-h100 there, h100-4x here",
        "framework: torchtitan-2024-12 there, torchtitan here",
        "GPUs: 1n8g there, 1n4g here",
        "virtual_pipeline: 2 there, which cannot be set here",
    ]
    plan = expand(chosen, CATALOG)
    assert len(plan.configurations) == 1
    assert "checkpointing: not stated there, selective here" in map(str, differing_axes(row, plan))


def test_a_precision_that_is_not_there_becomes_the_nearest_one():
    assert nearest(published(precision="nvfp4"), FOUR, CATALOG).selection.precisions == ("fp8",)
    found = nearest(published("huggingface-5", precision="fp8"), FOUR, CATALOG)
    assert found.selection.precisions == ("bf16",)
    assert "precision: fp8 there, bf16 here" in map(str, found.differences)


def test_a_precision_that_an_axis_of_the_result_excludes_becomes_one_with_a_plan():
    found = nearest(published("pytorch-compiled", precision="fp8", tensor_parallel=2), FOUR, CATALOG).selection
    assert (found.precisions, found.axes) == (("bf16",), ("sequence_length=8192", "tensor_parallel=2"))
    assert expand(found, CATALOG).configurations


def test_what_follows_from_the_other_axes_or_is_one_where_it_is_not_stated_is_no_difference():
    row = published(context_parallel=2, fsdp=4, global_batch=64, gradient_accumulation=8, checkpointing="full")
    found = nearest(row, replace(FOUR, hardware=("h100-8x",)), CATALOG)
    texts = [str(each) for each in (*found.differences, *differing_axes(row, expand(found.selection, CATALOG)))]
    assert texts == [
        "hardware: 8-x-h100 there, h100-8x here",
        "framework: torchtitan-2024-12 there, torchtitan here",
        "compile: not stated there, yes here",
    ]


def test_a_value_that_cannot_be_set_is_listed_once():
    row = published(sequence_length=131072)
    found = nearest(row, FOUR, CATALOG)
    texts = map(str, (*found.differences, *differing_axes(row, expand(found.selection, CATALOG))))
    assert [text for text in texts if "sequence" in text] == ["sequence_length: 131072 there, 8192 here"]


@pytest.mark.parametrize(("precision", "half"), [("fp16-pure", "fp16"), ("amp+auto", "bf16")])
def test_half_precision_becomes_another_half_precision(precision, half):
    row = replace(published("jax", precision), case="resnet50", axes=())
    assert nearest(row, FOUR, CATALOG).selection.precisions == (half,)


def test_a_batch_size_that_is_not_stated_becomes_one_of_the_case():
    row = replace(published("pytorch"), case="resnet50", batch_size=0, axes=())
    found = nearest(row, FOUR, CATALOG)
    assert len(expand(found.selection, CATALOG).configurations) == 1
    assert f"batch_size: not stated there, {found.selection.batch_sizes[0]} here" in map(str, found.differences)


def test_the_verdict_is_the_share_of_the_throughput_of_a_gpu():
    point = Configuration("box", "torchtitan", "llama3-8b", "fp8", 2, 1, 4)
    again = ConfigurationResult(**field_values(point), campaign="mine", unit="tokens/s", value=29120.0)
    assert str(of_published(published(), again)) == "91 % of the published throughput of a GPU (published/torchtitan)"


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (
            published("megatron-bridge-nemo-26.08"),
            r"no framework of the catalogue is called megatron-bridge-nemo-26.08: name one that runs llama3-8b by "
            r"--framework \(megatron-core, ",
        ),
        (replace(published("megatron-bridge-nemo-26.08"), case="deepseek-v3"), "has no case 'deepseek-v3'"),
        (published(task="lora"), "the result is of lora, and no recipe of the catalogue trains so: reproduce "),
        (published(gpus=8), None),
    ],
)
def test_what_cannot_be_planned_is_said_in_one_line(row, why):
    if why is None:
        with pytest.raises(RequestError, match="no machine '8-x-h100' is in the catalogue: name yours by --hardware"):
            nearest(row, Selection(), CATALOG)
    else:
        with pytest.raises(RequestError, match=why):
            nearest(row, FOUR, CATALOG)


def test_a_case_without_a_recipe_leaves_no_framework_to_be_named() -> None:
    with pytest.raises(RequestError, match="has a recipe for llama3-8b: add one to catalog/frameworks/"):
        nearest(published(), FOUR, replace(CATALOG, frameworks={}))


def test_every_third_party_result_that_the_site_reproduces_plans_and_the_others_say_why_not():
    """On a machine that has the data sets."""
    words = (name for framework in CATALOG.frameworks.values() for name in names_in(framework.model_dump_json()))
    data = {name.removeprefix("data."): "/data" for name in words if name.startswith("data.")}
    machine = CATALOG.hardware["h100-4x"].model_copy(update={"data": data})
    catalog = replace(CATALOG, hardware={**CATALOG.hardware, "h100-4x": machine})
    rows = [row for row in load_results(WorkspacePaths.find(ROOT)) if row.is_third_party]
    plans = 0
    for row in rows:
        if can_be_planned(row, catalog.frameworks, catalog.cases):
            plan = expand(nearest(row, FOUR, catalog).selection, catalog)
            assert len(plan.configurations) == 1, [str(item.reason) for item in plan.impossible]
            plans += 1
            continue
        with pytest.raises(RequestError) as caught:
            nearest(row, FOUR, catalog)
        assert "\n" not in str(caught.value)
    assert len(rows) > 800
    assert plans > 200


def test_a_result_is_held_against_the_third_party_result_that_is_most_like_it():
    point = Configuration(
        "box", "torchtitan", "llama3-8b", "bf16", 2, 1, 4, axes=(("compile", "yes"), ("tensor_parallel", 1))
    )
    mine = ConfigurationResult(**field_values(point), campaign="mine", unit="tokens/s", value=24000.0)
    rows = [mine, published(compile="no"), published(precision="bf16", compile="yes"), published("megatron", "bf16")]
    found = beside_published(mine, "h100-sxm", rows)
    assert found.published == rows[2]
    assert str(found.verdict) == "75 % of the published throughput of a GPU (published/torchtitan)"
    assert [str(each) for each in found.differences] == [
        "hardware: 8-x-h100 there, box here",
        "framework: torchtitan-2024-12 there, torchtitan here",
        "GPUs: 1n8g there, 1n4g here",
        "sequence_length: 8192 there, not stated here",
    ]
    assert beside_published(mine, "h100-sxm", [mine]).published is None
    shared = replace(rows[2], batch_size=0)
    assert "batch_size: not stated there, 2 here" in map(str, beside_published(mine, "", [shared]).differences)


COMPILED = ("yes", "XLA", "step, by XLA, which times kernels", "torch.compile", "model and loss by torch.compile")


@pytest.mark.parametrize("stated", COMPILED)
def test_a_result_counts_as_what_its_program_does_and_is_not_held_against_another_training(stated: str):
    point = Configuration("box", "maxtext", "llama3-8b", "bf16", 1, 1, 4, axes=(("sequence_length", 8192),))
    mine = ConfigurationResult(
        **field_values(point), campaign="mine", unit="tokens/s", value=24000.0, options={"compile": stated}
    )
    eager, compiled = (published(precision="bf16", compile=said, global_batch=128) for said in ("no", "yes"))
    lora = published("maxtext", "bf16", compile="yes", task="lora")
    found = beside_published(mine, "h100-sxm", [mine, eager, compiled, lora])
    assert found.published == compiled
    assert "global_batch: 128 there, 4 here" in map(str, found.differences)
    assert not any("compile" in str(each) for each in found.differences)
    assert beside_published(mine, "h100-sxm", [lora]).published is None


def test_a_result_states_the_data_types_of_its_weights():
    point = Configuration("box", "torchtitan", "llama3-8b", "fp8", 1, 1, 4)
    mine = ConfigurationResult(
        **field_values(point), campaign="mine", unit="tokens/s", value=24000.0, numerics={"weights": "fp32"}
    )
    found = beside_published(mine, "h100-sxm", [published(precision="fp8", weights="fp32")])
    assert "weights" not in " ".join(map(str, found.differences))
