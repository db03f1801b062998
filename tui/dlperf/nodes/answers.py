"""Check what an agent answered: it may be anything."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from dlperf.nodes.messages import Answer, Frame, NodeProblem, NodeReport
from dlperf.runs.paths import NodePaths
from dlperf.runs.store import type_adapter

ANSWER_BYTES = 4 * 1024 * 1024
"""Maximum length of an answer's JSON."""
ANSWER_VALUES = 200_000
"""Maximum number of values in it: each takes up to 350 bytes of memory."""


def decode(body: bytes, kind: type[Answer]) -> Frame[Answer]:
    """Return the checked answer in the JSON of a frame.

    Raises:
        ValueError: it is no such answer.
    """
    if sum(map(body.count, (b",", b"[", b"{"))) > ANSWER_VALUES:
        raise ValueError(f"more than {ANSWER_VALUES} values")
    frame = Frame[kind]  # type: ignore[valid-type]
    try:
        return cast("Frame[Answer]", type_adapter(frame).validate_json(body, strict=True))
    except ValidationError as error:
        raise ValueError(_first_error(error)) from None


_NODE = NodePaths(Path())
_FILES = {"supervisor": _NODE.supervisor.name, "exit": _NODE.exit.name, "streams": _NODE.ranks.name}
_FILES |= {"telemetry": _NODE.telemetry.name, "arrivals": _NODE.arrivals.name}
"""Field of a report → the file that it is about."""
_ABSENT: dict[str, Any] = {**dict.fromkeys(_FILES), "streams": {}, "heartbeat": None, "problem": None, "age": None}


def sound_report(report: NodeReport | dict[str, Any]) -> NodeReport:
    """Return a report without the fields that are not what they should be: they are a problem of that trial only.

    Raises:
        ValueError: what cannot be left out is wrong, too.
    """
    if isinstance(report, NodeReport):
        return report
    problem: NodeProblem | None = None
    while True:
        try:
            sound = type_adapter(NodeReport).validate_json(json.dumps(report), strict=True)
            return replace(sound, problem=problem or sound.problem)
        except ValidationError as error:
            name = str(error.errors(include_input=False)[0]["loc"][0])
            if name not in _ABSENT or report.get(name) == _ABSENT[name]:
                raise ValueError(_first_error(error)) from None
            problem = problem or {"file": _FILES.get(name, name), "reason": _first_error(error)}
            report = report | {name: _ABSENT[name]}


def _first_error(error: ValidationError) -> str:
    """The field and what is wrong with it, without the value, in one line."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'JSON'}: {first['msg']}"[:300]
