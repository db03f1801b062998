"""Diagnose a failed trial from the end of its log. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from dlperf.measured.error_lines import PATTERNS, error_line, last_line, last_statement
from dlperf.messages import Message, message, quoted

_PORT_IN_USE = re.compile(r"address already in use|\bEADDRINUSE\b|\bport \d{1,5} is (?:already )?in use", re.IGNORECASE)


_EXPLAINED = {"and_more": "subject", "last_output": "cause", "job_log": "cause"}
"""Code of a cause that was explained → its parameter that holds the cause without explanation."""


def diagnosis(log_tail: str) -> Message | None:
    """Return the cause that the end of a log shows: a known one anywhere, else the first line that names an error.

    A port in use makes the engine retry, so only that line or, without one, the last may name it.
    """
    for code, pattern in PATTERNS["causes"].items():
        if re.search(pattern, log_tail):
            return message(code)
    error = error_line(log_tail)
    if _PORT_IN_USE.search(error.text if error else last_line(log_tail)):
        return message("port_in_use")
    return quoted(error.text) if error else None


def is_out_of_memory(cause: Message | None) -> bool:
    """Whether a GPU or the host ran out of memory."""
    return cause is not None and cause.mentions("out_of_memory", "job_memory")


def explained(cause: Message | None, found: Message | None, log_tail: str = "", job_tail: str = "") -> Message | None:
    """Add the diagnosis of the log to a cause in place of an earlier one or of quoted lines, else its last line.

    The journal holds a cause that was explained before, without the secrets that the log has.

    Args:
        found: the diagnosis of the log.
        log_tail: source of the last line; "" to add none.
        job_tail: the same where there is no log.
    """
    if found is None:
        return _with_last_output(cause, log_tail, job_tail) if cause else None
    if cause is None:
        return found
    if found in cause.chain():
        return cause
    return message("and_more", subject=_unexplained(cause), more=found)


def _unexplained(cause: Message) -> Message:
    """Return a cause without an earlier explanation, also inside the cause of a node."""
    name = _EXPLAINED.get(cause.code, "cause")
    inner = cause.parameters.get(name)
    if not isinstance(inner, Message):
        return cause
    shorter = _unexplained(inner)
    return shorter if cause.code in _EXPLAINED else replace(cause, parameters={**cause.parameters, name: shorter})


def _with_last_output(cause: Message, log_tail: str, job_tail: str) -> Message:
    if cause.mentions(*_EXPLAINED):
        return cause
    if line := last_line(log_tail):
        return message("last_output", cause=cause, lines=line)
    said = last_statement(job_tail)
    return message("job_log", cause=cause, said=said) if said else cause
