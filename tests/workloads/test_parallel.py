"""Training in several processes gives what training in one gives, or no figure."""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from interpreters import WORKLOADS, interpreter, run, torchrun
from test_programs import IMAGES, parsed

from dlperf.catalog.load import load_catalog
from dlperf.plan import Selection, expand
from dlperf.render.launchers import LAUNCHERS, Seat

HERE = Path(__file__).parent


@pytest.mark.timeout(200)
def test_two_pytorch_ranks_train_one_model():
    done = torchrun(2, WORKLOADS / "pytorch_vision.py", *IMAGES)
    assert done.returncode == 0, done.stderr
    (trained,) = parsed(done.stdout)
    assert trained.complete
    assert (trained.metadata.batch_size, trained.metadata.gpus) == (2, 2)
    assert trained.samples.samples[-1] == 12 * 2 * 2


@pytest.mark.timeout(200)
def test_ranks_that_do_not_exchange_their_gradients_are_refused():
    done = torchrun(2, HERE / "without_exchange.py", *IMAGES, PYTHONPATH=str(WORKLOADS))
    assert done.returncode == 1
    assert "no figure: the ranks hold different weights" in done.stderr
    assert "step=12" in done.stdout
    assert "summary" not in done.stdout


def test_split_classes_give_the_loss_and_the_gradients_of_whole_ones():
    """In double precision, so that only a wrong formula can make a difference; 7 classes do not split evenly."""

    def outcome(processes: int) -> dict[str, list[float]]:
        done = torchrun(processes, HERE / "arcface_head.py", PYTHONPATH=str(WORKLOADS))
        assert done.returncode == 0, done.stderr
        result: dict[str, list[float]] = json.loads(done.stdout)
        return result

    whole, split = outcome(1), outcome(2)
    assert set(whole) == {"loss", "backbone", "head"}
    for name, values in whole.items():
        assert split[name] == pytest.approx(values, rel=1e-12, abs=1e-15)


@pytest.mark.timeout(200)
def test_split_classes_of_jax_give_the_loss_and_the_gradients_of_whole_ones():
    def outcome(devices: int) -> dict[str, list[float]]:
        flags = f"--xla_force_host_platform_device_count={devices}"
        done = run(
            interpreter("jax"),
            HERE / "jax_arcface_head.py",
            PYTHONPATH=str(WORKLOADS),
            XLA_FLAGS=flags,
            JAX_ENABLE_X64="1",
        )
        assert done.returncode == 0, done.stderr
        result: dict[str, list[float]] = json.loads(done.stdout)
        return result

    whole, split = outcome(1), outcome(2)
    for name, values in whole.items():
        assert split[name] == pytest.approx(values, rel=1e-5, abs=1e-7)


@pytest.mark.timeout(300)
def test_jax_processes_find_each_other_through_the_launcher(tmp_path: Path):
    selection = Selection(("local",), ("jax",), ("vgg16",), ("fp32",), (2,), ("1n1g",))
    (item,) = expand(selection, load_catalog(tmp_path)).configurations
    command = (str(WORKLOADS / "jax_vision.py"), "--model", "vgg16", "--learning-rate", "0.01", *IMAGES)
    launch = replace(item.launch, gpus=2, interpreter=(interpreter("jax"), "-u"), command=command)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    done = run(*LAUNCHERS["jax"].words(Seat(launch, 0, {}, "127.0.0.1", port, str(tmp_path))))
    assert done.returncode == 0, done.stderr
    (trained,) = parsed(done.stdout)
    assert trained.complete
    assert (trained.metadata.batch_size, trained.metadata.gpus) == (2, 2)


def test_the_pooling_kernel_is_pytorchs_max_pool():
    python = interpreter("torch")
    if run(python, "-c", "import triton").returncode:
        pytest.skip(f"{python} has no triton")
    done = run(python, HERE / "pooling.py", PYTHONPATH=str(WORKLOADS), TRITON_INTERPRET="1")
    assert done.returncode == 0, done.stderr
