"""The format ``hexlog``: ``#hex 0x14 0x3e8 0x61a8`` is a step, its images per second, and its microseconds.

What one regular expression can describe needs no Python: it is a file in ``catalog/formats/``.
"""

from __future__ import annotations

import re

from dlperf.formats.recorder import Recorder
from dlperf.formats.rules import FunctionRule, Rules
from dlperf.formats.samples import FormatInfo

INFO = FormatInfo("hexlog", "Hexadecimal log", "images/s", "global", "interval", "an example")
_LINE = re.compile(rb"#hex 0x([0-9a-f]{1,8}) 0x([0-9a-f]{1,8}) 0x([0-9a-f]{1,8})")


def rules(recorder: Recorder) -> Rules:
    """Return the rules for one log."""

    def read(match: re.Match[bytes], number: int) -> None:
        step, rate, microseconds = (int(digits, 16) for digits in match.groups())
        recorder.extend({"step": [step], "value": [rate], "seconds_per_step": [microseconds / 1e6]}, [number])

    return Rules([FunctionRule(b"#hex", _LINE.search, read)])
