"""Declarations of programs that use DLLogger: its PARAMETER events, and what NVIDIA's shell scripts echo."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dlperf.formats.recorder import Recorder

_SEPARATOR = re.compile(r"(?<! ) +(?=[\w.]+ : )")
_NAMESPACE = re.compile(r"\b(\w+)=('[^']*'|[^,()\]]+)")

ECHOED = {
    "gpus": (r"Num GPUs (\d+)", r"^\+ num_gpus=(\d+)$"),
    "batch_size": (r"Per-GPU Batch Size (\d+)", r"^\+ batch_size=(\d+)$", r"  Batch size = (\d+)"),
    "global_batch_size": (r"^  IMS_PER_BATCH: (\d+)",),
    "precision": (r"^\+ precision=(fp32|tf32|bf16)$",),
    "amp": (r"^\+ precision=fp(1)6$",),
    "accumulation_steps": (r"^\+ num_accumulation_steps_phase1=(\d+)$", r"^\+ gradient_accumulation_steps=(\d+)$"),
    "framework": (r"^INFO:(tensorflow):",),
}
"""NVIDIA's scripts call mixed precision fp16: they pass --amp or --fp16 for it."""

_MEANINGS = {
    "arch": "model",
    "world_size": "gpus",
    "gpu_count": "gpus",
    "batch_size_per_gpu": "batch_size",
    "dtype": "precision",
    "gradient_accumulation_steps": "accumulation_steps",
}
_FRAMEWORKS = {"kv_store": "mxnet", "iter_unit": "tensorflow", "raport_file": "pytorch", "local_rank": "pytorch"}
"""Arguments that only one framework's programs have."""
_INFERENCE = ("inference_benchmark", "evaluate", "predict", "val", "pred", "eval_only", "RunScope.EVAL_ONLY")
"""Values of ``mode`` and ``run_scope`` with which programs print an inference throughput under the same name."""


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
    for name, framework in _FRAMEWORKS.items():
        if name in known:
            known["framework"] = framework
    if any(known.get(name) in _INFERENCE for name in ("mode", "run_scope")):
        known["inference"] = "True"
    known.pop("steps", None)
    for name, value in known.items():
        recorder.declare(_MEANINGS.get(name, name), value)


def _convert_mxnet_arguments(known: dict[str, str]) -> None:
    """MXNet's batch size is that of all GPUs, and its ``gpus`` a list of them."""
    known["gpus"] = str(len(known.get("gpus", "").strip("[] ").split(",")))
    if "batch_size" in known:
        known["global_batch_size"] = known.pop("batch_size")
