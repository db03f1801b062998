"""Problems of a catalogue, one line for each, and the wording that they share."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dlperf.errors import RequestError


@dataclass(frozen=True, order=True)
class Problem:
    """A mistake in a file."""

    path: Path
    line: int
    field: str
    """Keys and 0-based indices, such as ``recipes[0].launcher``; empty for the whole file."""
    message: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}: "
        return " ".join(f"{place}{self.field + ': ' if self.field else ''}{self.message}".split())


class CatalogError(RequestError):
    """The catalogue cannot be used; it holds every problem."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(self.lines))
        self.args = (self.problems,)  # what unpickling gives to this constructor

    def __str__(self) -> str:
        return "\n".join(self.lines)

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(map(str, self.problems))


def field_name(location: Iterable[str | int]) -> str:
    """``("recipes", 0, "case")`` as ``recipes[0].case``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return text.removeprefix(".")


def listed(names: Iterable[object]) -> str:
    """Join names into one line; a long list is cut."""
    items = [str(name) for name in names]
    shown = ", ".join(items[:12]) or "none"
    return f"{shown} … ({len(items)} in all)" if len(items) > 12 else shown


def hint(name: str, known: Iterable[str]) -> str:
    """Suggest the names that are similar to a wrong one, or list all of them."""
    names = sorted(known)
    longer = [known_name for known_name in names if name and known_name.startswith(name)]
    near = list(dict.fromkeys(longer + difflib.get_close_matches(name, names)))[:3]
    return f"did you mean {' or '.join(near)}?" if near else f"known: {listed(names)}"
