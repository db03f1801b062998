"""Every action of the screens and their parts: the source of key bars, help, palette and bindings."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from textual.binding import Binding, BindingType
from textual.keys import key_to_character

from dlperf.messages import N_


@dataclass(frozen=True)
class Action:
    """A command with its key and its texts."""

    id: str
    """Names the method ``action_<id>`` of the screen, or of the app."""
    key: str
    text: str
    """One or two words, for the key bar."""
    help: str
    parameter: str | float = ""
    in_bar: bool = False

    @property
    def call(self) -> str:
        return f"{self.id}({self.parameter!r})" if self.parameter else self.id

    @property
    def shown_key(self) -> str:
        return _shown(self.key.split(",")[0])

    @property
    def shown_keys(self) -> str:
        return " ".join(map(_shown, self.key.split(",")))


def _shown(key: str) -> str:
    return SHOWN_KEYS.get(key) or character_of(key) or key


SHOWN_KEYS = {
    **{"escape": "esc", "space": "space", "tab": "tab", "up": "↑", "down": "↓", "left": "←", "right": "→"},
    **{"pageup": "PgUp", "pagedown": "PgDn", "home": "Home", "end": "End"},
}
CHARACTERS = {"plus": "+", "minus": "-", "slash": "/", "at": "@", "backslash": "\\", "underscore": "_"}
"""Of keys whose names are not those of Unicode, so that Textual's ``key_to_character`` does not know them."""


def character_of(key: str) -> str | None:
    """Return what a key types, by the name that Textual gives it; None for those that type nothing."""
    return CHARACTERS.get(key) or key_to_character(key)


def _read() -> Iterator[tuple[str, tuple[Action, ...]]]:
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    shared = table.pop("shared")
    for place, rows in table.items():
        entries = [entry for row in rows for entry in (shared[row["shared"]] if "shared" in row else (row,))]
        yield place, tuple(Action(**entry) for entry in entries)


ACTIONS = dict(_read())
"""By screen, or by part of a screen; ``everywhere`` on all."""
EVERYWHERE = ACTIONS["everywhere"]
PARTS = {
    "table": N_("In tables"),
    "log": N_("In logs"),
    "prompt": N_("While typing"),
    "text_page": N_("In a page"),
    "list_page": N_("In a list to choose from"),
    "question": N_("In a question"),
    "form": N_("In a form"),
    "command_page": N_("While a command runs"),
    "jump": N_("In jump mode"),
}
"""Parts that the help names, by their key in ``ACTIONS``."""


def actions_of(place: str) -> tuple[Action, ...]:
    """Return the actions of a screen, then those that work everywhere."""
    return ACTIONS.get(place, ()) + EVERYWHERE


def bindings_of(place: str) -> list[BindingType]:
    """Return the bindings of a screen's own actions, or of the app's (``everywhere``)."""
    return [
        Binding(item.key, item.call, item.text, id=f"{place}.{item.id}{item.parameter}", show=item.in_bar)
        for item in ACTIONS[place]
    ]
