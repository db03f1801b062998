"""Language models: their arithmetic, and the same training in one process and in several."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from interpreters import ONE_THREAD, WORKLOADS, interpreter, run, run_ranks, trains
from test_programs import LLAMA, parsed

from dlperf.catalog.files.load import load_catalog
from dlperf.plan import Launch, Node
from dlperf.render.launchers import LAUNCHERS, NodeLaunch
from ports import free_port

sys.path.insert(0, str(WORKLOADS))
from llm_shapes import SHAPES, flops_per_token, parameter_count

pytestmark = trains
HERE = Path(__file__).parent
CATALOG = load_catalog(None)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("gpt2-124m", 124_439_808 + 47 * 768), ("llama3-1b", 1_235_814_400), ("llama3-8b", 8_030_261_248)],
)
def test_a_model_has_the_parameters_that_its_authors_name(name: str, parameters: int):
    """GPT-2's 50 257 words are padded to 50 304."""
    assert parameter_count(SHAPES[name]) == parameters


def test_llama_3_8b_takes_the_arithmetic_that_megatron_counts():
    """744 TFLOP/s at 14 451 tokens/s with 8192 tokens: 51.5 GFLOP a token."""
    assert flops_per_token(SHAPES["llama3-8b"], 8192) == pytest.approx(744e12 / 14451, rel=0.002)


WAYS = {
    "jax": ("jax_language_model.py", ("tuned unrolled", "tuned scanned", "stock unrolled")),
    "torch": ("pytorch_language_model.py", ("tuned", "stock")),
}


@pytest.mark.parametrize("model", ["llama3-tiny", "gpt2-tiny"])
def test_every_program_computes_the_same_loss_and_gradients_from_the_same_weights(model: str):
    """Both frameworks, stock and tuned, with layers unrolled and scanned."""
    outcomes = {}
    for module, (script, ways) in WAYS.items():
        for way in ways:
            done = run(interpreter(module), HERE / script, model, *way.split(), PYTHONPATH=str(WORKLOADS))
            assert done.returncode == 0, done.stderr
            outcomes[f"{module} {way}"] = json.loads(done.stdout)
    first = outcomes.pop("jax tuned unrolled")
    for way, outcome in outcomes.items():
        assert set(outcome) == set(first)
        for name, value in first.items():
            assert outcome[name] == pytest.approx(value, rel=2e-4), (way, name)


def test_products_in_fp8_differ_from_those_in_bf16_by_its_rounding():
    done = run(interpreter("jax"), HERE / "jax_fp8_products.py", PYTHONPATH=str(WORKLOADS))
    assert done.returncode == 0, done.stderr
    product, *gradients = json.loads(done.stdout)
    e4m3, e5m2 = rounding(3), rounding(2)
    assert product == pytest.approx(math.hypot(e4m3, e4m3), rel=0.1)
    assert gradients == pytest.approx([math.hypot(e4m3, e5m2)] * 2, rel=0.1)


def test_weights_in_bf16_are_drawn_clipped_and_summed_in_fp32():
    """The gradient of a frequent word, summed in bf16, was off by 41 %; weights drawn in bf16 had 128 values."""
    done = run(interpreter("jax"), HERE / "jax_bf16_weights.py", PYTHONPATH=str(WORKLOADS))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["word"] < rounding(7)
    assert found["values"] > 1000
    assert found["shared"] < 0.3, "weights and words are of one key"
    assert found["clipped"] < 1e-5


def rounding(bits: int) -> float:
    """Return the relative error of numbers of any magnitude, rounded to so many bits of mantissa (root mean square)."""
    mean_inverse_square = (1 - 1 / 4) / (2 * math.log(2))  # of a mantissa from 1 to 2 whose logarithm is uniform
    return 2**-bits * math.sqrt(mean_inverse_square / 12)


@pytest.mark.parametrize("parallel", ["fsdp", "replicate"])
def test_two_ranks_train_one_model_and_the_first_profiles_it(parallel: str, tmp_path: Path):
    profile = str(tmp_path / "profile.json")
    done = run_ranks(2, WORKLOADS / "pytorch_llm.py", *LLAMA, "--parallel", parallel, "--profile", profile)
    assert done.returncode == 0, done.stderr
    assert "communication" in {row["name"] for row in json.loads(Path(profile).read_text())["classes"]}
    (trained,) = parsed(done.stdout)
    assert trained.complete
    assert trained.metadata.gpus == 2
    assert trained.metadata.arguments["parallel"] == parallel


