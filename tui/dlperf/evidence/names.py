"""Guess GPUs, batch size, precision, framework, model and run number from the path of a log; a person confirms them.

Conventions of the public reports: PaddlePaddle/Perf (``PaddleClas_ResNet50_bs256_fp32_DP_N1C8_log``: N nodes, C GPUs
over all nodes; ``tf_gpu8_amp_bs256.txt``; ``Deeplabv3_FP32_BS4-N8.log``: 8 GPUs) and DLPerf
(``4n8g/r50_b128_fp32_1.log``: 4 nodes of 8 GPUs, 128 samples per GPU, run 1). A letter and a number alone mean too much
else: C4 is a data set, C500 and B200 are accelerators.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path, PurePath
from typing import Any, TypeVar

from dlperf.errors import RequestError

Fact = TypeVar("Fact")

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
FRAMEWORKS: dict[str, str] = _DATA["frameworks"]
"""Framework → pattern of the whole word in a path that names it."""
MODELS: dict[str, str] = _DATA["models"]
"""Model → pattern of a part of a path that names it."""

_SUFFIX = re.compile(r"(\.gz|\.log|\.txt|_log)+$", re.IGNORECASE)
_SCALE = re.compile(r"(?<![a-z0-9])(\d{1,5})n(\d{1,3})g(?![a-z0-9])", re.IGNORECASE)
_NODES_CARDS = re.compile(r"(?<![a-z0-9])n(\d{1,5})c(\d{1,6})(?![a-z0-9])", re.IGNORECASE)
_GPUS = (
    re.compile(r"(?<![a-z0-9])gpus?(\d{1,6})(?![a-z0-9])", re.IGNORECASE),
    re.compile(r"bs\d+-n(\d{1,6})$", re.IGNORECASE),
)
_BATCH_SIZE = re.compile(r"(?<![a-z0-9])bs(\d{1,7})(?![a-z0-9])", re.IGNORECASE)
_PRECISION = re.compile(r"(?<![a-z0-9])(?:pure[-_])?(fp32|tf32|amp|bf16|fp16)(?![a-z0-9])", re.IGNORECASE)
_DLPERF = re.compile(r"(?P<model>[^_]+)_b(?P<batch_size>\d{1,7})_[a-z0-9]+_(?P<run>\d{1,6})", re.IGNORECASE)


@dataclass(frozen=True)
class NameFacts:
    """Facts read from a path; None where it has none or contradicts itself."""

    model: str | None = None
    framework: str | None = None
    precision: str | None = None
    batch_size: int | None = None
    """Per GPU."""
    gpus: int | None = None
    """Over all nodes."""
    nodes: int | None = None
    run: int | None = None

    @property
    def gpus_per_node(self) -> int | None:
        return self.gpus // self.nodes if self.gpus and self.nodes and self.gpus % self.nodes == 0 else None

    def over(self, others: NameFacts) -> NameFacts:
        """Return these facts, and those of others where these have none."""
        return NameFacts(*(getattr(self, each.name) or getattr(others, each.name) for each in fields(self)))

    @property
    def words(self) -> NameFacts:
        """Model, framework and run number: what a name says without a number that may mean something else."""
        return NameFacts(model=self.model, framework=self.framework, run=self.run)

    @property
    def described(self) -> str:
        """The numbers and the precision, for people."""
        counts = (("GPUs", self.gpus), ("nodes", self.nodes), ("batch size", self.batch_size))
        words = [f"{name} {count}" for name, count in counts if count]
        return ", ".join([*words, *([f"precision {self.precision}"] if self.precision else [])])


def facts_of_name(path: str | PurePath) -> NameFacts:
    """Read the facts from a log's file name, else from the names of its folders."""
    parts = _parts(PurePath(path))
    nodes, gpus = _scale(parts)
    dlperf = _DLPERF.fullmatch(parts[0])
    sized = [dlperf["batch_size"]] if dlperf else []
    return NameFacts(
        model=_named(parts, MODELS) or (dlperf["model"].lower() if dlperf else None),
        framework=_framework(parts),
        precision=_only(match[1].lower() for match in _PRECISION.finditer(parts[0])),
        batch_size=_only(int(number) for number in (*_BATCH_SIZE.findall(parts[0]), *sized)),
        gpus=gpus,
        nodes=nodes,
        run=int(dlperf["run"]) if dlperf else None,
    )


