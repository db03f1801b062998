"""Every training program, trained for real on a few tiny samples on the CPU."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from interpreters import WORKLOADS, interpreter, run

from dlperf.formats.registry import detect, parser_for
from dlperf.formats.samples import Run
from dlperf.measure.figure import figure

BRIEF = ["--batch-size", "2", "--batches", "2", "--steps", "12", "--log-interval", "2"]
IMAGES = [*BRIEF, "--image-size", "32"]
FACES = [*BRIEF, "--image-size", "16", "--classes", "256"]
SENTENCES = [*BRIEF, "--sequence-length", "16"]


class Case(NamedTuple):
    module: str
    program: str
    arguments: list[str]


CASES = {
    "pytorch resnet50": Case("torch", "pytorch_vision.py", IMAGES),
    "pytorch resnet50 bf16": Case("torch", "pytorch_vision.py", [*IMAGES, "--precision", "bf16"]),
    "pytorch resnet50 amp": Case("torch", "pytorch_vision.py", [*IMAGES, "--precision", "amp"]),
    "pytorch vgg16": Case("torch", "pytorch_vision.py", [*IMAGES, "--model", "vgg16", "--learning-rate", "0.01"]),
    "pytorch arcface": Case("torch", "pytorch_arcface.py", FACES),
    "pytorch bert": Case("torch", "pytorch_bert.py", SENTENCES),
    "jax resnet50": Case("jax", "jax_vision.py", IMAGES),
    "jax vgg16": Case("jax", "jax_vision.py", [*IMAGES, "--model", "vgg16", "--learning-rate", "0.01"]),
    "jax arcface": Case("jax", "jax_arcface.py", FACES),
    "jax bert": Case("jax", "jax_bert.py", SENTENCES),
    "paddle resnet50": Case("paddle", "paddle_vision.py", IMAGES),
    "paddle vgg16": Case("paddle", "paddle_vision.py", [*IMAGES, "--model", "vgg16"]),
    "tensorflow resnet50": Case("tensorflow", "tensorflow_vision.py", IMAGES),
    "tensorflow resnet50 on two devices": Case("tensorflow", "tensorflow_vision.py", [*IMAGES, "--devices", "2"]),
    "mxnet resnet50": Case("mxnet", "mxnet_vision.py", IMAGES),
}
PROGRAMS = sorted({(case.module, case.program) for case in CASES.values()})


def parsed(log: str) -> list[Run]:
    assert detect(log.encode()) == "dlperf"
    parser = parser_for("dlperf")
    parser.feed(log.encode())
    parser.finish()
    return parser.runs


def test_every_program_of_the_folder_is_tried():
    helpers = {"__init__.py", "reporting.py", "pytorch_trainer.py", "pytorch_kernels.py", "jax_trainer.py"}
    tried = {program for _, program in PROGRAMS} | {"lenet_numpy.py"}  # which has tests of its own
    assert {path.name for path in WORKLOADS.glob("*.py")} - helpers == tried


@pytest.mark.parametrize(("module", "program"), PROGRAMS)
def test_a_program_says_how_it_is_used(module: str, program: str):
    done = run(interpreter(module), WORKLOADS / program, "--help")
    assert done.returncode == 0
    assert {"--batch-size", "--steps", "--precision", "--log-interval"} <= set(done.stdout.replace("[", " ").split())


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", CASES)
def test_a_program_learns_and_its_log_gives_a_figure(name: str):
    module, program, arguments = CASES[name]
    done = run(interpreter(module), WORKLOADS / program, *arguments)
    assert done.returncode == 0, done.stderr
    (trained,) = parsed(done.stdout)
    assert trained.complete
    assert trained.metadata.batch_size == 2
    assert trained.metadata.gpus == (2 if "two devices" in name else 1)
    assert trained.samples.loss[-1] < trained.samples.loss[0]
    assert figure(trained, "rate(skip=2, take=8)").value > 0


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("name", "rate", "problem"),
    [
        ("pytorch resnet50", "0", "the loss did not fall"),
        ("pytorch resnet50", "nan", "the loss is not finite"),
        ("paddle resnet50", "0", "the loss did not fall"),
        ("mxnet resnet50", "0", "the loss did not fall"),
    ],
)
def test_a_run_that_does_not_learn_has_no_summary(name: str, rate: str, problem: str):
    module, program, arguments = CASES[name]
    done = run(interpreter(module), WORKLOADS / program, *arguments, "--learning-rate", rate)
    assert done.returncode == 1
    assert f"no figure: {problem}" in done.stderr
    assert "step=12" in done.stdout
    assert "summary" not in done.stdout


@pytest.mark.parametrize(
    ("module", "program", "precision"),
    [("paddle", "paddle_vision.py", "amp"), ("mxnet", "mxnet_vision.py", "fp16")],
)
def test_a_precision_that_the_cpu_lacks_is_refused(module: str, program: str, precision: str):
    done = run(interpreter(module), WORKLOADS / program, *IMAGES, "--precision", precision)
    assert done.returncode == 2
    assert "on GPUs only" in done.stderr.splitlines()[-1]
