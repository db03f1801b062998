"""What programs that use DLLogger declare: DLLogger's own PARAMETER events, and what their shell scripts echo."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dlperf.formats.declared import metadata_rule
from dlperf.formats.parser import Rule
from dlperf.formats.recorder import Recorder

_SEPARATOR = re.compile(r" +(?=[\w.]+ : )")
_NAMESPACE = re.compile(r"\b(\w+)=('[^']*'|[^,()\]]+)")

_ECHOED = {
    "gpus": (rb"Num GPUs (\d+)", rb"^\+ num_gpus=(\d+)$"),
    "batch_size": (rb"Per-GPU Batch Size (\d+)", rb"^\+ batch_size=(\d+)$", rb"  Batch size = (\d+)"),
    "precision": (rb"^\+ precision=(fp32|tf32|bf16)$",),
    "amp": (rb"^\+ precision=fp(1)6$",),
    "accumulation_steps": (rb"^\+ num_accumulation_steps_phase1=(\d+)$", rb"^\+ gradient_accumulation_steps=(\d+)$"),
    "framework": (rb"^INFO:(tensorflow):",),
}
"""NVIDIA's scripts call mixed precision fp16: they pass --amp or --fp16 for it."""

_MEANINGS = {
    "arch": "model",
    "world_size": "gpus",
    "batch_size_per_gpu": "batch_size",
    "dtype": "precision",
    "gradient_accumulation_steps": "accumulation_steps",
}
_FRAMEWORKS = {"kv_store": "mxnet", "iter_unit": "tensorflow", "raport_file": "pytorch", "local_rank": "pytorch"}
"""Arguments that only one framework's programs have."""
_INFERENCE = ("inference_benchmark", "evaluate", "predict", "val", "pred", "eval_only", "RunScope.EVAL_ONLY")
"""Values of ``mode`` and ``run_scope`` with which programs print another speed than training's under the same name."""


class Parameters:
    """Hears the arguments of the program."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def rules(self) -> list[Rule]:
        """What is declared outside of DLLogger's lines."""
        return [
            metadata_rule(self._recorder, name, re.compile(pattern))
            for name, patterns in _ECHOED.items()
            for pattern in patterns
        ]

    def read(self, data: bytes) -> None:
        """``name : value  name : value …``; the value of ``Config`` is an argparse namespace."""
        pairs = [pair.partition(" : ") for pair in _SEPARATOR.split(data.decode("utf-8", "replace").strip())]
        arguments = {name: value.strip() for name, _, value in pairs if value}
        if "Namespace(" in arguments.get("Config", ""):
            arguments = {name: value.strip("'") for name, value in _NAMESPACE.findall(arguments["Config"])}
        self.hear(arguments)

    def hear(self, arguments: Mapping[str, str]) -> None:
        """Arguments by name, with what they mean for this framework."""
        known = dict(arguments)
        if "kv_store" in known:
            _read_mxnet(known)
        if known.get("fp16") == "True":
            known["amp"] = "True"
        for name, framework in _FRAMEWORKS.items():
            if name in known:
                known["framework"] = framework
        if any(known.get(name) in _INFERENCE for name in ("mode", "run_scope")):
            known["inference"] = "True"
        known.pop("steps", None)
        for name, value in known.items():
            self._recorder.hear(_MEANINGS.get(name, name), value)


def _read_mxnet(known: dict[str, str]) -> None:
    """MXNet's batch size is that of all GPUs, and its ``gpus`` a list of them."""
    known["gpus"] = str(len(known.get("gpus", "").strip("[] ").split(",")))
    if "batch_size" in known:
        known["global_batch_size"] = known.pop("batch_size")
