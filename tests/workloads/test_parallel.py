"""Training in several processes gives what training in one gives, or no figure."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from interpreters import SMALL, WORKLOADS, interpreter, run, run_ranks, trains
from test_programs import IMAGES, VGG, parsed

from dlperf.catalog.files.load import load_catalog
from dlperf.plan import Launch, Selection, expand
from dlperf.render.launchers import LAUNCHERS, NodeLaunch
from ports import free_port

pytestmark = trains
HERE = Path(__file__).parent


def test_ranks_that_do_not_exchange_their_gradients_are_refused():
    done = run_ranks(2, HERE / "without_exchange.py", *IMAGES)
    assert done.returncode == 1
    assert "no figure: the ranks hold different weights" in done.stderr
    assert "step=8" in done.stdout
    assert "summary" not in done.stdout


def test_values_of_ranks_are_equal_only_where_they_are_finite_and_within_the_tolerance():
    done = run_ranks(2, HERE / "equal_values.py")
    assert done.returncode == 0, done.stderr
    near = ("2.0", "2.000001")
    assert done.stdout.splitlines() == [*(f"{one} {other}" for one in near for other in near), "3.0 3.0"]


def head_on(processes: int) -> dict[str, list[float]]:
    """Loss and gradients of ArcFace's head, its classes split over so many ranks."""
    done = run_ranks(processes, HERE / "arcface_head.py")
    assert done.returncode == 0, done.stderr
    outcome: dict[str, list[float]] = json.loads(done.stdout)
    return outcome


def test_split_classes_give_the_loss_and_the_gradients_of_whole_ones():
    """In double precision, so that only a wrong formula can make a difference; 7 classes do not split evenly."""
    whole, split = head_on(1), head_on(4)
    assert set(whole) == {"loss", "backbone", "head"}
    for name, values in whole.items():
        assert split[name] == pytest.approx(values, rel=1e-12, abs=1e-15)


def test_when_one_rank_overflows_all_skip_the_step():
    """Halved once, and moved once, on both: 1 - 0.1 × 1."""
    done = run_ranks(2, HERE / "overflow.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["scale 32768 weight 0.900"] * 2


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


def test_jax_normalizes_over_the_samples_of_one_device_and_averages_the_gradients():
    """As the other frameworks do; over the samples of all devices it would be another network."""
    flags = "--xla_force_host_platform_device_count=2"
    script = HERE / "jax_two_devices.py"
    done = run(interpreter("jax"), script, PYTHONPATH=str(WORKLOADS), XLA_FLAGS=flags, JAX_ENABLE_X64="1")
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert outcome["together"] == pytest.approx(outcome["halves"], rel=1e-5, abs=1e-7)
    assert outcome["together"] != pytest.approx(outcome["whole"], rel=1e-2)


def test_jax_drops_other_numbers_at_each_step_and_on_each_device():
    flags = "--xla_force_host_platform_device_count=2"
    done = run(interpreter("jax"), HERE / "jax_dropout.py", PYTHONPATH=str(WORKLOADS), XLA_FLAGS=flags)
    assert done.returncode == 0, done.stderr
    left = [numbers for step in json.loads(done.stdout) for numbers in step]
    assert len({tuple(numbers) for numbers in left}) == 4
    for numbers in left:
        assert set(numbers) == {0.0, 2.0}
        assert sum(numbers) == pytest.approx(1000, abs=200)


class Way(NamedTuple):
    """How a framework's processes are started: its module, how many nodes × processes, and its arguments."""

    module: str
    nodes: int
    gpus: int
    arguments: list[str]


WAYS = {
    "pytorch": Way("torch", 2, 1, IMAGES),
    "jax": Way("jax", 1, 2, VGG),
    "paddle": Way("paddle", 1, 2, IMAGES),
    "tensorflow": Way("tensorflow", 2, 1, [*IMAGES, "--no-xla"]),
}


@pytest.mark.parametrize("framework", WAYS)
def test_processes_find_each_other_through_the_launcher_and_train_one_model(framework: str, tmp_path: Path):
    """As a trial starts them: the launcher's words, on every node, side by side."""
    way = WAYS[framework]
    launch, port = launch_of(framework, way), str(free_port())
    folder = str(Path(interpreter(way.module)).parent)
    environment: dict[str, str | None] = {"PATH": f"{folder}:{os.environ['PATH']}"}
    if framework == "paddle":
        environment["CUDA_VISIBLE_DEVICES"] = None  # its launcher counts the names in it, where there are none too
    with ThreadPoolExecutor(way.nodes) as pool:
        tasks = [NodeLaunch(launch, rank, {}, "127.0.0.1", port, str(tmp_path)) for rank in range(way.nodes)]
        words = [LAUNCHERS[launch.launcher].words(task) for task in tasks]
        done = list(pool.map(lambda each: run(*each, **environment), words))
    assert [each.returncode for each in done] == [0] * way.nodes, done[0].stderr
    (trained,) = parsed(done[0].stdout)
    assert trained.complete
    assert (trained.metadata.batch_size, trained.metadata.gpus) == (4, 2)
    assert all("DLPERF" not in each.stdout for each in done[1:])


def launch_of(framework: str, way: Way) -> Launch:
    """The launch that the catalogue plans for ResNet-50, with the arguments of a test."""
    hardware = "h200-4nodes" if way.nodes > 1 else "h200"
    selection = Selection((hardware,), (framework,), ("resnet50",), ("fp32",), (64,), (f"{way.nodes}n{way.gpus}g",))
    (item,) = expand(selection, load_catalog(None)).configurations
    nodes = tuple(replace(node, gpu_indices=()) for node in item.launch.nodes)
    launcher = "jax" if framework == "jax" else item.launch.launcher  # on one host JAX has one process for all GPUs
    program = str(WORKLOADS / item.launch.files[0])
    interpreters = (interpreter(way.module), "-u")
    command = (str(SMALL), program, *way.arguments)
    return replace(item.launch, nodes=nodes, launcher=launcher, interpreter=interpreters, command=command)


def test_the_pooling_kernel_is_pytorchs_max_pool():
    python = interpreter("torch")
    if run(python, "-c", "import triton").returncode:
        pytest.skip(f"{python} has no triton")
    gpus = {"CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES")}
    has_gpu = run(python, "-c", "import sys, torch; sys.exit(not torch.cuda.is_available())", **gpus).returncode == 0
    environment = gpus if has_gpu else {"TRITON_INTERPRET": "1"}
    done = run(python, HERE / "pooling.py", PYTHONPATH=str(WORKLOADS), **environment)
    assert done.returncode == 0, done.stderr
