"""Findings: caveats about a run, a trial or a configuration, as messages with a severity."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from dlperf.messages.message import Message, Value, message

Severity = Literal["note", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    message: Message
    severity: Severity = "warning"
    """An error keeps the value out of medians."""

    @property
    def code(self) -> str:
        return self.message.code

    def as_data(self) -> dict[str, Any]:
        parameters = self.message.to_json()
        code = parameters.pop("code")
        return {"code": code, "message": str(self.message), "severity": self.severity, "parameters": parameters}


def warning(code: str, /, **parameters: Value) -> Finding:
    return Finding(message(code, **parameters))


def note(code: str, /, **parameters: Value) -> Finding:
    return Finding(message(code, **parameters), "note")


def error(code: str, /, **parameters: Value) -> Finding:
    return Finding(message(code, **parameters), "error")


def distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    kept: dict[str, Finding] = {}
    for finding in findings:
        kept.setdefault(finding.code, finding)
    return tuple(kept.values())
