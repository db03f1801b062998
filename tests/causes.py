"""Causes of ends as tests write them: a text, or a message."""

from __future__ import annotations

import re

from dlperf.messages import Message, message, quoted


def cause_of(text: Message | str) -> Message:
    """Return the message that reads like this."""
    if isinstance(text, Message):
        return text
    if found := re.fullmatch(r"node (\w+): (.*)", text):
        return message("of_node", node=found[1], cause=cause_of(found[2]))
    if found := re.fullmatch(r"(.*); last output: (.*)", text):
        return message("last_output", cause=cause_of(found[1]), lines=found[2])
    if found := re.fullmatch(r"exit code (\d+)", text):
        return message("exit_code", code_value=int(found[1]))
    return message(text.replace(" ", "_")) if text in ("cancelled", "out of memory") else quoted(text)