def _parts(path: PurePath) -> list[str]:
    """Return the file name without suffixes, then the folders from the inside out."""
    return [_SUFFIX.sub("", path.name), *reversed(path.parent.parts)]


def _scale(parts: list[str]) -> tuple[int | None, int | None]:
    """Return nodes, and GPUs over all of them."""
    if match := _NODES_CARDS.search(parts[0]):
        return int(match[1]), int(match[2])
    for part in parts:
        if match := _SCALE.search(part):
            return int(match[1]), int(match[1]) * int(match[2])
    gpus = _only(int(match[1]) for pattern in _GPUS for match in pattern.finditer(parts[0]))
    return (1 if gpus == 1 else None), gpus


def _framework(parts: list[str]) -> str | None:
    for part in parts:
        for word in re.split(r"[-_.\s]+", part):
            for framework, pattern in FRAMEWORKS.items():
                if re.fullmatch(pattern, word, re.IGNORECASE):
                    return framework
    return None


def _named(parts: list[str], names: dict[str, str]) -> str | None:
    for part in parts:
        for name, pattern in names.items():
            if re.search(rf"(?<![a-z])({pattern})", part, re.IGNORECASE):
                return name
    return None


def _only(found: Iterator[Fact]) -> Fact | None:
    facts = set(found)
    return facts.pop() if len(facts) == 1 else None


_NUMBER, _WORD = r"[0-9]{1,9}", r"[^/]+?"
_FIELDS = {
    "nodes": _NUMBER,
    "gpus": _NUMBER,
    "gpus_total": _NUMBER,
    "batch_size": _NUMBER,
    "run": _NUMBER,
    "model": _WORD,
    "framework": _WORD,
    "precision": _WORD,
}
"""Field of a pattern → its expression; ``gpus`` is per node."""


@dataclass(frozen=True)
class PathPattern:
    """A ``--map`` pattern."""

    expression: re.Pattern[str]

    def facts(self, path: str) -> NameFacts | None:
        """Return the facts in a path, or None where its end does not match."""
        match = self.expression.search(path)
        return _facts(match.groupdict()) if match else None


def parse_pattern(text: str) -> PathPattern:
    """Parse ``{nodes}n{gpus}g/{model}_b{batch_size}_*.log``: fields in braces, ``*`` for anything within one name.

    Raises:
        RequestError: an unknown or repeated field, or an empty pattern.
    """
    if not text.strip("/"):
        raise RequestError("--map: the pattern is empty")
    names = re.findall(r"\{([^{}]*)\}", text)
    for name in names:
        if name not in _FIELDS or names.count(name) > 1:
            raise RequestError(f"--map: {{{name}}} is unknown or named twice: choose {', '.join(_FIELDS)}")
    expression = re.sub(r"\\\{(\w+)\\\}|\\\*", _group, re.escape(text.strip("/")))
    return PathPattern(re.compile(f"(?:^|/){expression}$"))


def _group(token: re.Match[str]) -> str:
    return f"(?P<{token[1]}>{_FIELDS[token[1]]})" if token[1] else "[^/]*"


def _facts(found: dict[str, str]) -> NameFacts:
    facts: dict[str, Any] = {
        name: int(text) if _FIELDS[name] == _NUMBER else text.lower() for name, text in found.items()
    }
    gpus, total = facts.pop("gpus", None), facts.pop("gpus_total", None)
    if total is None and gpus is not None:
        total = gpus * (facts.get("nodes") or 1)
    return NameFacts(**facts, gpus=total)
