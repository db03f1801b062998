"""Read the layout in which MLCommons publishes the results of MLPerf Training.

``<submitter>/results/<system>/<benchmark>/result_*.txt`` are the logs of a system that
``<submitter>/systems/<system>.json`` describes.
"""

from codecs import BOM_UTF8
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dlperf.catalog.hardware import UNSTATED
from dlperf.evidence.facts import flattened
from dlperf.evidence.log_table import LogRow
from dlperf.evidence.names import NameFacts
from dlperf.opening import read_bytes
from dlperf.runs.bounded import load_json

PROTOCOL = "mlperf"
OWN_PROTOCOLS = {"unet3d": "mlperf-unet3d"}
"""Benchmark → its own protocol."""
_NONE: Mapping[str, Any] = MappingProxyType({})
_OTHERWISE = ("number_of_nodes", "accelerators_per_node")
"""Facts that are axes of a configuration."""
_FRAMEWORKS = ("NeMo", "HugeCTR", "DGL", "LLMBoost", "MXNet", "PyTorch")
"""As the descriptions of systems name them, the one that is built on another first."""


def row_of_result(log: Path) -> LogRow | None:
    """Return what the description of its system says of a log in that layout; None for any other log."""
    if not _is_in_layout(log):
        return None
    system = _system(log.parents[3] / "systems" / f"{log.parts[-3]}.json")
    nodes, per_node = (_count(system.get(name)) for name in _OTHERWISE[:2])
    if nodes is None or per_node is None:
        return None
    facts = NameFacts(None, _framework(str(system.get("framework"))), UNSTATED, gpus=nodes * per_node, nodes=nodes)
    stated = {name: fact for name, fact in system.items() if name not in _OTHERWISE}
    path, conditions = "/".join(log.parts[-5:]), dict(flattened(stated))
    protocol = OWN_PROTOCOLS.get(log.parts[-2], PROTOCOL)
    return LogRow(facts, hardware=log.parts[-3], path=path, protocol=protocol, conditions=conditions)


def is_result(log: Path) -> bool:
    """Return whether that layout names a file as the log of a run."""
    return _is_in_layout(log) and log.name.startswith("result_")


def undescribed(log: Path) -> str:
    """Return that the system of such a log is not described; nothing of any other log."""
    if not is_result(log) or row_of_result(log):
        return ""
    return "; no JSON file of its system under systems/ states nodes and accelerators"


def _is_in_layout(log: Path) -> bool:
    return len(log.parts) > 4 and log.parts[-4] == "results"


@cache
def _system(path: Path) -> Mapping[str, Any]:
    with suppress(OSError, ValueError):
        found = load_json(read_bytes(path).removeprefix(BOM_UTF8))
        return found if isinstance(found, dict) else _NONE
    return _NONE


def _framework(stated: str) -> str:
    """Return the framework where one is stated; some descriptions list those of all their benchmarks."""
    named = [name for name in _FRAMEWORKS if name.lower() in stated.lower()]
    return named[0] if len(named) == 1 or named == ["NeMo", "PyTorch"] else "several frameworks"


def _count(value: object) -> int | None:
    return int(str(value)) if str(value).isdecimal() and 0 < int(str(value)) < 10**6 else None
