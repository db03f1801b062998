"""The arithmetic of a case, as the catalogue states it, is what its program does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from interpreters import WORKLOADS, interpreter, run

from dlperf.catalog.load import load_catalog

PARAMETERS = {"resnet50": 25_557_032, "vgg16": 138_357_544}
"""Of the models of these names in torchvision."""


@pytest.fixture(scope="module")
def counts() -> dict[str, dict[str, float]]:
    done = run(interpreter("torch"), Path(__file__).with_name("count_flops.py"), PYTHONPATH=str(WORKLOADS))
    assert done.returncode == 0, done.stderr
    outcome: dict[str, dict[str, float]] = json.loads(done.stdout)
    return outcome


@pytest.mark.parametrize("case", ["resnet50", "vgg16", "arcface", "bert-base"])
def test_training_is_three_forward_passes(case: str, counts: dict[str, dict[str, float]]):
    """The convention of the catalogue; the pass itself does not need the gradient of the images, 1 % in ResNet-50."""
    stated = load_catalog(None).cases[case].gflops_per_sample
    assert stated == pytest.approx(3 * counts[case]["forward"] / 1e9, rel=0.002)
    assert 0.98 * 3 < counts[case]["training"] / counts[case]["forward"] <= 3


@pytest.mark.parametrize("case", PARAMETERS)
def test_the_models_are_those_of_the_papers(case: str, counts: dict[str, dict[str, float]]):
    assert counts[case]["parameters"] == PARAMETERS[case]
