"""Identify the run of a log from command-line options, its content and its path. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from dlperf.evidence.names import NameFacts, facts_of_name
from dlperf.formats.samples import Metadata
from dlperf.plan import Configuration

USUAL_GPUS_PER_NODE = 8
"""A log of at most this many GPUs is assumed to be of one node."""

_OPTIONS = {
    "framework": "--framework",
    "model": "--case",
    "precision": "--precision",
    "batch_size": "--batch-size",
    "gpus": "--gpus",
    "nodes": "--gpus-per-node",
}
"""Fact → the option that states it."""


@dataclass(frozen=True)
class Identity:
    """The facts about a log's run."""

    facts: NameFacts
    missing: tuple[str, ...] = ()
    """Unknown facts, each with the option that states it."""
    notes: tuple[str, ...] = ()
    """Contradictions between the sources, and assumptions."""

    def configuration(self, hardware: str) -> Configuration | None:
        """Return the configuration; None if a fact is missing."""
        known = self.facts
        if self.missing or known.batch_size is None or not (known.gpus and known.nodes):
            return None
        framework, case, precision = (
            catalog_id(name or "") for name in (known.framework, known.model, known.precision)
        )
        return Configuration(
            hardware, framework, case, precision, known.batch_size, known.nodes, known.gpus // known.nodes
        )


def identify(
    metadata: Metadata,
    named: Iterable[NameFacts],
    given: NameFacts,
    gpus_per_node: int | None = None,
    hardware: tuple[int, int] | None = None,
) -> Identity:
    """Merge the facts: options come first, then what the log declares, then its path.

    A known name of a model or framework comes before an unknown one.

    Args:
        metadata: what the log declares.
        named: facts of its path, the most trusted first.
        given: facts from options.
        gpus_per_node: from an option, to derive the nodes where only GPUs are known.
        hardware: nodes and GPUs per node of the hardware's entry; None for a name that has none. The logs may be of
            other nodes with the same GPUs, so that few GPUs are still assumed to be of one node.
    """
    named = tuple(named)
    spelled = [("log", _declared(metadata, named, given.gpus)), *(("name", facts) for facts in named)]
    sources = [("given", given), *((source, _recognised(facts)) for source, facts in spelled), *spelled]
    facts, notes = _joined(sources)
    facts = replace(facts, batch_size=facts.batch_size or _batch_size_per_gpu(metadata, facts.gpus))
    if facts.batch_size is None and metadata.global_batch_size and facts.gpus:
        facts = replace(facts, batch_size=0)
    facts, more = _with_nodes(facts, gpus_per_node, hardware)
    missing = tuple(
        f"{fact.replace('model', 'case').replace('_', ' ')} (give {option})"
        for fact, option in _OPTIONS.items()
        if not catalog_id(str("" if getattr(facts, fact) is None else getattr(facts, fact)))
    )
    return Identity(facts, missing, (*notes, *more))


def catalog_id(text: str) -> str:
    """Convert ``text`` to an id of the catalogue: small letters, digits, ``.`` and ``-``."""
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")[:63].rstrip("-.")


def _batch_size_per_gpu(metadata: Metadata, gpus: int | None) -> int | None:
    """Return the batch size that a log declares for one GPU, or for all ``gpus`` together."""
    total = metadata.global_batch_size
    implied = total // gpus if total and gpus and total % gpus == 0 else None
    return metadata.batch_size or implied


def _gpus_over_all_nodes(metadata: Metadata, named: Iterable[NameFacts]) -> int | None:
    """Return the GPUs that a log declares; a count that its name gives for each of several nodes is of one node."""
    for facts in named:
        if facts.nodes and facts.nodes > 1 and metadata.gpus == facts.gpus_per_node:
            return facts.gpus
    return metadata.gpus


def _declared(metadata: Metadata, named: Iterable[NameFacts], given_gpus: int | None) -> NameFacts:
    return NameFacts(
        model=metadata.model,
        framework=metadata.framework,
        precision=metadata.precision,
        batch_size=_batch_size_per_gpu(metadata, given_gpus or metadata.gpus),
        gpus=_gpus_over_all_nodes(metadata, named),
    )


def _recognised(facts: NameFacts) -> NameFacts:
    """Return the facts with known names of model and framework only."""
    return replace(
        facts, model=facts_of_name(facts.model or "").model, framework=facts_of_name(facts.framework or "").framework
    )


def _joined(sources: list[tuple[str, NameFacts]]) -> tuple[NameFacts, list[str]]:
    """Take each fact from the first source that has it, and note later ones that contradict it.

    A source that contradicts the first on GPUs is not asked for nodes.
    """
    chosen: dict[str, Any] = {}
    notes = []
    gpus = next((facts.gpus for _, facts in sources if facts.gpus), None)
    agreed = [facts if facts.gpus in (None, gpus) else replace(facts, nodes=None) for _, facts in sources]
    sources = [(source, facts) for (source, _), facts in zip(sources, agreed, strict=True)]
    for field in fields(NameFacts):
        stated = [(source, getattr(facts, field.name)) for source, facts in sources]
        stated = [(source, value) for source, value in stated if value is not None]
        if stated:
            chosen[field.name] = stated[0][1]
            notes += _contradictions(field.name, stated)
    return NameFacts(**chosen), notes


def _contradictions(fact: str, stated: list[tuple[str, object]]) -> list[str]:
    """Compare numbers and precisions; models and frameworks are spelled in many ways."""
    if fact in ("model", "framework", "run"):
        return []
    (first, value), *others = stated
    words = fact.replace("_", " ")
    different = [(source, other) for source, other in dict.fromkeys(others) if other != value]
    return [f"{words}: {first} says {value}, {source} says {other}" for source, other in different]


def _with_nodes(
    facts: NameFacts, stated: int | None, hardware: tuple[int, int] | None
) -> tuple[NameFacts, tuple[str, ...]]:
    if facts.gpus is None or (facts.nodes and facts.gpus % facts.nodes == 0):
        return facts, ()
    wrong = (f"nodes: {facts.nodes} do not divide {facts.gpus} GPUs",) if facts.nodes else ()
    if facts.gpus == 1:
        return replace(facts, nodes=1), wrong
    nodes = _nodes_by_option(facts.gpus, stated) if stated else _assumed_nodes(facts.gpus, hardware)
    assumed = (f"nodes: {nodes} assumed for {facts.gpus} GPUs",) if nodes and not stated else ()
    return replace(facts, nodes=nodes), (*wrong, *assumed)


def _nodes_by_option(gpus: int, per_node: int) -> int | None:
    if gpus <= per_node:
        return 1
    return gpus // per_node if gpus % per_node == 0 else None


def _assumed_nodes(gpus: int, hardware: tuple[int, int] | None) -> int | None:
    """Few GPUs are of one node, more fill nodes of the hardware; None where it has not so many."""
    nodes, per_node = hardware or (0, 0)
    if gpus <= max(per_node, USUAL_GPUS_PER_NODE):
        return 1
    return gpus // per_node if gpus <= nodes * per_node and gpus % per_node == 0 else None
