"""The English text of every message, by its code. Babel collects the texts for translation."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import IO


@cache
def texts() -> dict[str, str]:
    """Return the texts by code. A message with the code ``quoted`` carries its own text."""
    import tomllib

    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def extract(file: IO[bytes], *_: object, **__: object) -> Iterator[tuple[int, None, str, list[str]]]:
    """Yield the texts of the file, or of its tables, for Babel."""
    import tomllib

    for value in tomllib.load(file).values():
        for text in value.values() if isinstance(value, dict) else (value,):
            yield 1, None, text, []


def extract_actions(file: IO[bytes], *_: object, **__: object) -> Iterator[tuple[int, None, str, list[str]]]:
    """Yield the texts of the actions of the terminal UI, for Babel."""
    import tomllib

    table = tomllib.load(file)
    lists = [*table.pop("shared").values(), *table.values()]
    for action in (action for actions in lists for action in actions if "text" in action):
        yield from ((1, None, action[name], []) for name in ("text", "help"))


def extract_ledger(file: IO[bytes], *_: object, **__: object) -> Iterator[tuple[int, None, str, list[str]]]:
    """Yield what the ledger of a case says, for Babel."""
    import yaml

    ledger = yaml.safe_load(file).get("ledger", {})
    sides = (ledger.get("equal", {}), ledger.get("untried", {}), *ledger.get("differ", {}).values())
    for text in filter(None, (ledger.get("losses"), *(text for side in sides for text in side.values()))):
        yield 1, None, text, []


def N_(english: str) -> str:
    """Mark a text for translation."""
    return english
