"""What a log declares of a run, as it says it → what it means."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from dlperf.formats.samples import Metadata

FIELDS = frozenset(
    {
        "gpus",
        "gpus_per_node",
        "gpu_list",
        "all_gpus",
        "nodes",
        "node_list",
        "batch_size",
        "global_batch_size",
        "accumulation_steps",
        "precision",
        "amp",
        "pure_fp16",
        "model",
        "framework",
        "steps",
        "inference",
    }
)
"""Names with a meaning; a declaration of any other name is kept among the run's arguments.

``gpu_list`` (of one node), ``all_gpus`` and ``node_list`` are comma-separated lists whose entries are counted.
``accumulation_steps``: batches of one GPU that make up one step, where the program counts the optimizer's steps.
``amp``, ``pure_fp16`` and ``inference`` (the run is no training) are switches. ``steps`` is the number of the last
step of a complete run.
"""

ARGUMENT_LIMIT = 400
"""Arguments kept of a run: a configuration of any size must not grow the memory."""

_PRECISIONS = {
    "fp32": "fp32",
    "float32": "fp32",
    "tf32": "tf32",
    "amp": "amp",
    "fp16": "fp16",
    "float16": "fp16",
    "bf16": "bf16",
    "bfloat16": "bf16",
}


def metadata(declared: Mapping[str, str]) -> Metadata:
    """What declarations say of a run; what none of them says stays None."""
    gpus = _gpus(declared)
    batch_size, global_batch_size = _count(declared, "batch_size"), _count(declared, "global_batch_size")
    if gpus and batch_size and not global_batch_size:
        global_batch_size = gpus * batch_size * (_count(declared, "accumulation_steps") or 1)
    if gpus and global_batch_size and not batch_size and global_batch_size % gpus == 0:
        batch_size = global_batch_size // gpus
    return Metadata(
        gpus=gpus,
        batch_size=batch_size,
        global_batch_size=global_batch_size,
        precision=_precision(declared),
        model=declared.get("model"),
        framework=declared.get("framework"),
        arguments={name: text for name, text in declared.items() if name not in FIELDS},
    )


def is_inference(declared: Mapping[str, str]) -> bool:
    """Whether the log says that the run trains nothing."""
    return _on(declared, "inference")


def last_step(declared: Mapping[str, str]) -> float:
    """Number of the step that a complete run ends with; infinite where it is not declared."""
    return float(_count(declared, "steps") or inf)


def _gpus(declared: Mapping[str, str]) -> int | None:
    gpus = _count(declared, "gpus") or _length(declared, "all_gpus")
    if gpus is not None:
        return gpus
    per_node = _count(declared, "gpus_per_node") or _length(declared, "gpu_list")
    nodes = _count(declared, "nodes") or _length(declared, "node_list")
    return per_node * nodes if per_node and nodes else None


def _precision(declared: Mapping[str, str]) -> str | None:
    """Mixed precision is a switch beside the data type: ``dtype float32, amp True`` is amp."""
    if _on(declared, "pure_fp16"):
        return "fp16"
    if _on(declared, "amp"):
        return "amp"
    stated = _PRECISIONS.get(declared.get("precision", "").lower())
    return stated or ("fp32" if "amp" in declared else None)


def _on(declared: Mapping[str, str], name: str) -> bool:
    return declared.get(name, "").lower() in ("true", "1", "on", "yes")


def _count(declared: Mapping[str, str], name: str) -> int | None:
    text = declared.get(name, "")
    count = int(text) if text.isdecimal() and len(text) < 10 else 0
    return count or None


def _length(declared: Mapping[str, str], name: str) -> int | None:
    text = declared.get(name)
    return None if text is None else len([entry for entry in text.split(",") if entry.strip()])
