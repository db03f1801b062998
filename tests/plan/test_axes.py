"""Axes that a case or a recipe declares: their values, their names in commands, what goes together and what cannot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dlperf.catalog.files.load import Catalog, load_catalog
from dlperf.errors import RequestError
from dlperf.plan import Plan, Selection, expand

ENTRIES = {
    "hardware.yaml": "- id: box\n  title: Box\n  gpus_per_node: 2\n  nodes: [{name: a}]\n",
    "cases.yaml": """\
- id: tokens
  title: Tokens
  model: Small
  dataset: none
  unit: tokens/s
  precisions: [fp32]
  batch_sizes: [8, 2]
  scales: [1n1g]
  axes: {sequence_length: [2048, 8192], attention: {values: [flash, math], default: flash}}
  zip: [[sequence_length, batch_size]]
  constraints:
    - when: {axes: {attention: [math], sequence_length: [8192]}}
      impossible: scores of 8192 tokens do not fit
""",
    "frameworks.yaml": """\
- id: mine
  title: Mine
  version: "1"
  format: dlperf
  devices: [cpu]
  recipes:
    - case: tokens
      precisions: [fp32]
      axes: {layers: {values: [1, 2], default: 1}}
      command: [train.py, --length, "{sequence_length}", --attention, "{attention}", --layers, "{layers}"]
      variants:
        - when: {axes: {layers: [2]}}
          env: {LAYERS: "{layers}"}
""",
}


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    folder: Path = tmp_path_factory.mktemp("catalog")
    for name, text in ENTRIES.items():
        (folder / name).write_text(text)
    return load_catalog(folder)


def planned(catalog: Catalog, *axes: str, batch_sizes: tuple[int, ...] = ()) -> Plan:
    return expand(Selection(("box",), ("mine",), ("tokens",), batch_sizes=batch_sizes, axes=axes), catalog)


def ids(plan: Plan) -> list[str]:
    return [item.configuration.id.removeprefix("box_mine_tokens_fp32_") for item in plan.configurations]


def test_a_list_runs_every_value_and_a_default_runs_alone(mine: Catalog):
    assert ids(planned(mine)) == [
        "bs8_1n1g_sequence-length-2048_attention-flash_layers-1",
        "bs2_1n1g_sequence-length-8192_attention-flash_layers-1",
    ]


def test_values_that_are_asked_for_replace_the_default(mine: Catalog):
    assert ids(planned(mine, "layers=2", "sequence_length=8192")) == [
        "bs2_1n1g_sequence-length-8192_attention-flash_layers-2"
    ]
    assert len(planned(mine, "layers=all", "sequence_length=8192").configurations) == 2


def test_zipped_values_are_free_where_each_of_them_is_asked_for(mine: Catalog):
    assert ids(planned(mine, "sequence_length=2048", batch_sizes=(2,))) == [
        "bs2_1n1g_sequence-length-2048_attention-flash_layers-1"
    ]


def test_a_batch_size_alone_goes_with_the_default_of_the_axis_that_is_zipped_with_it(mine: Catalog):
    case = mine.cases["tokens"]
    lengths = case.axes["sequence_length"].model_copy(update={"default": 2048})
    usual = case.model_copy(update={"axes": {**case.axes, "sequence_length": lengths}})
    catalog = replace(mine, cases={**mine.cases, "tokens": usual})
    assert ids(planned(catalog, batch_sizes=(2,))) == ["bs2_1n1g_sequence-length-2048_attention-flash_layers-1"]
    assert ids(planned(catalog, "sequence_length=8192")) == ["bs2_1n1g_sequence-length-8192_attention-flash_layers-1"]


def test_an_axis_is_a_placeholder_in_commands_and_a_condition_of_variants(mine: Catalog):
    (item,) = planned(mine, "layers=2", "sequence_length=8192").configurations
    assert item.launch.command == ("train.py", "--length", "8192", "--attention", "flash", "--layers", "2")
    assert item.launch.env["LAYERS"] == "2"


def test_a_constraint_keeps_its_reason(mine: Catalog):
    (item,) = planned(mine, "attention=math").impossible
    assert str(item.reason) == "scores of 8192 tokens do not fit"


def test_a_value_that_is_not_offered_is_impossible_and_says_what_is(mine: Catalog):
    (item,) = planned(mine, "sequence_length=4096", batch_sizes=(2,)).impossible
    assert str(item.reason) == "mine offers tokens with sequence_length 2048, 8192, not with 4096"


def test_an_unknown_axis_is_refused_with_the_known_ones(mine: Catalog):
    with pytest.raises(RequestError, match="unknown axis 'sequence': did you mean sequence_length"):
        planned(mine, "sequence=1")


def test_a_case_without_the_axis_is_left_out_unless_it_is_named(mine: Catalog):
    selection = Selection(("box",), ("mine", "numpy"), axes=("layers=1",))
    assert {item.configuration.case for item in expand(selection, mine).configurations} == {"tokens"}
    named = Selection(("box",), ("numpy",), ("lenet5",), batch_sizes=(64,), axes=("layers=1",))
    (item,) = expand(named, mine).impossible
    assert str(item.reason) == "numpy on lenet5 has no axis layers (it has none)"


@pytest.mark.parametrize(
    ("framework", "words"),
    [
        ("torchtitan", ("--training.local-batch-size 2", "--training.global-batch-size 4")),
        ("megatron-core", ("--micro-batch-size 2", "--global-batch-size 4")),
        ("maxtext", ("per_device_batch_size=1 ",)),
    ],
)
def test_gpus_that_hold_one_model_together_train_one_batch(framework: str, words: tuple[str, ...]):
    """Else a stack adds up gradients of batches, or trains a larger one, while the plan says that it does not."""
    catalog = load_catalog(Path(__file__).parents[2] / "catalog")
    chosen = Selection(
        ("h100-4x",), (framework,), ("llama3-8b",), ("bf16",), (2,), ("1n4g",), axes=("tensor_parallel=2",)
    )
    (found,) = expand(chosen, catalog).configurations
    command = " ".join(found.launch.command)
    assert [word for word in words if word not in command] == []
