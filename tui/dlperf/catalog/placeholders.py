"""Names in braces that commands, arguments and environment values may hold.

``{name}`` is replaced, ``{{name}}`` stands for the text ``{name}``; any other brace is plain text, so that
JSON and awk programs need no escaping.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

PLACEHOLDERS = {
    "batch_size": "samples per GPU and step",
    "global_batch_size": "samples per step over all GPUs",
    "node_batch_size": "samples per step on one node",
    "precision": "fp32, tf32, amp, bf16 or fp16",
    "gpus": "GPUs per node",
    "gpus_total": "GPUs over all nodes",
    "gpu_list": "0,1,… on one node",
    "nodes": "number of nodes",
    "steps": "steps that the protocol asks for (skip + take)",
    "skip_steps": "steps that the protocol drops",
    "take_steps": "steps that the protocol measures",
    "files": "folder on the node that holds the recipe's files",
    "ranks": "folder on the node for logs that a launcher writes per rank",
    "node_rank": "0 … nodes-1, known when a trial starts",
    "master_address": "address of node 0, known when a trial starts",
    "master_port": "a free port of node 0, known when a trial starts",
    "hosts": "addresses of the nodes, comma-separated",
}
"""Names that a command, an argument or an environment value may hold in braces; also ``{data.ID}``."""

RUNTIME = frozenset({"files", "ranks", "node_rank", "master_address", "master_port"})
"""Those that only a starting trial knows."""

_NAME = r"[a-z_][a-z0-9_.-]*"
_PLACEHOLDER = re.compile(rf"\{{\{{{_NAME}\}}\}}|\{{({_NAME})\}}")


def names_in(text: str) -> Iterator[str]:
    """The placeholders of a text, in order."""
    return (match[1] for match in _PLACEHOLDER.finditer(text) if match[1])


def unknown_names(text: str) -> list[str]:
    """The placeholders that nobody can fill."""
    return [name for name in names_in(text) if name not in PLACEHOLDERS and not name.startswith("data.")]


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace what is known; the rest, and escaped names, stay for ``finish``.

    A value is data: braces in it are escaped, so that ``finish`` gives it back as it was.
    """
    return _PLACEHOLDER.sub(lambda match: _escape(values[match[1]]) if match[1] in values else match[0], text)


def finish(text: str, values: Mapping[str, str]) -> str:
    """Replace everything that is left, and take the escapes away.

    Raises:
        KeyError: a placeholder has no value.
    """
    return _PLACEHOLDER.sub(lambda match: values[match[1]] if match[1] else match[0][1:-1], text)


def _escape(value: str) -> str:
    return _PLACEHOLDER.sub(lambda match: "{" + match[0] + "}", value)
