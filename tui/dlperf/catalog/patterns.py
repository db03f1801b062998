"""What the regular expressions of a log format may say, and what is wrong with one that says something else."""

from __future__ import annotations

import re

RATES = ("value", "seconds_per_step", "milliseconds_per_step", "steps_per_second", "interval_seconds")
"""Groups that say how fast it went; a record has at least one of them.

``value`` is a throughput in the format's unit. ``interval_seconds`` is the time from ``first_step`` to ``step``.
"""

RECORD_GROUPS = frozenset(
    {*RATES, "first_step", "step", "steps", "epoch", "time", "loss", "reader_seconds", "samples"},
)
"""Names that groups of a record's regular expression can have.

``steps``: steps of the whole run. ``reader_seconds``: the part of the step that the program waited for data.
``samples``: processed by all GPUs since the run began.
"""

BY_TIME = ("rate", "time_window")
"""Estimators whose figure is samples over time: they need the group ``time``."""

SECONDS = "seconds"
"""Time format of a plain number of seconds, since 1970 or since some start."""

_SECONDS_LAST = re.compile(r"^.*%M:%S(?:[.,]%f)?$")


def record_problem(pattern: str) -> str | None:
    """What is wrong with a record's regular expression, None if nothing is."""
    compiled = _compiled(pattern)
    if isinstance(compiled, str):
        return compiled
    unknown = sorted(set(compiled.groupindex) - RECORD_GROUPS)
    if unknown:
        return f"group {unknown[0]!r} means nothing here (known: {', '.join(sorted(RECORD_GROUPS))})"
    if len(compiled.groupindex) != compiled.groups:
        return "every group needs a name: (?P<name>…), or (?:…) for one that is not read"
    if not any(name in compiled.groupindex for name in RATES):
        return f"no group says how fast it went (one of {', '.join(RATES)})"
    if "interval_seconds" in compiled.groupindex and not {"first_step", "step"} <= set(compiled.groupindex):
        return "interval_seconds is the time from first_step to step: both groups are needed"
    return None


def tells_time(pattern: str) -> bool:
    """Whether a record's regular expression reads a timestamp."""
    compiled = _compiled(pattern)
    return not isinstance(compiled, str) and "time" in compiled.groupindex


def metadata_problem(pattern: str) -> str | None:
    """What is wrong with a regular expression that reads a field, None if nothing is."""
    compiled = _compiled(pattern)
    if isinstance(compiled, str):
        return compiled
    return None if compiled.groups == 1 else "needs exactly one group: what the log declares"


def line_problem(pattern: str) -> str | None:
    """What is wrong with a regular expression that a line is searched for, None if nothing is."""
    compiled = _compiled(pattern)
    return compiled if isinstance(compiled, str) else None


def time_problem(time_format: str) -> str | None:
    """What is wrong with a time format, None if nothing is."""
    if time_format == SECONDS or _SECONDS_LAST.match(time_format):
        return None
    return "does not end with %M:%S, %M:%S.%f or %M:%S,%f, and is not `seconds`"


def _compiled(pattern: str) -> re.Pattern[bytes] | str:
    try:
        return re.compile(pattern.encode())
    except re.error as error:
        return f"is no regular expression: {error}"