def test_two_ranks_that_share_a_batch_train_as_one_does():
    program = (WORKLOADS / "pytorch_llm.py", *LLAMA)
    alone = run(interpreter("torch"), *program)
    shared = run_ranks(2, *program, "--tensor-parallel", "2", "--gather", "once")
    assert shared.returncode == 0, shared.stderr
    (one,), (two,) = parsed(alone.stdout), parsed(shared.stdout)
    assert two.metadata.gpus == 2
    assert two.metadata.global_batch_size == one.metadata.global_batch_size == 4
    assert list(two.samples.loss) == pytest.approx(list(one.samples.loss), rel=1e-3)
    assert list(two.samples.samples) == list(one.samples.samples)


def test_ranks_whose_losses_differ_by_rounding_are_accepted():
    """Each rank tunes its own kernels; 1.7e-6 apart on two H100."""
    done = run_ranks(2, HERE / "language_model_with_rounding.py", *LLAMA)
    assert done.returncode == 0, done.stderr
    assert "summary" in done.stdout


def test_ranks_that_hold_different_weights_are_refused():
    done = run_ranks(2, HERE / "language_model_without_exchange.py", *LLAMA)
    assert done.returncode == 1
    assert "no figure: the ranks hold different weights" in done.stderr
    assert "summary" not in done.stdout


@pytest.mark.parametrize("parallel", ["fsdp", "replicate"])
def test_two_processes_of_jax_train_as_one_with_two_devices_and_the_first_profiles_it(parallel: str, tmp_path: Path):
    """As a trial starts them: the launcher's words, one process for each of two devices."""
    command = (str(WORKLOADS / "jax_llm.py"), *LLAMA, "--parallel", parallel)
    profile = tmp_path / "profile.json"
    done = jax_processes(2, (*command, "--profile", str(profile)), tmp_path)
    assert done.returncode == 0, done.stderr
    alone = run(interpreter("jax"), *command, XLA_FLAGS="--xla_force_host_platform_device_count=2")
    assert alone.returncode == 0, alone.stderr
    (trained,), (one,) = parsed(done.stdout), parsed(alone.stdout)
    for each in (trained, one):
        assert each.complete
        assert (each.metadata.gpus, each.metadata.batch_size) == (2, 4)
    assert list(trained.samples.loss) == pytest.approx(list(one.samples.loss), rel=1e-3)
    assert list(trained.samples.samples) == list(one.samples.samples)
    assert json.loads(profile.read_text())["classes"]


@pytest.mark.parametrize("arguments", [(), ("--checkpointing", "full"), ("--gather", "once")])
def test_devices_that_share_the_weights_of_jax_exchange_no_activations(arguments: tuple[str, ...]):
    """Rows × length × hidden, 2 × 16 × 64; every weight and gradient has other sides."""
    flags = "--xla_force_host_platform_device_count=2"
    done = run(interpreter("jax"), HERE / "jax_exchanges.py", *arguments, PYTHONPATH=str(WORKLOADS), XLA_FLAGS=flags)
    assert done.returncode == 0, done.stderr
    exchanged = json.loads(done.stdout)
    assert "512,64" in exchanged
    assert [size for size in exchanged if size.startswith("2,16")] == []


