"""Released stacks train small models on the CPU by the commands of the catalogue, where they are installed."""

from __future__ import annotations

import shutil
import sys
from math import isfinite
from pathlib import Path

import pytest
from interpreters import WORKLOADS, interpreter, run, trains

from dlperf.catalog.files.load import load_catalog
from dlperf.executors.wheels import fetched_wheels
from dlperf.formats.registry import parser_for
from dlperf.plan import Selection, expand
from dlperf.substitution import fill

pytestmark = trains
STACKS = [
    ("huggingface", "llama3-tiny", "transformers"),
    ("lightning", "llama3-tiny", "lightning"),
    ("litgpt", "llama3-tiny", "litgpt"),
    ("olmo-core", "llama3-tiny", "olmo_core"),
    ("timm", "resnet18", "timm"),
    ("torchvision", "resnet18", "torchvision"),
]


@pytest.mark.parametrize(("stack", "case", "module"), STACKS)
def test_a_stack_trains_by_the_command_of_the_catalogue_and_its_log_is_read(stack, case, module, tmp_path):
    python, catalog = interpreter(module), load_catalog(tmp_path)
    selection = Selection(("local",), (stack,), (case,), precisions=("fp32",), batch_sizes=(4, 2), protocol="quick")
    item = expand(selection, catalog).configurations[0]
    (tmp_path / "site").mkdir()
    for file in fetched_wheels(item.launch.requirements).values():
        shutil.copy(file, tmp_path / "site")
    values = {"build": str(tmp_path), "files": str(WORKLOADS), "ranks": str(tmp_path / "ranks"), "trial": "1"}
    words = [fill(word, values) for word in item.launch.command]
    if words[0].endswith(".py") and not Path(words[0]).is_file():
        pytest.skip(f"{words[0]} is not fetched: `dlperf fetch -f {stack} -H local`")
    for line in item.launch.build[1:]:
        assert run("bash", "-c", line.replace("make_data", f"{WORKLOADS}/make_data"), cwd=tmp_path).returncode == 0
    done = run(python, "-u", *words, cwd=tmp_path, PYTHONPATH=str(WORKLOADS))
    parser = parser_for(item.format)
    parser.feed((done.stdout + done.stderr).encode())
    parser.finish()
    (found,) = parser.runs
    assert len(found.samples) >= 3, done.stderr[-2000:]
    assert all(map(isfinite, found.samples.loss))


def test_a_mixture_of_experts_trains(tmp_path):
    run(
        sys.executable,
        WORKLOADS / "make_data.py",
        "text",
        "data",
        "--model",
        "llama3-tiny",
        "--words",
        "4096",
        cwd=tmp_path,
    )
    sizes = ("--sequence-length", "64", "--precision", "fp32", "--steps", "3", "--checkpointing", "full")
    words = ("--model", "qwen3-moe-tiny", "--tokens", tmp_path / "data" / "tokens.bin", *sizes)
    done = run(interpreter("transformers"), WORKLOADS / "stack_huggingface.py", *words, cwd=tmp_path)
    assert done.stdout.count("'loss'") == 3, done.stderr[-2000:]
