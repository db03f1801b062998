"""What both frameworks' image programs share: pooling, running statistics, images and their labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from interpreters import WORKLOADS, interpreter, run, trains

pytestmark = trains
HERE = Path(__file__).parent


def outcome(module: str, script: str, *words: str) -> Any:
    done = run(interpreter(module), HERE / script, *words, PYTHONPATH=str(WORKLOADS))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_pooling_without_windows_in_jax_gives_the_values_and_gradients_of_windows():
    differences = outcome("jax", "jax_pools.py")
    assert len(differences) == 8
    assert max(differences) < 1e-5


def test_pooling_over_two_sides_in_pytorch_is_max_pooling():
    script = """
import torch
from pytorch_vision import Halves
images = torch.randn(2, 3, 8, 12).to(memory_format=torch.channels_last)
def both(pool):
    given = images.clone().requires_grad_()
    pool(given).sin().sum().backward()
    return pool(images), given.grad
for one, other in zip(both(Halves()), both(torch.nn.MaxPool2d(2))):
    torch.testing.assert_close(one, other)
"""
    done = run(interpreter("torch"), "-c", script, PYTHONPATH=str(WORKLOADS))
    assert done.returncode == 0, done.stderr


def test_both_frameworks_keep_the_same_statistics_and_draw_images_alike():
    both = [outcome(module, "vision_statistics.py", module) for module in ("torch", "jax")]
    for kept in zip(*(each["statistics"] for each in both), strict=True):
        assert kept[0] == pytest.approx(kept[1], rel=1e-5)
    for each in both:
        assert each["type"] == "torch.bfloat16"
        assert each["batches"] == 2
        assert abs(each["likeness"]) < 0.3  # another seed, other patterns


def test_labels_keep_the_loss_of_a_network_that_has_learned_every_image_above_a_floor():
    """At 0.0015, as before, gradients vanish, and with them the work that the power of a step depends on."""
    for module in ("torch", "jax"):
        assert outcome(module, "vision_statistics.py", module)["floor"] > 0.6
