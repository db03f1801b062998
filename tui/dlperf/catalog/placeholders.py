"""The names that commands, arguments and environment values may hold in braces."""

import tomllib
from collections.abc import Collection
from pathlib import Path

from dlperf.substitution import names_in

PLACEHOLDERS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""Name → meaning; there are also ``{data.ID}`` and the axes of case and recipe."""
RUNTIME = frozenset({"trial", "build", "files", "ranks", "node_rank", "master_address", "master_port"})
"""Placeholders whose values are known when a trial starts."""
BUILT = frozenset({"case", "samples"})
"""Placeholders of the lines of a build, which are bash: what a data set has to be made for."""


def unknown_names(text: str, axes: Collection[str] = ()) -> list[str]:
    known = {*PLACEHOLDERS, *axes}
    return [name for name in names_in(text) if name not in known and not name.startswith("data.")]
