"""English causes that version 0.1 stored in journals, on nodes and in results, as the messages that they stand for.

Only causes whose code decides something today are recognised; any other text is shown as it was written.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dlperf.messages import Message, Value, message, quoted

_WHOLE = {
    "cancelled": "cancelled",
    "cancelled before it started": "cancelled_before",
    "ended from outside (TERM)": "ended_from_outside",
    "the supervisor died; the trial was ended": "supervisor_died",
    "the first node has ended": "first_node_ended",
    "the node knows nothing of the trial": "unknown_trial",
    "the machine was restarted while the trial ran": "restarted",
    "supervisor and processes are gone and left no exit file": "no_exit_file",
    "it is waited for": "waiting",
    "out of memory": "out_of_memory",
    "NCCL timeout": "nccl_timeout",
    "NCCL error": "nccl_error",
    "no space left on the device": "no_space",
    "Slurm: out of memory": "slurm_memory",
}
"""Text → code."""

_PATTERNS = tuple(
    (code, re.compile(pattern, re.DOTALL))
    for code, pattern in (
        ("last_output", r"(?P<cause>.*?); last output: (?P<lines>.*)"),
        ("exit_code", r"exit code (?P<code_value>\d{1,9})"),
        ("ended_by_signal", r"signal (?P<number>\d{1,3}) \((?P<name>[\w -]+)\)"),
        ("and_more", r"(?P<told>exit code \d{1,9}|signal \d{1,3} \([\w -]+\)): (?P<more>.*)"),
        ("deadline", r"deadline of (?P<seconds>[\d.]{1,9}) s"),
        ("stall_limit", r"no output for (?P<seconds>[\d.]{1,9}) s \(stall limit\)"),
        ("unreachable_since", r"unreachable since (?P<since>\S+): (?P<cause>.*)"),
        ("unreachable", r"unreachable: (?P<cause>.*)"),
        ("not_ready", r"not ready: (?P<node>.*?): (?P<check>[a-z_]+): (?P<message>.*)"),
        ("machine_left_out", r"node (?P<node>\S+): left out, (?P<cause>.*)"),
        ("failed_in_a_row", r"failed (?P<count>\d{1,9}) times in a row: (?P<why>.*)"),
        ("failed_alike", r"failed (?P<count>\d{1,9}) times the same way: (?P<cause>.*)"),
        ("configuration_stopped", r"configuration stopped: (?P<cause>.*)"),
        ("cancelled_unanswered", r"cancelled, but (?P<cause>.*): it may still run there"),
        ("goes_on_there", r"(?P<cause>.*): what runs there goes on"),
        ("of_node", r"node (?P<node>\S+): (?P<cause>.*)"),
    )
)
"""Code → the whole text with its parameters."""

_NUMBERS = {"code_value": int, "number": int, "count": int, "seconds": float}
_INNER = frozenset({"cause", "told", "more", "why", "message"})
"""Parameters that were texts themselves."""
DEEPEST = 8
"""Texts inside each other that are recognised."""


@lru_cache(4096)
def message_of_text(text: str, depth: int = 0) -> Message:
    """The message that an English text of version 0.1 stood for; the text as it is where none is known."""
    if text in _WHOLE:
        return message(_WHOLE[text])
    for code, pattern in _PATTERNS if depth < DEEPEST else ():
        if found := pattern.fullmatch(text):
            return message(code, **{name: _value(name, value, depth) for name, value in found.groupdict().items()})
    return quoted(text)


def _value(name: str, text: str, depth: int) -> Value:
    if name in _INNER:
        return message_of_text(text, depth + 1)
    if name == "check":
        return message(f"check_{text}")
    return _NUMBERS[name](text) if name in _NUMBERS else text
