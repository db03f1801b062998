"""The machine and the software on which a group of configurations ran."""

import re
from collections.abc import Mapping, Sequence

from dlperf.evidence.facts import LIBRARIES
from dlperf.messages import N_
from dlperf.report.evidence import TrialEvidence
from dlperf.report.machine import format_fact
from dlperf.report.pages.page import Page
from dlperf.report.views import TableView
from dlperf.table.conditions import merged
from dlperf.table.model import ConfigurationResult

DEVICE = re.compile(r"\.[0-9]+(\.|$)")
"""Matches the name of a fact of one of several devices: ``gpus.0.name``."""
OF_THE_MOMENT = re.compile(r"boot_id|machine_id|.*\.(?:utilization_percent|memory_used_mib)")
"""Matches facts that change from moment to moment, or name the machine without a description."""
OF_THE_MACHINE = {"cudnn": N_("cuDNN of the machine"), "nccl": N_("NCCL of the machine")}
"""Names of libraries of which programs may have loaded other versions."""
LOCK = ".lock"
MAIN_PACKAGES = re.compile(
    r"(torch|torchao|torchvision|torchtitan|jax|jaxlib|flax|maxtext|triton|transformers|accelerate|lightning|litgpt"
    r"|timm|open-clip-torch|megatron-core|nemo-automodel|ai2-olmo-core|transformer[-_]engine)==([^\s;]+)"
)
"""Matches a requirement that names a framework, a stack or what computes for it."""


def loaded(page: Page, results: Sequence[ConfigurationResult]) -> TableView:
    """Return the versions of the libraries that the programs loaded: the machine may have others."""
    return page.facts((page.fact(name), value) for name, value in merged(results).items() if name.startswith(LIBRARIES))


def environments(page: Page, evidence: Mapping[tuple[str, int], TrialEvidence]) -> list[dict[str, object]]:
    """Return the environment of one trial and, for the others, the differences."""
    shown: list[Mapping[str, str]] = []
    probed = []
    for (_, number), found in sorted(evidence.items(), key=lambda item: item[0]):
        facts = _stable_facts(found)
        if facts and facts not in shown:
            news = _changed(facts, shown[0]) if shown else facts
            shown.append(facts)
            rows = [
                (page._(OF_THE_MACHINE.get(name, "")) or page.fact(name), format_fact(name, value))
                for name, value in news.items()
                if not DEVICE.search(name)
            ]
            devices = "\n".join(f"{name}: {value}" for name, value in news.items() if DEVICE.search(name))
            probed.append({"node": found.node, "trial": number, "facts": page.facts(rows), "devices": devices})
    return probed


def _stable_facts(found: TrialEvidence) -> dict[str, str]:
    """Return the framework's version as logged, the main packages, and the facts probed on the machine."""
    printed = {name: value for name, value in found.timeline.declared.items() if name == "framework_version"}
    probed = {name: value for name, value in found.environment.items() if not OF_THE_MOMENT.fullmatch(name)}
    return {**printed, **_versions(found), **probed} if probed else {}


def _changed(facts: Mapping[str, str], before: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in facts.items() if before.get(name) != value}


def _versions(found: TrialEvidence) -> dict[str, str]:
    """Return the versions of the main packages: of the node's Python, replaced by those that the trial installed."""
    known = {}
    for name, value in found.environment.items():
        if name.startswith("packages.") and (package := MAIN_PACKAGES.match(value)):
            known[package[1]] = package[2]
    for file in found.sent:
        if file.name.endswith(LOCK):
            lines = map(MAIN_PACKAGES.match, file.read().decode("utf-8", "replace").splitlines())
            known |= {line[1]: f"{line[2]} ({file.name})" for line in lines if line}
    return dict(sorted(known.items()))
