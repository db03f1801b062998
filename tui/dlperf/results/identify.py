"""Which configuration a log of somebody else's is: from what was said, from its content, and from its name. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from dlperf.formats.samples import Metadata
from dlperf.plan import Configuration
from dlperf.results.names import NameFacts, facts_of_name

USUAL_GPUS_PER_NODE = 8
"""A log of at most so many GPUs is taken for one machine's, where nothing says how many there are."""

_OPTIONS = {
    "framework": "--framework",
    "model": "--case",
    "precision": "--precision",
    "batch_size": "--batch-size",
    "gpus": "--gpus",
    "nodes": "--gpus-per-node",
}
"""Fact → the option that gives it where a log does not."""


@dataclass(frozen=True)
class Identity:
    """What is known of a log's run."""

    facts: NameFacts
    missing: tuple[str, ...] = ()
    """What nothing tells, each with the option that does."""
    notes: tuple[str, ...] = ()
    """Contradictions between the sources, and what was assumed."""

    def configuration(self, hardware: str) -> Configuration | None:
        """The point of the matrix; None while something is missing."""
        known = self.facts
        if self.missing or not (known.batch_size and known.gpus and known.nodes):
            return None
        framework, case, precision = (
            catalog_id(word or "") for word in (known.framework, known.model, known.precision)
        )
        return Configuration(
            hardware, framework, case, precision, known.batch_size, known.nodes, known.gpus // known.nodes
        )


def identify(
    metadata: Metadata, named: Iterable[NameFacts], given: NameFacts, gpus_per_node: int | None = None
) -> Identity:
    """Join the sources: what was given holds, else what the log declares, else what its path says.

    A model or framework that one source spells in its own way is looked for in the others first.

    Args:
        metadata: what the log declares.
        named: what its path says, the most trusted reading first.
        given: what the person who imports says.
        gpus_per_node: of the hardware, to tell nodes where only GPUs are known.
    """
    named = tuple(named)
    spelled = [("log", _declared(metadata, named)), *(("name", facts) for facts in named)]
    sources = [("given", given), *((source, _recognised(facts)) for source, facts in spelled), *spelled]
    facts, notes = _joined(sources)
    facts = replace(facts, batch_size=facts.batch_size or batch_size_per_gpu(metadata, facts.gpus))
    facts, more = _with_nodes(facts, gpus_per_node)
    missing = tuple(
        f"{fact.replace('model', 'case').replace('_', ' ')} (give {option})"
        for fact, option in _OPTIONS.items()
        if not catalog_id(str(getattr(facts, fact) or ""))
    )
    return Identity(facts, missing, (*notes, *more))


def catalog_id(text: str) -> str:
    """``text`` as an id of the catalogue: small letters, digits, ``.`` and ``-``."""
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")[:63].rstrip("-.")


def batch_size_per_gpu(metadata: Metadata, gpus: int | None) -> int | None:
    """What a log declares of it: as such, or over all GPUs, of which there are ``gpus``."""
    total = metadata.global_batch_size
    implied = total // gpus if total and gpus and total % gpus == 0 else None
    return metadata.batch_size or implied


def gpus_over_all_nodes(metadata: Metadata, named: Iterable[NameFacts]) -> int | None:
    """GPUs that a log declares; as many as its name says of each of several nodes are those of one node."""
    for facts in named:
        if facts.nodes and facts.nodes > 1 and metadata.gpus == facts.gpus_per_node:
            return facts.gpus
    return metadata.gpus


def _declared(metadata: Metadata, named: Iterable[NameFacts]) -> NameFacts:
    return NameFacts(
        model=metadata.model,
        framework=metadata.framework,
        precision=metadata.precision,
        batch_size=batch_size_per_gpu(metadata, metadata.gpus),
        gpus=gpus_over_all_nodes(metadata, named),
    )


def _recognised(facts: NameFacts) -> NameFacts:
    """Facts with the model and the framework under the names that we know them by, or without them."""
    return replace(
        facts,
        model=facts_of_name(facts.model or "").model,
        framework=facts_of_name(facts.framework or "").framework,
    )


def _joined(sources: list[tuple[str, NameFacts]]) -> tuple[NameFacts, list[str]]:
    """The first word on each fact, and every later word that contradicts it.

    Nodes are taken only from who says the same of GPUs, or nothing.
    """
    chosen: dict[str, Any] = {}
    notes = []
    gpus = next((facts.gpus for _, facts in sources if facts.gpus), None)
    agreed = [facts if facts.gpus in (None, gpus) else replace(facts, nodes=None) for _, facts in sources]
    sources = [(source, facts) for (source, _), facts in zip(sources, agreed, strict=True)]
    for field in fields(NameFacts):
        said = [(source, getattr(facts, field.name)) for source, facts in sources]
        said = [(source, value) for source, value in said if value is not None]
        if said:
            chosen[field.name] = said[0][1]
            notes += _contradictions(field.name, said)
    return NameFacts(**chosen), notes


def _contradictions(fact: str, said: list[tuple[str, object]]) -> list[str]:
    """``model`` and ``framework`` are spelled in many ways: only numbers and precisions can contradict."""
    if fact in ("model", "framework", "run"):
        return []
    (first, value), *others = said
    words = fact.replace("_", " ")
    different = [(source, other) for source, other in dict.fromkeys(others) if other != value]
    return [f"{words}: {first} says {value}, {source} says {other}" for source, other in different]


def _with_nodes(facts: NameFacts, gpus_per_node: int | None) -> tuple[NameFacts, tuple[str, ...]]:
    if facts.gpus is None or (facts.nodes and facts.gpus % facts.nodes == 0):
        return facts, ()
    wrong = (f"nodes: {facts.nodes} do not divide {facts.gpus} GPUs",) if facts.nodes else ()
    if facts.gpus <= (gpus_per_node or USUAL_GPUS_PER_NODE):
        assumed = () if facts.gpus == 1 or gpus_per_node else (f"nodes: 1 assumed for {facts.gpus} GPUs",)
        return replace(facts, nodes=1), (*wrong, *assumed)
    if gpus_per_node and facts.gpus % gpus_per_node == 0:
        return replace(facts, nodes=facts.gpus // gpus_per_node), wrong
    return replace(facts, nodes=None), wrong
