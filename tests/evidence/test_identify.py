"""Which configuration a log of somebody else's is."""

from __future__ import annotations

import pytest

from dlperf.errors import RequestError
from dlperf.evidence.identify import catalog_id, identify
from dlperf.evidence.names import NameFacts, facts_of_name, parse_pattern
from dlperf.formats.samples import Metadata

NAME = facts_of_name("tensorflow/4n8g/rn50_b128_fp32_3.log")


def test_the_content_comes_before_the_name_and_a_contradiction_is_said():
    found = identify(Metadata(batch_size=64, gpus=32, precision="amp"), [NAME], NameFacts())
    configuration = found.configuration("v100")
    assert configuration is not None
    assert configuration.id == "v100_tensorflow_resnet50_amp_bs64_4n8g"
    assert found.notes == ("precision: log says amp, name says fp32", "batch size: log says 64, name says 128")


def test_what_is_given_comes_before_everything():
    given = NameFacts("vgg16", "my framework", "fp16", 32, 8, 1)
    found = identify(Metadata(batch_size=64, gpus=32), [NAME], given)
    assert found.configuration("v100").id == "v100_my-framework_vgg16_fp16_bs32_1n8g"


def test_the_batch_size_per_gpu_follows_from_the_global_one():
    found = identify(Metadata(global_batch_size=2048, gpus=8), [], NameFacts("m", "f", "fp32"))
    assert found.facts.batch_size == 256


def test_the_batch_size_per_gpu_follows_from_the_global_one_and_the_gpus_of_the_name():
    found = identify(Metadata(global_batch_size=4096), [facts_of_name("paddle_gpu32_fp32.txt")], NameFacts())
    assert found.facts.batch_size == 128


def test_a_log_that_counts_the_gpus_of_one_of_several_nodes_does_not_contradict_its_name():
    found = identify(Metadata(batch_size=128, gpus=8, precision="fp32"), [NAME], NameFacts())
    assert found.configuration("v100").id == "v100_tensorflow_resnet50_fp32_bs128_4n8g"
    assert found.notes == ()


def test_nodes_are_not_taken_from_who_is_wrong_about_gpus():
    found = identify(Metadata(batch_size=128, gpus=16), [NAME], NameFacts(), gpus_per_node=8)
    assert found.configuration("v100").id == "v100_tensorflow_resnet50_fp32_bs128_2n8g"
    assert found.notes == ("gpus: log says 16, name says 32",)


def test_a_model_that_the_log_spells_in_its_own_way_is_looked_for_in_the_path_first():
    path = facts_of_name("ResNet50V1.5/mxnet_gpu1_fp32_bs128.txt")
    assert identify(Metadata(model="resnetv15"), [path], NameFacts()).facts.model == "resnet50"
    assert identify(Metadata(model="resnetv15"), [], NameFacts()).facts.model == "resnetv15"
    assert identify(Metadata(model="bert-base-uncased"), [path], NameFacts()).facts.model == "bert-base"


def test_what_nothing_tells_is_missing_with_the_option_that_tells_it():
    found = identify(Metadata(), [NameFacts()], NameFacts(model="resnet50", gpus=32))
    assert found.configuration("v100") is None
    assert found.missing == (
        "framework (give --framework)",
        "precision (give --precision)",
        "batch size (give --batch-size)",
        "nodes (give --gpus-per-node)",
    )


def test_a_name_without_a_letter_that_an_id_can_hold_is_missing():
    found = identify(Metadata(), [], NameFacts("模型", "f", "fp32", 8, 1))
    assert found.configuration("v100") is None
    assert found.missing == ("case (give --case)",)


NODES = {
    "one GPU is one node": (1, None, 1, ()),
    "few GPUs are assumed to be of one node": (8, None, 1, ("nodes: 1 assumed for 8 GPUs",)),
    "an option tells the nodes of few GPUs": (8, 4, 2, ()),
    "the hardware tells the nodes": (32, 8, 4, ()),
    "a part of the hardware's node is one node": (4, 8, 1, ()),
    "many GPUs of unknown hardware": (32, None, None, ()),
    "GPUs that do not fill nodes": (12, 8, None, ()),
}


@pytest.mark.parametrize(("gpus", "per_node", "nodes", "notes"), NODES.values(), ids=NODES)
def test_nodes_are_told_from_gpus(gpus: int, per_node: int | None, nodes: int | None, notes: tuple[str, ...]):
    found = identify(Metadata(), [], NameFacts(gpus=gpus), per_node)
    assert (found.facts.nodes, found.notes) == (nodes, notes)


@pytest.mark.parametrize(
    ("gpus", "hardware", "nodes"),
    [
        (4, (1, 4), 1),
        (8, (4, 4), 1),
        (16, (1, 16), 1),
        (32, (4, 8), 4),
        (32, (1, 4), None),
        (32, (1, 16), None),
        (32, None, None),
    ],
)
def test_nodes_are_assumed_and_said_or_asked_for(gpus: int, hardware: tuple[int, int] | None, nodes: int | None):
    found = identify(Metadata(), [], NameFacts(gpus=gpus), hardware=hardware)
    said = (f"nodes: {nodes} assumed for {gpus} GPUs",) if nodes else ()
    assert (found.facts.nodes, found.notes) == (nodes, said)
    assert ("nodes (give --gpus-per-node)" in found.missing) == (nodes is None)


@pytest.mark.parametrize(
    ("text", "name"),
    [("NGC TensorFlow 1.15", "ngc-tensorflow-1.15"), ("../../etc", "etc"), ("a_b", "a-b"), ("Ünï", "n"), ("", "")],
)
def test_any_text_becomes_an_id_that_is_safe_in_a_path(text: str, name: str):
    assert catalog_id(text) == name


PATTERN = "{nodes}n{gpus}g/{model}_b{batch_size}_{precision}_{run}.log"


def test_a_pattern_reads_the_facts_from_the_end_of_a_path():
    facts = parse_pattern(PATTERN).facts("logs/4n8g/rn50_b128_fp32_3.log")
    assert facts == NameFacts("rn50", None, "fp32", 128, 32, 4, 3)


def test_a_pattern_takes_a_star_for_anything_within_one_name():
    pattern = parse_pattern("*/{framework}_gpu{gpus_total}_*.txt")
    assert pattern.facts("a/b/mxnet_gpu32_x.y.txt") == NameFacts(framework="mxnet", gpus=32)
    assert pattern.facts("a/b/mxnet_gpu32.txt") is None


def test_a_pattern_is_text_and_no_regular_expression():
    pattern = parse_pattern("a.b(+)/{model}.log")
    assert pattern.facts("a.b(+)/m.log") == NameFacts(model="m")
    assert pattern.facts("axb(+)/m.log") is None


@pytest.mark.parametrize("text", ["", "/", "{speed}.log", "{model}_{model}.log", "{}.log", "{model.__class__}.log"])
def test_a_pattern_that_means_nothing_is_refused(text: str):
    with pytest.raises(RequestError, match="--map"):
        parse_pattern(text)
