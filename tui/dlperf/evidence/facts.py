"""The conditions of a trial by dotted name: machine, GPUs, program files, and the libraries that were loaded. Pure.

``gpu.uuid``, ``gpu.vbios``, ``driver``, ``programs.<file>`` (SHA-256), ``packages`` (SHA-256), ``libraries.nccl``,
``modules.cuda`` and so on; what is not recorded is absent. Several values, of several nodes or GPUs, are joined by a
comma.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

LIBRARIES = "libraries."
"""How the names of the versions begin that a program loaded."""

OF_A_MACHINE = (
    *("os", "kernel", "architecture", "cpu.model", "cpu.threads", "cpu.usable", "python", "driver"),
    *("driver_cuda", "cuda", "rocm", "container.image", "container.digest"),
)

OF_A_GPU = (
    *("name", "vbios", "power_limit_watts", "max_sm_clock_mhz", "max_memory_clock_mhz"),
    *("application_sm_clock_mhz", "application_memory_clock_mhz", "ecc_mode"),
)

MACHINE = "machine"
"""Only without GPUs, which name it better: its id, or its host's name, hashed."""

LONGEST = 2000
"""Characters of a fact, which is whatever a node wrote."""

PRINTED = ("framework_version", "compiled")
"""Arguments of a log that are conditions of its trial."""
PRINTED_NCCL = re.compile(rb"NCCL version ([0-9][0-9.]{0,20})")


@dataclass(frozen=True)
class NodeFacts:
    """What a node recorded for a trial."""

    environment: Mapping[str, Any] = field(default_factory=dict)
    """``environment.json``."""
    libraries: Mapping[str, Any] = field(default_factory=dict)
    """Library → versions, of ``exit.json``."""
    modules: Mapping[str, Any] = field(default_factory=dict)
    """The same of environment modules."""
    driver_errors: tuple[Mapping[str, Any], ...] = ()
    """That the kernel's log holds from the time of the trial."""
    gpus: frozenset[str] = frozenset()
    """Indices of the trial's GPUs; all of the machine if empty."""


def conditions_of(
    nodes: Sequence[NodeFacts], programs: Mapping[str, str], printed: Mapping[str, str]
) -> dict[str, str]:
    """Return the conditions of a trial.

    Args:
        programs: file → SHA-256 of what was sent.
        printed: what the log itself says; it wins over what was probed.
    """
    found: dict[str, dict[str, None]] = {}
    for name, value in (pair for node in nodes for pair in _facts(node)):
        found.setdefault(name, {})[value] = None
    joined = {name: ", ".join(values) for name, values in found.items()}
    return joined | {f"programs.{file}": digest for file, digest in sorted(programs.items())} | dict(printed)


def _facts(node: NodeFacts) -> Iterator[tuple[str, str]]:
    # none of them is in a list, such as that of the packages
    known = dict(flattened({name: fact for name, fact in node.environment.items() if not isinstance(fact, list)}))
    yield from ((name, known[name]) for name in OF_A_MACHINE if name in known)
    listed = node.environment.get("gpus")
    gpus = [dict(flattened(gpu)) for gpu in listed if isinstance(gpu, Mapping)] if isinstance(listed, list) else []
    for gpu in gpus:
        if not node.gpus or gpu.get("index") in node.gpus:
            yield from ((f"gpu.{name}", gpu[name]) for name in ("uuid", *OF_A_GPU) if name in gpu)
    if not gpus and (machine := _machine(known)):
        yield MACHINE, machine
    packages = node.environment.get("packages")
    if isinstance(packages, list):
        yield "packages", sha256("\n".join(map(str, packages)).encode()).hexdigest()
    for name, version in flattened(node.libraries):
        yield f"{LIBRARIES}{name.partition('.')[0]}", version
    for name, version in node.modules.items():
        yield f"modules.{name[:LONGEST]}", str(version)[:LONGEST]


def _machine(known: Mapping[str, str]) -> str | None:
    """Return what names a machine across its boots, or at least since its start."""
    host = known.get("hostname")
    hashed = sha256(f"dlperf {host}".encode()).hexdigest()[:32] if host else None
    return known.get("machine_id") or hashed or known.get("boot_id")


def flattened(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield nested facts as dotted names and text, except empty ones."""
    if isinstance(value, (Mapping, list)):
        members: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, member in members:
            yield from flattened(member, f"{name}.{key}" if name else str(key))
    elif value not in (None, ""):
        yield name, str(value)[:LONGEST]
