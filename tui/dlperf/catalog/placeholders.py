"""Placeholders in commands, arguments and environment values.

``{name}`` is replaced, ``{{name}}`` is an escaped ``{name}``; any other brace is plain text, so that JSON and awk
programs need no escaping.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

PLACEHOLDERS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""Name → meaning; there are also ``{data.ID}`` and the axes of case and recipe."""

RUNTIME = frozenset({"trial", "build", "files", "ranks", "node_rank", "master_address", "master_port"})
"""Placeholders whose values are known when a trial starts."""
BUILT = frozenset({"case", "samples"})
"""Placeholders of the lines of a build, which are bash: what a data set has to be made for."""

_NAME = r"[a-z_][a-z0-9_.-]*"
_PLACEHOLDER = re.compile(rf"\{{\{{{_NAME}\}}\}}|\{{({_NAME})\}}")


def names_in(text: str) -> Iterator[str]:
    return (match[1] for match in _PLACEHOLDER.finditer(text) if match[1])


def unknown_names(text: str, axes: Collection[str] = ()) -> list[str]:
    known = {*PLACEHOLDERS, *axes}
    return [name for name in names_in(text) if name not in known and not name.startswith("data.")]


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace known placeholders; the others, and escaped names, stay for ``finish``.

    Braces in values are escaped, so that ``finish`` restores them.
    """
    return _PLACEHOLDER.sub(lambda match: _escape(values[match[1]]) if match[1] in values else match[0], text)


def finish(text: str, values: Mapping[str, str]) -> str:
    """Replace every placeholder that is left, and remove the escapes.

    Raises:
        KeyError: a placeholder has no value.
    """
    return _PLACEHOLDER.sub(lambda match: values[match[1]] if match[1] else match[0][1:-1], text)


def _escape(value: str) -> str:
    return _PLACEHOLDER.sub(lambda match: "{" + match[0] + "}", value)
