"""What the ledgers say of our programs, as far as it can be derived: from programs, recipes, kept logs and traces."""

from __future__ import annotations

import ast
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from interpreters import WORKLOADS, interpreter, run

from dlperf.catalog.files.load import load_catalog
from dlperf.catalog.ledger import Ledger
from dlperf.catalog.model import Recipe
from guide_pages import ROOT

CATALOG = load_catalog(None)
LEDGERS = {name: case.ledger for name, case in CATALOG.cases.items() if case.ledger}
SIDES = [(case, framework) for case, ledger in LEDGERS.items() for framework in ledger.frameworks]
KEPT = {case: f"h200-tuned-{case}" for case in ("gpt2-124m", "vgg16", "arcface", "resnet50")}
"""Campaigns of the programs as they are, but for how JAX's GPT-2 adds positions."""
VARIABLES = ("PYTORCH_CUDA_ALLOC_CONF", "XLA_PYTHON_CLIENT_MEM_FRACTION")
FORWARD_FAST = ["DEFAULT", "HIGH", "HIGH"]
"""Precisions at which XLA lets only the forward product accumulate fast in FP8, as PyTorch's program does."""
OPTIMIZERS = """
import json, options
texts = options.bert(options.common("-", [], "-")).get_default("batches")
common = options.common("-", [], "-")
images, interval = common.get_default("batches"), common.get_default("log_interval")
print(json.dumps(dict(options.LEARNING_RATES, texts=texts, images=images, interval=interval)))
"""


def recipe_of(case: str, framework: str) -> Recipe:
    return next(each for each in CATALOG.frameworks[framework].recipes if each.case == case)


def ledger_of(case: str) -> Ledger:
    ledger = LEDGERS[case]
    assert ledger is not None
    return ledger


def imports(program: str) -> set[str]:
    tree = ast.walk(ast.parse((WORKLOADS / program).read_text()))
    return {alias.name for node in tree if isinstance(node, ast.Import) for alias in node.names}


