"""Released stacks train small models on the CPU by the commands of the catalogue, where they are installed."""

from __future__ import annotations

import json
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
from dlperf.render.preview import preview_text
from dlperf.substitution import fill

pytestmark = trains
TYPES = Path(__file__).with_name("product_types.py")
MOST = 0.999
"""Of all that matrix products read; positions are rotated in FP32."""
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


def test_hugging_face_compiles_layer_by_layer_where_that_is_asked_for():
    given = ["stack_huggingface.py", "--model", "llama3-tiny", "--tokens", "x", "--compile", "regional"]
    seen = "from accelerate.utils import TorchDynamoPlugin; print(TorchDynamoPlugin().use_regional_compilation)"
    program = f"import sys; sys.argv = {given}; import stack_huggingface; {seen}"
    done = run(interpreter("transformers"), "-c", program, cwd=WORKLOADS, PYTHONPATH=str(WORKLOADS))
    assert done.stdout.split() == ["True"], done.stderr[-500:]


PARSED = """\
import sys
from torch.distributed.run import get_args_parser
found = get_args_parser().parse_args(sys.argv[1:])
print(found.module, found.training_script, found.training_script_args.count("--logs"))
"""


def test_options_of_a_stack_are_none_of_torchrun(tmp_path):
    """Without the -- between them, open_clip's --logs is an abbreviation of two of torchrun's."""
    selection = Selection(("two",), ("open-clip",), ("clip-vit-b-32",), ("bf16",), (512,), ("1n2g",))
    text = "id: two\ntitle: Two\ngpus_per_node: 2\naccelerator: h100-sxm\nnodes: [{name: a}]\n"
    (tmp_path / "hardware.yaml").write_text(text)
    launch = expand(selection, load_catalog(tmp_path)).configurations[0].launch
    (words,) = [line.split()[2:] for line in preview_text(launch).splitlines() if line.startswith("exec torchrun")]
    assert run(interpreter("torch"), "-c", PARSED, *words).stdout == "True open_clip_train.main 1\n"


PRODUCTS = [
    ("stack_huggingface.py", "transformers"),
    ("stack_lightning.py", "lightning"),
]


@pytest.mark.parametrize(("program", "module"), PRODUCTS)
def test_a_stack_multiplies_in_the_type_that_its_precision_names(program, module, tmp_path):
    text = ("make_data.py", "text", "data", "--model", "llama3-tiny", "--words", "4096")
    run(sys.executable, WORKLOADS / text[0], *text[1:], cwd=tmp_path)
    sizes = ("--sequence-length", "64", "--steps", "8", "--checkpointing", "full")
    chosen = [("llama3-tiny", "bf16"), ("qwen3-moe-tiny", "bf16-pure"), ("qwen3-moe-tiny", "bf16")]
    words = [
        ("--tokens", "data/tokens.bin", *sizes, "--model", model, "--precision", precision)
        for model, precision in chosen
    ]
    commands = [word for each in words for word in (",", WORKLOADS / program, *each)]
    done = run(interpreter(module), TYPES, *commands, cwd=tmp_path, PYTHONPATH=str(WORKLOADS))
    found = [json.loads(line.partition(" ")[2]) for line in done.stdout.splitlines() if line.startswith("products ")]
    assert [types.get("bf16", 0.0) > MOST for types in found] == [True, True], (found, done.stderr[-2000:])
    assert "autocast leaves the experts in FP32" in done.stderr, "the third is refused"