def jax_processes(count: int, command: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a JAX program in several processes of this machine, started by the launcher of trials."""
    node = Node("local", "local", "127.0.0.1", "127.0.0.1", gpu_indices=())
    launch = Launch("direct", (node,), count, "jax", (interpreter("jax"), "-u"), command)
    return run(*LAUNCHERS["jax"].words(NodeLaunch(launch, 0, {}, "127.0.0.1", str(free_port()), str(folder))))


@pytest.mark.parametrize("name", ["gpt2-124m", "llama3-1b", "llama3-8b"])
def test_the_catalogue_states_the_arithmetic_that_the_program_computes(name: str):
    case, shape = CATALOG.cases[name], SHAPES[name]
    assert case.language_model is not None
    assert case.language_model.parameters == parameter_count(shape)
    for length in case.axes["sequence_length"].values:
        assert case.gflops({"sequence_length": length}) == pytest.approx(flops_per_token(shape, int(length)) / 1e9)


TINY_CASE = """\
id: tiny
title: Tiny
model: Tiny
dataset: synthetic
unit: tokens/s
precisions: [fp32]
batch_sizes: [4]
scales: [1n2g]
axes: {sequence_length: [32]}
protocol: tiny
language_model: {parameters: 151872, lookup_parameters: 32768, layers: 2, hidden: 64}
"""
TINY_PROTOCOL = {"id": "tiny", "title": "Tiny", "skip_steps": 2, "take_steps": 6, "estimator": "rate(skip=2, take=6)"}
PYTORCH = [
    f"{name}.py"
    for name in ("pytorch_llm", "pytorch_transformer", "pytorch_adamw", "pytorch_trainer", "pytorch_numerics")
]
PYTORCH += ["pytorch_tensor_parallel.py"]
TINY_RECIPE = {
    "case": "tiny",
    "precisions": ["fp32"],
    "command": ["{files}/pytorch_llm.py", *LLAMA, "--sequence-length", "{sequence_length}", "--parallel", "replicate"],
    "files": [*PYTORCH, "llm_shapes.py", "options.py", "reporting.py"],
    "launcher": "torchrun",
}


def test_a_campaign_measures_the_tokens_that_the_ranks_train_on(tmp_path: Path):
    """Batch size and GPUs of the plan count sequences; the rate counts tokens, as the program prints them."""
    environment = ONE_THREAD | {"PATH": f"{Path(interpreter('torch')).parent}:{os.environ['PATH']}"}
    recipe = TINY_RECIPE | {"env": environment}
    tiny = {"id": "tiny", "title": "Tiny", "version": "1", "format": "dlperf", "devices": ["cpu"], "recipes": [recipe]}
    machine = {"name": "local", "transport": "local"}
    two = {"id": "two", "title": "Two processes", "gpus_per_node": 2, "nodes": [machine]}
    catalog = tmp_path / "catalog"
    for folder in (catalog, tmp_path / "runs"):
        folder.mkdir()
    (tmp_path / "mkdocs.yml").touch()
    (catalog / "cases.yaml").write_text(TINY_CASE)
    for kind, entry in {"protocols": TINY_PROTOCOL, "frameworks": tiny, "hardware": two}.items():
        (catalog / f"{kind}.yaml").write_text(json.dumps(entry))
    dlperf = (sys.executable, "-m", "dlperf", "--workspace", tmp_path)
    done = run(*dlperf, "run", "-H", "two", "-f", "tiny", "-c", "tiny", "--repeats", "1", "--name", "try")
    assert done.returncode == 0, done
    (log,) = (tmp_path / "runs").glob("try/**/out.log")
    (trained,) = parsed(log.read_text())
    times, samples = trained.samples.time, trained.samples.samples
    assert list(samples) == [step * 4 * 32 * 2 for step in range(1, 9)]
    (row,) = json.loads(run(*dlperf, "results", "--json").stdout)
    assert (row["unit"], row["batch_size"]) == ("tokens/s", 4)
    assert {finding["code"] for finding in row["findings"]}.isdisjoint({"batch_size_mismatch", "gpu_count_mismatch"})
    assert row["value"] == pytest.approx((samples[7] - samples[1]) / (times[7] - times[1]))
    printed = trained.metadata.arguments
    planned = json.loads((tmp_path / "runs" / "try" / "campaign.json").read_text())["configurations"][0]
    assert (printed["parameters"], trained.unit) == ("151872", "tokens/s")
    assert planned["gflops_per_sample"] * 1e9 == pytest.approx(float(printed["flops_per_token"]))


OBSERVED = """
import types, torch, pytorch_numerics
from pytorch_transformer import Transformer
from llm_shapes import SHAPES

model = Transformer(SHAPES["llama3-tiny"], 4096)
model.initialize("cpu", 1)
rows = []

def gradients(tokens, targets):
    rows.append(tuple(tokens.shape))
    model(tokens, targets).backward()

scaler = types.SimpleNamespace(is_enabled=lambda: False)
trainer = types.SimpleNamespace(gradients=gradients, parameters=list(model.parameters()), scaler=scaler, scale=1.0)
words = torch.zeros(4, 4096, dtype=torch.long)
print(pytorch_numerics.used_types(trainer, (words, words))["gradients"], rows)
"""


def test_a_step_is_observed_on_few_words_so_that_it_needs_less_memory_than_training():
    done = run(interpreter("torch"), "-c", OBSERVED, PYTHONPATH=str(WORKLOADS))
    assert done.stdout == "fp32 [(2, 512)]\n", done.stderr
