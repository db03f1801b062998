"""The built-in workload trains for real, and says so or fails."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys

import numpy as np
import pytest
from interpreters import WORKLOADS

PROGRAM = WORKLOADS / "lenet_numpy.py"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", PROGRAM, "--images", "256", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_loss_falls_and_the_log_says_what_ran():
    done = run("--batch-size", "32", "--steps", "40", "--log-interval", "10")
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split(" ", 2) for line in done.stdout.splitlines()]
    assert {line[0] for line in lines} == {"DLPERF"}
    first, *steps, last = [line[2] for line in lines]
    assert json.loads(first.removeprefix("run "))["batch_size"] == 32
    records = [dict(pair.split("=") for pair in step.split()) for step in steps]
    assert [(record["step"], record["samples"]) for record in records] == [
        ("10", "320"),
        ("20", "640"),
        ("30", "960"),
        ("40", "1280"),
    ]
    assert [record["epoch"] for record in records] == ["1", "2", "3", "4"]
    losses = [float(record["loss"]) for record in records]
    assert losses[-1] < losses[0] / 2
    assert json.loads(last.removeprefix("summary "))["unit"] == "images/s"


@pytest.mark.parametrize(
    ("words", "problem"),
    [(["--learning-rate", "1e9"], "not finite"), (["--learning-rate", "0"], "did not fall")],
)
def test_training_that_does_not_learn_has_no_summary(words, problem):
    done = run("--batch-size", "256", "--steps", "20", *words)
    assert done.returncode == 1
    assert problem in done.stderr
    assert "summary" not in done.stdout


def test_the_same_seed_trains_alike():
    def losses(seed: str) -> list[str]:
        lines = run("--steps", "20", "--seed", seed).stdout.splitlines()
        return [line.split("loss=")[1].split()[0] for line in lines if "loss=" in line]

    assert losses("7") == losses("7") != losses("8")


def test_gradients_are_those_of_the_loss(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(WORKLOADS)
    lenet_numpy = importlib.import_module("lenet_numpy")
    rng = np.random.default_rng(0)
    layers = lenet_numpy.lenet5(rng)
    images, labels = lenet_numpy.synthetic_images(8, rng)
    images = images.astype(np.float64)
    for layer in layers:
        for index, parameter in enumerate(layer.parameters):
            layer.parameters[index] = parameter.astype(np.float64)

    def loss() -> tuple[float, np.ndarray]:
        x = images
        for layer in layers:
            x = layer.forward(x)
        return lenet_numpy.cross_entropy(x, labels)

    _, gradient = loss()
    for layer in reversed(layers):
        gradient = layer.backward(gradient)
    for layer in (layers[0], layers[3], layers[-1]):
        weight, expected = layer.parameters[0], layer.gradients[0][1, 2]
        weight[1, 2] += 1e-5
        above = loss()[0]
        weight[1, 2] -= 2e-5
        below = loss()[0]
        weight[1, 2] += 1e-5
        assert (above - below) / 2e-5 == pytest.approx(expected, rel=1e-3, abs=1e-6)


def test_wrong_arguments_are_refused():
    assert run("--batch-size", "0").returncode == 2
