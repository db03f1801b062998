"""Arithmetic and parameters of a case, as catalogue and authors state them, are those of its programs."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from interpreters import WORKLOADS, interpreter, run

from dlperf.catalog.files.load import load_catalog

CATALOG = load_catalog(None)
CASES = CATALOG.cases
OURS = {recipe.case for recipe in CATALOG.frameworks["pytorch-compiled"].recipes}
PARAMETERS = {
    **{"resnet50": 25_557_032, "vgg16": 138_357_544, "bert-base": 110_106_428 + 6 * 769},
    **{name: case.language_model.parameters for name, case in CASES.items() if case.language_model and name in OURS},
}
"""Of torchvision's models, of Hugging Face's BertForPreTraining with six words more, of the catalogue."""
SCRIPTS = {
    "torch": ["count_flops.py"],
    "jax": ["count_parameters.py", "jax"],
    "tensorflow": ["count_parameters.py", "tensorflow"],
}


@cache
def counts(framework: str) -> dict[str, Any]:
    script, *words = SCRIPTS[framework]
    done = run(interpreter(framework), Path(__file__).with_name(script), *words, PYTHONPATH=str(WORKLOADS))
    assert done.returncode == 0, done.stderr
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome


@pytest.mark.parametrize("case", ["resnet50", "vgg16", "arcface", "bert-base"])
def test_training_is_three_forward_passes(case: str):
    """The convention of the catalogue; the pass itself does not need the gradient of the images, 1 % in ResNet-50."""
    stated, count = CASES[case].gflops_per_sample, counts("torch")[case]
    assert stated == pytest.approx(3 * count["forward"] / 1e9, rel=0.002)
    assert 0.98 * 3 < count["training"] / count["forward"] <= 3


@pytest.mark.parametrize("case", PARAMETERS)
def test_pytorch_builds_the_models_of_the_papers(case: str):
    assert counts("torch")[case]["parameters"] == PARAMETERS[case]


@pytest.mark.parametrize(("framework", "cases"), [("jax", [*PARAMETERS]), ("tensorflow", ["resnet50", "vgg16"])])
def test_another_framework_builds_the_same_models_at_full_depth(framework: str, cases: list[str]):
    found = counts(framework)
    assert {case: found[case] for case in cases} == {case: PARAMETERS[case] for case in cases}
