"""Declarations of programs that use DLLogger: its PARAMETER events, and what NVIDIA's shell scripts echo."""

import re
from collections.abc import Mapping

from dlperf.formats.dllogger.metrics import DATA
from dlperf.formats.recorder import Recorder

_SEPARATOR = re.compile(r"(?<! ) +(?=[\w.]+ : )")
_NAMESPACE = re.compile(r"\b(\w+)=('[^']*'|[^,()\]]+)")

ECHOED: dict[str, list[str]] = DATA["echoed"]


def declare_parameter_text(recorder: Recorder, data: bytes) -> None:
    """Declare ``name : value  name : value …``; the value of ``Config`` is an argparse namespace."""
    pairs = [pair.partition(" : ") for pair in _SEPARATOR.split(data.decode("utf-8", "replace").strip())]
    arguments = {name: value.strip() for name, _, value in pairs if value}
    if "Namespace(" in arguments.get("Config", ""):
        arguments = {name: value.strip("'") for name, value in _NAMESPACE.findall(arguments["Config"])}
    declare_parameters(recorder, arguments)


def declare_parameters(recorder: Recorder, arguments: Mapping[str, str]) -> None:
    """Declare the program's arguments and what they mean for this framework."""
    known = dict(arguments)
    if "kv_store" in known:
        _convert_mxnet_arguments(known)
    if known.get("fp16") == "True":
        known["amp"] = "True"
    if "local_rank" in known:
        _convert_bert_arguments(known)
    for name, framework in DATA["frameworks"].items():
        if name in known:
            known["framework"] = framework
    if any(known.get(name) in DATA["inference"] for name in ("mode", "run_scope")):
        known["inference"] = "True"
    known.pop("steps", None)
    for name, value in known.items():
        recorder.declare(DATA["meanings"].get(name, name), value)


def _convert_bert_arguments(known: dict[str, str]) -> None:
    """PyTorch's BERT takes as ``train_batch_size`` that of a GPU and of all its accumulated steps."""
    batch, accumulated = known.get("train_batch_size", ""), known.get("gradient_accumulation_steps", "1")
    if batch.isdecimal() and accumulated.isdecimal() and int(accumulated) > 0:
        known.setdefault("batch_size", str(int(batch) // int(accumulated)))


def _convert_mxnet_arguments(known: dict[str, str]) -> None:
    """MXNet's batch size is that of all GPUs, and its ``gpus`` a list of them."""
    known["gpus"] = str(len(known.get("gpus", "").strip("[] ").split(",")))
    if "batch_size" in known:
        known["global_batch_size"] = known.pop("batch_size")
