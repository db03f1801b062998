"""The colour of each framework, the same on the site and in the terminal (``palette.yaml``)."""

import re
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Colour:
    """A colour that frameworks of one family share, as ``#rrggbb``."""

    names: str
    """Regular expression that finds the family in the id of a framework."""
    light: str
    """On a light background."""
    dark: str


@cache
def palette() -> tuple[Colour, ...]:
    """Return all colours in their order."""
    import yaml  # the first picture of the terminal UI shows no framework

    return tuple(Colour(**entry) for entry in yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8")))


@cache
def colour_number(framework: str) -> int:
    """Return the index of a framework's colour in ``palette``; of an unknown family, by a hash of its id."""
    number = family_number(framework)
    return zlib.crc32(framework.encode()) % len(palette()) if number is None else number


@cache
def family_number(framework: str) -> int | None:
    """Return the index of the family of a framework in ``palette``; None if unknown."""
    return next((number for number, one in enumerate(palette()) if re.search(one.names, framework)), None)
