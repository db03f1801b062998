"""Facts probed on a node, as reports show them."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from dlperf.catalog.hardware import Hardware
from dlperf.messages import N_, Language

GPU_NAME = re.compile(r"gpus\.[0-9]+\.name")
GIB = 2.0**30
AMOUNTS = ("_mhz", "_watts", "_mib")
"""How the names of facts that are numbers end."""


@dataclass(frozen=True)
class Probed:
    """The environment of one trial."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """Facts of ``environment.json`` by dotted name."""
    declared: Mapping[str, str] = field(default_factory=dict)
    """Facts that the log prints."""
    topology: str = ""
    pinned: str = ""
    """Version of a training stack that its lock names; what it prints may be that of the framework below it."""

    @property
    def framework_version(self) -> str:
        """Return the version that was pinned or that the program printed; empty if neither."""
        return self.pinned or self.declared.get("framework_version", "")


def machine_facts(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the known facts by the msgid of their name."""
    gpus = Counter(value for name, value in environment.items() if GPU_NAME.fullmatch(name))
    facts = {
        N_("System"): " ".join(filter(None, (environment.get("os"), _linux(environment.get("kernel"))))),
        N_("CPU"): _cpu(environment),
        N_("Processor cores"): _share_of_cores(environment),
        N_("Memory"): _memory(environment.get("memory_bytes")),
        N_("GPUs in the machine"): ", ".join(f"{count} × {name}" for name, count in gpus.items()),
        N_("GPU memory"): _with_unit(environment.get("gpus.0.memory_mib"), "MiB"),
        N_("Power limit of a GPU"): _with_unit(environment.get("gpus.0.power_limit_watts"), "W"),
        N_("Driver"): environment.get("driver", ""),
        N_("CUDA"): environment.get("cuda", ""),
        N_("cuDNN of the machine"): environment.get("cudnn", ""),
        N_("NCCL of the machine"): environment.get("nccl", ""),
        N_("Python"): environment.get("python", ""),
        N_("Image"): environment.get("container.image", ""),
        N_("Image digest"): environment.get("container.digest", ""),
    }
    return {name: value for name, value in facts.items() if value}


def format_fact(name: str, value: str) -> str:
    """Format a fact of ``environment.json`` for people."""
    if name.endswith(AMOUNTS):
        return _amount(value)
    return _memory(value) or value if name == "memory_bytes" else value


def _cpu(environment: Mapping[str, str]) -> str:
    model, threads = environment.get("cpu.model", ""), environment.get("cpu.threads", "")
    return f"{model} × {threads}" if model and threads else model


def _share_of_cores(environment: Mapping[str, str]) -> str:
    """Return which part of the CPUs the trial was held to, as by taskset; empty where it had all, or it is unknown."""
    usable, threads = environment.get("cpu.usable", ""), environment.get("cpu.threads", "")
    return f"{usable} / {threads}" if usable and usable != threads else ""


def _memory(size: str | None) -> str:
    return f"{int(size) / GIB:.0f} GiB" if size and size.isdecimal() else ""


def _linux(kernel: str | None) -> str:
    return f"Linux {kernel}" if kernel else ""


def _with_unit(value: str | None, unit: str) -> str:
    return f"{_amount(value)} {unit}" if value else ""


def _amount(value: str) -> str:
    """Return a number with thousands separators and without decimals that say nothing; other text unchanged."""
    whole = value.removesuffix(".0")
    return f"{int(whole):,}" if whole.isdecimal() else value


def localize_facts(language: Language, entry: Hardware, facts: Mapping[str, str]) -> dict[str, str]:
    """Translate the facts of a machine that equal those of the catalogue."""
    if entry.zh is None or language.code != "zh":
        return dict(facts)
    chinese = {item: entry.zh.facts.get(item[0], item[1]) for item in entry.facts.items()}
    for begin, told in entry.told_later.items():
        chinese |= {item: entry.zh.told_later.get(begin, {}).get(item[0], item[1]) for item in told.items()}
    return {name: chinese.get((name, value), value) for name, value in facts.items()}
