"""Language models: their arithmetic, and the same training in one process and in several."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from interpreters import WORKLOADS, interpreter, run, torchrun, trains
from test_programs import LLAMA, parsed

sys.path.insert(0, str(WORKLOADS))
from llm_shapes import SHAPES, flops_per_token, parameter_count

pytestmark = trains
HERE = Path(__file__).parent


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


def test_both_frameworks_compute_the_same_loss_and_gradients_from_the_same_weights():
    outcomes = []
    for module, script in (("jax", "jax_language_model.py"), ("torch", "pytorch_language_model.py")):
        done = run(interpreter(module), HERE / script, PYTHONPATH=str(WORKLOADS))
        assert done.returncode == 0, done.stderr
        outcomes.append(json.loads(done.stdout))
    jax, pytorch = outcomes
    assert set(jax) == set(pytorch)
    for name, value in jax.items():
        assert pytorch[name] == pytest.approx(value, rel=2e-4), name


@pytest.mark.parametrize("parallel", ["fsdp", "replicate"])
def test_two_ranks_train_one_model(parallel: str):
    done = torchrun(2, WORKLOADS / "pytorch_llm.py", *LLAMA, "--parallel", parallel)
    assert done.returncode == 0, done.stderr
    (trained,) = parsed(done.stdout)
    assert trained.complete
    assert trained.metadata.gpus == 2
    assert trained.metadata.arguments["parallel"] == parallel


def test_ranks_that_hold_different_weights_are_refused():
    done = torchrun(2, HERE / "language_model_without_exchange.py", *LLAMA, PYTHONPATH=str(WORKLOADS))
    assert done.returncode == 1
    assert "no figure: the ranks hold different weights" in done.stderr
    assert "summary" not in done.stdout


@pytest.mark.parametrize("parallel", ["fsdp", "replicate"])
def test_jax_trains_one_model_on_two_devices(parallel: str):
    flags = "--xla_force_host_platform_device_count=2"
    command = (WORKLOADS / "jax_llm.py", *LLAMA, "--parallel", parallel)
    done = run(interpreter("jax"), *command, XLA_FLAGS=flags)
    assert done.returncode == 0, done.stderr
    (trained,) = parsed(done.stdout)
    assert trained.complete
    assert trained.metadata.gpus == 2
