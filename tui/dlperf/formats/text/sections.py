"""Settings in a part of a configuration that a program prints over several lines."""

import re
from collections.abc import Sequence

from dlperf.catalog.linear import compile_linear
from dlperf.formats.recorder import Recorder
from dlperf.formats.text.literals import leading_text


class SectionRule:
    """A rule that declares a field from the first line of a section that holds it.

    A section is a line, and the lines after it that are indented.
    """

    def __init__(self, recorder: Recorder, name: str, begins: str, holds: str) -> None:
        self._recorder = recorder
        self._name = name
        self._begins, self._holds = compile_linear(begins).search, compile_linear(holds).search
        self._beginning = leading_text(begins).encode()
        self._inside = False

    @property
    def contains(self) -> bytes:
        """Text of the line that a section begins with; inside of one, every line is looked at."""
        return b"" if self._inside else self._beginning

    def search(self, line: bytes) -> re.Match[bytes] | None:
        if self._begins(line):
            self._inside = True
        elif line and line[:1] not in (b" ", b"\t"):
            self._inside = False
        match: re.Match[bytes] | None = self._holds(line) if self._inside else None
        self._inside = self._inside and match is None
        return match

    def act(self, matches: Sequence[re.Match[bytes]], numbers: Sequence[int]) -> None:
        for match in matches:
            self._recorder.declare(self._name, match[1].decode("utf-8", "replace"))
