"""Regular expressions of the catalogue: groups of log formats, expectations of cases, and what is wrong with one."""

import re
from collections.abc import Collection

from dlperf.catalog.linear import Expression, compile_linear

WORK = ("global_batch_size", "tokens_per_step")
"""Groups with the work of a step of all GPUs: with a time they give a throughput."""

RATES = ("value", "seconds_per_step", "milliseconds_per_step", "steps_per_second", "interval_seconds")
"""Groups with a throughput or a time; a record has at least one of them, or ``time`` with a count of steps or samples.

``value`` is a throughput in the format's unit. ``interval_seconds`` is the time from ``first_step`` (the epoch's start
where it is absent) to ``step``. Numbers may have thousands separators and a suffix: 5,615 or 14.2K; ``NUMBER`` as all
of a group stands for an expression that takes them, and all that is written to the number.
"""

NUMBER = r"[\d.]+(?:[,'_][\d.]+(?:[,'_][\d.]+(?:[,'_][\d.]+)?)?)?(?:[A-Za-z][\w+-]*)?"
"""A number with all that is written to it, so that none is cut: 5.6x is taken as a whole, and is no number then."""

RECORD_GROUPS = frozenset(
    {
        *(*RATES, *WORK, "rank", "first_step", "step", "steps", "epoch_steps", "epoch", "time", "elapsed", "loss"),
        *("reader_seconds", "samples", "micro_step", "run_seconds", "run_steps_per_second", "value_per_gpu"),
    }
)
"""All groups of a record; ``docs/fields.toml`` says what they mean."""

BY_TIME = ("rate", "time_window", "settled", "steady_rate")
"""Estimators that divide samples by time: they need the group ``time``."""

SECONDS = "seconds"
MILLISECONDS = "milliseconds"
"""Time formats of a number, since 1970 or since any start."""
ELAPSED = "elapsed"
"""Time format of progress bars: 05:12 or 1:05:12 since the start."""

_DECIMAL = r"-?[0-9]{1,15}(\.[0-9]{1,15})?(e[+-]?[0-9]{1,2})?"
EXPECTATION = rf"^([a-z][a-z0-9_]{{0,30}} (<|<=|>|>=) {_DECIMAL}|log (has|lacks) \S.*)$"
"""What a case expects of a valid trial: ``final_loss < 7.5``, ``log has ^finished``, ``log lacks loss=nan``."""

_SECONDS_LAST = re.compile(r"^.*%M:%S(?:[.,]%f)?$")


def with_numbers(pattern: str) -> str:
    """Return a record's expression in which each group that is ``NUMBER`` has its expression."""
    return pattern.replace(">NUMBER)", f">{NUMBER})")


def record_problem(pattern: str, metrics: Collection[str] = ()) -> str | None:
    """The problem of a record's regular expression, None if it is valid; groups may have the names of metrics, too."""
    compiled = _compiled(pattern)
    if isinstance(compiled, str):
        return compiled
    unknown = sorted(set(compiled.groupindex) - RECORD_GROUPS - set(metrics))
    if unknown:
        known = ", ".join(sorted(RECORD_GROUPS))
        return f"unknown group {unknown[0]!r} (known: {known}; or declare a metric of this name under metrics:)"
    if len(compiled.groupindex) != compiled.groups:
        return "every group needs a name: (?P<name>…), or (?:…) for one that is not read"
    counted = {"step", "micro_step", "samples"} & compiled.groupindex.keys()
    counts_over_time = "time" in compiled.groupindex and bool(counted)
    if not counts_over_time and not any(name in compiled.groupindex for name in (*RATES, *metrics)):
        return f"has no throughput group (one of {', '.join(RATES)}; or time and a count: step, samples)"
    if "interval_seconds" in compiled.groupindex and "step" not in compiled.groupindex:
        return "interval_seconds is the time up to step: that group is needed"
    if "epoch_steps" in compiled.groupindex and not {"epoch", "step"} <= compiled.groupindex.keys():
        return "epoch_steps marks the last step of an epoch: the groups epoch and step are needed"
    return None


def has_timestamp(pattern: str) -> bool:
    """Whether a record's regular expression has a timestamp."""
    compiled = _compiled(pattern)
    return not isinstance(compiled, str) and "time" in compiled.groupindex


def metadata_problem(pattern: str) -> str | None:
    """The problem of a regular expression that reads a field, None if it is valid."""
    compiled = _compiled(pattern)
    if isinstance(compiled, str):
        return compiled
    return None if compiled.groups == 1 else "needs exactly one group: the declared value"


def line_problem(pattern: str) -> str | None:
    """The problem of a regular expression without groups, None if it is valid."""
    compiled = _compiled(pattern)
    return compiled if isinstance(compiled, str) else None


def time_problem(time_format: str) -> str | None:
    """The problem of a time format, None if it is valid."""
    if time_format in (SECONDS, MILLISECONDS, ELAPSED) or _SECONDS_LAST.match(time_format):
        return None
    return "does not end with %M:%S, %M:%S.%f or %M:%S,%f, and is not `seconds`, `milliseconds` or `elapsed`"


def expected_line(expectation: str) -> str | None:
    """Return the regular expression of a line that the log has or lacks; None where a metric is expected."""
    subject, relation, rest = expectation.split(" ", 2)
    return rest if subject == "log" and relation in ("has", "lacks") else None


def _compiled(pattern: str) -> Expression | str:
    try:
        return compile_linear(pattern)
    except re.error as error:
        return f"invalid regular expression: {error}"