def kept_logs(case: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Framework and ``run`` line of each log."""
    for log in sorted((ROOT / "runs" / KEPT[case]).glob("*/*/nodes/*/out.log")):
        (line,) = re.findall(r" run (\{.*)", log.read_text()) or ["{}"]
        yield log.parents[3].name.split("_")[1], json.loads(line)


@pytest.mark.parametrize(("case", "framework"), SIDES)
def test_a_ledger_is_about_programs_that_run_the_case_as_stock_or_tuned(case: str, framework: str):
    recipe = recipe_of(case, framework)
    assert recipe.tuning == ("stock" if "--stock" in recipe.command else "tuned")


@pytest.mark.parametrize(("case", "framework"), SIDES)
def test_a_program_whose_files_import_triton_names_its_kernels(case: str, framework: str):
    recipe, told = recipe_of(case, framework), ledger_of(case).of(framework)["own_kernels"]
    files = set(recipe.files)
    if case in ("vgg16", "arcface"):  # whose network does not use it
        files -= {"pytorch_kernels.py"}
    if CATALOG.cases[case].model.startswith("GPT"):  # has no SwiGLU
        files -= {"pytorch_swiglu.py"}
    if "fp8" not in recipe.precisions or case.startswith(("gpt2", "llama")):  # not in bf16
        files -= {"pytorch_fp8.py"}
    triton = recipe.tuning == "tuned" and any("triton" in imports(name) for name in files)
    assert str(told).startswith("Triton") == triton


@pytest.mark.parametrize(
    "case", [case for case, ledger in LEDGERS.items() if ledger and "jax-stock" in ledger.frameworks]
)
def test_a_ledger_says_of_one_program_alone_that_it_is_tuned_and_stock(case: str):
    program = Path(recipe_of(case, "jax").command[0]).name
    read = (WORKLOADS / name for name in (program, "jax_transformer.py") if name in recipe_of(case, "jax").files)
    is_one = not any("options.stock" in path.read_text() for path in read)
    assert (ledger_of(case).of("jax") == ledger_of(case).of("jax-stock")) == is_one


@pytest.mark.parametrize(("case", "framework"), SIDES)
def test_variables_that_set_the_allocator_are_named(case: str, framework: str):
    told = str(ledger_of(case).of(framework)["allocator"])
    variables = {name: text for name, text in recipe_of(case, framework).env.items() if name in VARIABLES}
    assert {name for name in VARIABLES if name in told} == set(variables)
    assert all(f"{name}={text}" in told for name, text in variables.items())


@pytest.mark.parametrize("case", KEPT)
def test_what_is_compiled_and_in_graphs_is_what_the_programs_printed_on_a_gpu(case: str):
    printed = [(framework, line) for framework, line in kept_logs(case) if line]
    assert {framework for framework, _ in printed} == {"pytorch-compiled", "jax"}
    for framework, line in printed:
        told = ledger_of(case).of(framework)
        for part in line["compiled"].split(", "):
            assert part in str(told["compile"])
        if framework == "pytorch-compiled":
            assert str(told["cuda_graph"]).startswith(line["graphs"])


def test_the_graphs_that_xla_launches_are_those_of_a_kept_trace():
    (trace,) = (ROOT / "runs" / "h200-resnet50-bf16-5").glob("*_jax_*profile-on/1/nodes/*/ranks/profile.trace.json.gz")
    events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    launches = sum("GraphLaunch" in event.get("name", "") for event in events) / 5
    told = ledger_of("resnet50").of("jax")["cuda_graph"]
    assert f"{launches:g} launches" in str(told)


def test_learning_rates_numbers_of_batches_and_waits_are_those_of_the_programs():
    used = json.loads(run(interpreter("torch"), "-c", OPTIMIZERS, PYTHONPATH=str(WORKLOADS)).stdout)
    for model in ("resnet50", "vgg16"):
        assert f"learning rate {used[model]:g}" in ledger_of(model).equal["optimizer_settings"]
    for case, ledger in LEDGERS.items():
        batches = used["images" if ledger.equal["layout"] == "NHWC" else "texts"]
        assert f" {batches} batches on the device" in ledger.equal["synthetic_data"], case
    for case, framework in SIDES:
        command = recipe_of(case, framework).command
        interval = (
            int(command[command.index("--log-interval") + 1]) if "--log-interval" in command else used["interval"]
        )
        told = ledger_of(case).equal["host_waits"]
        assert told == f"for the losses of {({2: 'two', 10: 'ten'})[interval]} steps at once"


DERIVED = """
import json, torch
from pytorch_arcface import face_resnet50
from pytorch_bert import Bert
from pytorch_vision import resnet50, vgg16
with torch.device("meta"):
    models = {"resnet50": resnet50(), "vgg16": vgg16(), "arcface": face_resnet50(), "bert-base": Bert()}
kinds = {name: [type(each).__name__ for each in model.modules()] for name, model in models.items()}
counts = {name: [each.count("Dropout"), sum("BatchNorm" in kind for kind in each)] for name, each in kinds.items()}
print(json.dumps(counts))
"""


def test_dropout_and_running_statistics_are_those_of_the_networks():
    done = run(interpreter("torch"), "-c", DERIVED, PYTHONPATH=str(WORKLOADS))
    assert done.returncode == 0, done.stderr
    for case, (dropouts, normalizations) in json.loads(done.stdout).items():
        told = {name: str(text) for name, text in ledger_of(case).of("jax").items()}
        assert told["dropout"].startswith("none") == (dropouts == 0)
        assert told["running_statistics"].startswith("none") == (normalizations == 0)


@pytest.mark.parametrize(("module", "sides"), [("jax", ("jax", "jax-stock")), ("torch", ("pytorch-compiled",))])
def test_what_ledgers_say_of_a_step_is_in_its_graph(module: str, sides: tuple[str, ...]):
    """Positions, joined products, the gradient of words, recomputation and what is compiled under FSDP."""
    script = {"jax": "jax_ledger.py", "torch": "pytorch_ledger.py"}[module]
    done = run(interpreter(module), Path(__file__).with_name(script), PYTHONPATH=str(WORKLOADS))
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert set(facts["word gradients"]) == {"float32"}
    assert facts.get("precisions in FP8", FORWARD_FAST) == FORWARD_FAST
    for case, side in ((case, side) for case, side in SIDES if side in sides):
        told = {aspect: str(text) for aspect, text in ledger_of(case).of(side).items()}
        assert told["positions"].startswith("learned, looked up") == (case in facts["looked up"])
        assert told["word_gradient"].startswith("summed in fp32") == (case not in ("resnet50", "vgg16", "arcface"))
        assert told["recomputation"].startswith("elementwise") == (facts["saved"] == 2)
        if case == "llama3-1b":
            assert ("XLA makes in each step" in told["positions"]) == (case in facts["rotated"])
            assert ("both halves of SwiGLU by one" in told["joined_products"]) == (facts["matrices"][case] == 4)
            assert all(
                part in told["compile"]
                for part in facts.get("compiled", "").replace("blocks", "each block").split(", ")
            )
