"""Every training program, trained for real on a few tiny samples on the CPU."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from interpreters import SMALL, WORKLOADS, interpreter, run, trains

import dlperf.workloads
from dlperf.catalog.files.load import load_catalog
from dlperf.formats.registry import detect, parser_for
from dlperf.formats.samples import Run
from dlperf.measured.throughput.figure import figure_of
from dlperf.measured.throughput.reading import Reading

pytestmark = trains
CATALOG = load_catalog(None)
BRIEF = ["--batch-size", "4", "--batches", "1", "--steps", "8", "--log-interval", "1"]
"""The same four samples at every step, so that what is learned does not hang on chance."""
IMAGES = [*BRIEF, "--image-size", "32"]
FACES = [*BRIEF, "--image-size", "32", "--classes", "256", "--learning-rate", "0.00005"]
VGG = [*BRIEF, "--image-size", "32", "--model", "vgg16", "--learning-rate", "0.02"]
SENTENCES = [*BRIEF, "--sequence-length", "16"]
LLAMA = [*BRIEF, "--sequence-length", "32", "--model", "llama3-tiny", "--learning-rate", "0.01"]
GPT2 = [*BRIEF, "--sequence-length", "32", "--model", "gpt2-tiny", "--learning-rate", "0.01"]


class Case(NamedTuple):
    module: str
    program: str
    arguments: list[str]


CASES = {
    "pytorch resnet50": Case("torch", "pytorch_vision.py", IMAGES),
    "pytorch resnet50 bf16": Case("torch", "pytorch_vision.py", [*IMAGES, "--precision", "bf16"]),
    "pytorch resnet50 amp": Case("torch", "pytorch_vision.py", [*IMAGES, "--precision", "amp"]),
    "pytorch arcface": Case("torch", "pytorch_arcface.py", FACES),
    "pytorch bert": Case("torch", "pytorch_bert.py", SENTENCES),
    "pytorch gpt2": Case("torch", "pytorch_llm.py", GPT2),
    "pytorch llama3 bf16-pure, recomputed": Case(
        "torch", "pytorch_llm.py", [*LLAMA, "--precision", "bf16-pure", "--checkpointing", "full"]
    ),
    "jax gpt2": Case("jax", "jax_llm.py", GPT2),
    "jax llama3 bf16-pure, recomputed": Case(
        "jax", "jax_llm.py", [*LLAMA, "--precision", "bf16-pure", "--checkpointing", "full"]
    ),
    "jax llama3 fp8": Case("jax", "jax_llm.py", [*LLAMA, "--precision", "fp8"]),
    "jax resnet50": Case("jax", "jax_vision.py", IMAGES),
    "jax arcface": Case("jax", "jax_arcface.py", FACES),
    "jax bert": Case("jax", "jax_bert.py", SENTENCES),
    "paddle resnet50": Case("paddle", "paddle_vision.py", IMAGES),
    "tensorflow resnet50": Case("tensorflow", "tensorflow_vision.py", IMAGES),
    "tensorflow resnet50 on two devices": Case(
        "tensorflow", "tensorflow_vision.py", [*IMAGES, "--no-xla", "--devices", "2"]
    ),
    "mxnet resnet50": Case("mxnet", "mxnet_vision.py", IMAGES),
}
PROGRAMS = sorted({(case.module, case.program) for case in CASES.values()})


def parsed(log: str) -> list[Run]:
    assert detect(log.encode()) == "dlperf"
    parser = parser_for("dlperf")
    parser.feed(log.encode())
    parser.finish()
    return parser.runs


def local_imports(path: Path) -> set[str]:
    """The files of the folder that a program needs: what it imports, wherever in it, and what they import."""
    nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    names |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    found = {WORKLOADS / f"{name}.py" for name in names} & set(WORKLOADS.glob("*.py"))
    return {path.name}.union(*(local_imports(each) for each in found))


def test_every_program_of_the_folder_is_tried():
    helped = {name for path in WORKLOADS.glob("*.py") for name in local_imports(path) - {path.name}}
    of_stacks = {path.name for path in (Path(dlperf.workloads.__file__).parent / "stacks").glob("*.py")}
    tried = {program for _, program in PROGRAMS} | {"lenet_numpy.py", "pytorch_diagnose.py"} | of_stacks  # tested apart
    assert {path.name for path in WORKLOADS.glob("*.py")} - helped - {"__init__.py"} <= tried


@pytest.mark.parametrize(
    "framework",
    ["pytorch", "pytorch-stock", "pytorch-compiled", "jax", "jax-stock", "paddle", "tensorflow", "mxnet", "diagnosis"],
)
def test_a_recipe_ships_what_its_program_needs_and_nothing_else(framework: str):
    """Real images need more: on synthetic ones a program never gets to those imports."""
    synthetic, real = CATALOG.frameworks[framework], CATALOG.frameworks.get(f"{framework}-imagenet")
    for recipe in synthetic.recipes:
        assert local_imports(WORKLOADS / recipe.files[0]) - set(recipe.files) <= {"image_data.py"}
        assert set(recipe.files) <= local_imports(WORKLOADS / recipe.files[0])
    for recipe in real.recipes if real else ():
        assert set(recipe.files) == local_imports(WORKLOADS / recipe.files[0])


WITHOUT_FRAMEWORKS = """\
import runpy, sys
sys.modules.update(dict.fromkeys(["torch", "jax", "paddle", "tensorflow", "mxnet", "numpy"]))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize("program", sorted({program for _, program in PROGRAMS}))
def test_a_program_says_how_it_is_used_without_its_framework(program: str):
    start = [sys.executable, "-c", WITHOUT_FRAMEWORKS, WORKLOADS / program]
    done = run(*start, "--help", PYTHONPATH=str(WORKLOADS))
    assert (done.returncode, done.stderr) == (0, "")
    assert {"--batch-size", "--steps", "--precision", "--log-interval"} <= set(done.stdout.replace("[", " ").split())
    done = run(*start, "--steps", "0", PYTHONPATH=str(WORKLOADS))
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("error: argument --steps: must be 1 or more, not 0")


