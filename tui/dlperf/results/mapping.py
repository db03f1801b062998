"""``dlperf import --map``: a pattern that says where a path names the facts of its log. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from dlperf.errors import RequestError
from dlperf.results.names import NameFacts

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
"""``gpus`` is per node; a number of digits stands for a count, anything within one folder's name for a word."""

_TOKEN = re.compile(r"\{([^{}]*)\}|(\*)")


@dataclass(frozen=True)
class PathPattern:
    """A ``--map`` pattern, ready to be applied."""

    text: str
    expression: re.Pattern[str]

    def facts(self, path: str) -> NameFacts | None:
        """What the path says, or None where its end does not look like the pattern."""
        match = self.expression.search(path)
        return None if match is None else _facts(match.groupdict())


def parse_pattern(text: str) -> PathPattern:
    """``{nodes}n{gpus}g/{model}_b{batch_size}_{precision}_{run}.log``: names in braces, ``*`` for anything in one name.

    Raises:
        RequestError: an unknown or repeated name, or an empty pattern.
    """
    if not text.strip("/"):
        raise RequestError("--map: the pattern is empty")
    names = [match[1] for match in _TOKEN.finditer(text) if match[1] is not None]
    for name in names:
        if name not in _FIELDS or names.count(name) > 1:
            raise RequestError(f"--map: {{{name}}} is unknown or named twice: choose {', '.join(_FIELDS)}")
    return PathPattern(text, re.compile(f"(?:^|/){_expression(text.strip('/'))}$"))


def _expression(text: str) -> str:
    parts, end = [], 0
    for match in _TOKEN.finditer(text):
        parts.append(re.escape(text[end : match.start()]))
        parts.append("[^/]*" if match[2] else f"(?P<{match[1]}>{_FIELDS[match[1]]})")
        end = match.end()
    return "".join((*parts, re.escape(text[end:])))


def _facts(found: dict[str, str]) -> NameFacts:
    facts = NameFacts(
        model=_word(found, "model"),
        framework=_word(found, "framework"),
        precision=_word(found, "precision"),
        batch_size=_count(found, "batch_size"),
        nodes=_count(found, "nodes"),
        run=_count(found, "run"),
    )
    if "gpus_total" in found:
        return replace(facts, gpus=int(found["gpus_total"]))
    return replace(facts, gpus=int(found["gpus"]) * (facts.nodes or 1)) if "gpus" in found else facts


def _word(found: dict[str, str], name: str) -> str | None:
    return found[name].lower() if name in found else None


def _count(found: dict[str, str], name: str) -> int | None:
    return int(found[name]) if name in found else None
