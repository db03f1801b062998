"""Fill the placeholders of a launch: the one function for it, wherever a value becomes known. Copied to nodes.

A name in braces, ``{batch_size}``, is what catalogue and program write; ``{{name}}`` is an escaped ``{name}``, and any
other brace is plain text, so that JSON and awk programs need no escaping. A mark stands in texts that are somebody
else's, such as lines of bash: ``[secret:TOKEN]`` for a secret, and ``port.dlperf.invalid`` for what a scheduler gives
to a job. That is a name below ``.invalid``, which no network resolves (RFC 2606), and needs no quoting in a shell.
"""

import re
from collections.abc import Iterator, Mapping
from re import Pattern

_NAME = r"[a-z_][a-z0-9_.-]*"
NAME = re.compile(rf"\{{\{{{_NAME}\}}\}}|\{{({_NAME})\}}")
SECRET = re.compile(r"(\[secret:[A-Za-z0-9_.-]+\])")
GIVEN = re.compile(r"([a-z0-9]+\.dlperf\.invalid)")

PORT = "port.dlperf.invalid"
"""A TCP port that is free on the first node."""
GPUS = "gpus.dlperf.invalid"
"""The GPUs that the scheduler gives to a node, comma-separated."""
NODE = "node.dlperf.invalid"
"""The node's name in Slurm."""


def node_address(rank: int) -> str:
    """Return the mark of the address of a node of a job."""
    return f"address{rank}.dlperf.invalid"


class PlaceholderError(ValueError):
    """A placeholder has no value; ``str()`` says which, or why."""

    def __init__(self, name: str, reason: str = "") -> None:
        super().__init__(reason or f"{name} has no value")
        self.name = name


def names_in(text: str) -> Iterator[str]:
    """Yield the names in braces."""
    return (match.group(1) for match in NAME.finditer(text) if match.group(1))


def fill(text: str, values: Mapping[str, str], kind: Pattern[str] = NAME, is_last: bool = True) -> str:
    """Replace the placeholders of a text.

    Args:
        values: by name, or by mark.
        kind: which placeholders: names in braces, secrets or what a scheduler gives.
        is_last: no later call fills the others; until then they stay, and escapes with them: braces in values are
            escaped, so that the last call restores them.

    Raises:
        PlaceholderError: in the last call, one has no value.
    """

    def replacement(match: "re.Match[str]") -> str:
        name = match.group(1)
        if name in values:
            return values[name] if is_last else _escape(values[name])
        if not is_last:
            return match.group()
        if name:
            raise PlaceholderError(name)
        return match.group()[1:-1]

    return kind.sub(replacement, text)


def _escape(value: str) -> str:
    return NAME.sub(lambda match: "{" + match.group() + "}", value)