def assert_profile(path: Path):
    """The summary that a program wrote of its steps on the CPU, with the trace beside it."""
    profile = json.loads(path.read_text())
    assert (profile["device"], profile["steps"], profile["idle_share"]) == ("cpu", 5, None)
    assert profile["step_ms"] > 0
    assert "matrix products and convolutions" in {row["name"] for row in profile["classes"]}
    assert sum(row["share"] for row in profile["classes"]) == pytest.approx(1, abs=0.001)
    assert 0 < len(profile["kernels"]) <= 25
    assert (path.parent / profile["trace"]).read_bytes()[:2] == b"\x1f\x8b"


@pytest.mark.parametrize("name", CASES)
def test_a_program_learns_and_its_log_gives_a_figure(name: str, tmp_path: Path):
    module, program, arguments = CASES[name]
    profile = tmp_path / "profile.json"
    asked = ["--profile", profile] if name in ("pytorch gpt2", "jax gpt2") else []
    done = run(interpreter(module), SMALL, WORKLOADS / program, *arguments, *asked, JAX_LOG_COMPILES="1")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Finished XLA compilation of jit(step)") == (module == "jax")
    (trained,) = parsed(done.stdout)
    assert trained.complete
    assert trained.metadata.arguments["data"] == "synthetic"
    assert trained.metadata.batch_size == 4
    assert trained.metadata.gpus == (2 if "two devices" in name else 1)
    assert trained.samples.loss[-1] < trained.samples.loss[0]
    assert figure_of(Reading(trained), "rate(skip=2, take=4)").value > 0
    assert trained.samples.step[-1] == 8  # profiled steps are not reported
    if asked:
        assert_profile(profile)


REPORTED = {
    **{f"pytorch resnet50 {name}": "pytorch-compiled" for name in ("tf32", "amp")},
    "pytorch vgg16 bf16": "pytorch-compiled",
    "pytorch arcface bf16": "pytorch-stock",
    "pytorch bert-base bf16": "pytorch",
    "pytorch gpt2-124m bf16": "pytorch-compiled",
    "pytorch llama3-1b bf16-pure": "pytorch-compiled",
    **{f"jax resnet50 {name}": "jax" for name in ("tf32", "fp16")},
    "jax vgg16 bf16": "jax",
    "jax arcface bf16": "jax-stock",
    "jax bert-base bf16": "jax",
    "jax gpt2-124m bf16": "jax",
    "jax llama3-1b bf16-pure": "jax",
    "jax llama3-1b fp8": "jax",
}
"""Program and precision → a framework that runs it so."""
TINY = {
    "resnet50": IMAGES,
    "vgg16": VGG[:-2],
    "arcface": FACES,
    "bert-base": SENTENCES,
    "gpt2-124m": GPT2,
    "llama3-1b": LLAMA,
}


@pytest.mark.parametrize("name", REPORTED)
def test_a_program_reports_the_data_types_that_the_catalogue_states(name: str):
    """Read from its step: a program that casts elsewhere, or a wrong word in the catalogue, makes them differ."""
    family, case, precision = name.split()
    recipe = next(each for each in CATALOG.frameworks[REPORTED[name]].recipes if each.case == case)
    own = recipe.numerics.get(precision)
    stated = CATALOG.precisions[precision].numerics.stated() | (own.stated() if own else {})
    module = {"pytorch": "torch"}.get(family, family)
    stock = ["--stock"] if recipe.tuning == "stock" else []
    words = [*TINY[case], "--precision", precision, "--steps", "2", *stock]
    done = run(interpreter(module), SMALL, WORKLOADS / recipe.files[0], *words)
    (line,) = (line for line in done.stdout.splitlines() if " numerics " in line)
    reported = json.loads(line.partition(" numerics ")[2])
    assert reported == {name: text for name, text in stated.items() if name != "reduction"}


@pytest.mark.parametrize(
    ("name", "rate", "problem"),
    [
        ("pytorch resnet50", "nan", "the loss is not finite"),
        ("mxnet resnet50", "0", "the loss did not fall"),
    ],
)
def test_a_run_that_does_not_learn_has_no_summary(name: str, rate: str, problem: str):
    module, program, arguments = CASES[name]
    done = run(interpreter(module), SMALL, WORKLOADS / program, *arguments, "--learning-rate", rate)
    assert done.returncode == 1
    assert f"no figure: {problem}" in done.stderr
    assert "step=8" in done.stdout
    assert "summary" not in done.stdout


@pytest.mark.parametrize(
    ("module", "program", "precision"),
    [("paddle", "paddle_vision.py", "amp"), ("mxnet", "mxnet_vision.py", "fp16")],
)
def test_a_precision_that_the_cpu_lacks_is_refused(module: str, program: str, precision: str):
    done = run(interpreter(module), WORKLOADS / program, *IMAGES, "--precision", precision)
    assert done.returncode == 2
    assert "on GPUs only" in done.stderr.splitlines()[-1]
