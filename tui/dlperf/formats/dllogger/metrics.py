"""Find the training throughput and the loss among DLLogger's metrics."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dlperf.formats.samples import Window

DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
THROUGHPUTS, LOSSES = tuple(DATA["throughputs"]), tuple(DATA["losses"])
RATE_WITHOUT_WAITING = "train.compute_ips"
"""Throughput without the time spent waiting for data."""

_NUMBER = rb"\d[\d.,]*(?:[eE][+-]?\d+)?[KkMGBT]?(?!\S)"
_WINDOWS: dict[str, Window] = DATA["windows"]


class Throughput(NamedTuple):
    """A training throughput as the program printed it."""

    name: str
    value: bytes
    unit: str

    @property
    def window(self) -> Window:
        """What a record covers: some metrics are means of several iterations, the others of one."""
        return _WINDOWS.get(self.name, "step")


class NamedValue:
    """Finds the value of the first of some metrics in DLLogger's text, ``name : value unit name : value unit …``.

    The name found last is searched for first: a program prints the same ones in every line.
    """

    def __init__(self, names: tuple[str, ...], value: bytes = _NUMBER) -> None:
        self._names = [name.encode() for name in names]
        self._value = value
        self._name = b""
        self._any = self._known = self._pattern(b"|".join(map(re.escape, self._names)))

    def search(self, data: bytes) -> re.Match[bytes] | None:
        """Return a match of name, value and first word of a unit per second; ``data`` begins with a space."""
        return self.search_all([data])[0]

    def search_all(self, texts: Iterable[bytes]) -> list[re.Match[bytes] | None]:
        """Search several texts."""
        found = []
        search = self._known.search
        for text in texts:
            match = search(text)
            if match is None and self._known is not self._any:
                match = self._any.search(text)
            if match is not None and match.re is self._any and match[1] != self._name:
                self._name, self._known = match[1], self._pattern(re.escape(match[1]))
                search = self._known.search
            found.append(match)
        return found

    def expressions(self, group: str, found: re.Match[bytes] | None) -> dict[bytes, bytes]:
        """Return name → expression, with a named group, for the value in lines with the layout of another line.

        Args:
            group: the group's name.
            found: the match in the other line. Without one, none of the names may have a value.
        """
        if found is None:
            return dict.fromkeys(self._names, rb"(?!)")
        return {found[1]: b"(?P<%s>%s)" % (group.encode(), self._value)}

    def _pattern(self, names: bytes) -> re.Pattern[bytes]:
        return re.compile(rb" (" + names + rb") : (" + self._value + rb")(?: ([A-Za-z]+)/s)?")


def throughput_of_text(match: re.Match[bytes]) -> Throughput:
    """Convert a match of ``NamedValue``."""
    name, unit = match[1].decode(), (match[3] or b"").decode()
    return Throughput(name, match[2], _unit(name, unit))


def throughput_of_data(data: Mapping[str, Any], units: Mapping[str, str]) -> Throughput | None:
    """Return the throughput among JSON metrics; ``units`` are those that the log declared."""
    for name in THROUGHPUTS:
        if re.fullmatch(_NUMBER, str(data.get(name)).encode()):
            return Throughput(name, str(data[name]).encode(), _unit(name, units.get(name, "").removesuffix("/s")))
    return None


def loss_of_data(data: Mapping[str, Any]) -> bytes | None:
    """Return the training loss among JSON metrics, as text."""
    return next((str(data[name]).encode() for name in LOSSES if name in data), None)


def _unit(name: str, printed: str) -> str:
    known = DATA["units"].get(printed.lower(), f"{printed}/s" if printed else None)
    return str(known or DATA["units_by_name"].get(name, "images/s"))
