"""A finding: what was found, as a message, and its severity."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dlperf.messages import Message, Value, message


@dataclass(frozen=True)
class Finding:
    """A caveat about a run, a trial or a configuration."""

    message: Message
    severity: str = "warning"
    """``note``, ``warning`` or ``error``; an error keeps the figure out of medians."""

    @property
    def code(self) -> str:
        return self.message.code

    def as_data(self) -> dict[str, Any]:
        """The finding as JSON output shows it."""
        parameters = self.message.to_json()
        code = parameters.pop("code")
        return {"code": code, "message": str(self.message), "severity": self.severity, "parameters": parameters}


def warning(code: str, /, **parameters: Value) -> Finding:
    """A finding of the usual severity."""
    return Finding(message(code, **parameters))


def note(code: str, /, **parameters: Value) -> Finding:
    """A finding that casts no doubt on the figure."""
    return Finding(message(code, **parameters), "note")


def error(code: str, /, **parameters: Value) -> Finding:
    """A finding that keeps the figure out of medians."""
    return Finding(message(code, **parameters), "error")


def distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding for each code, the first."""
    kept: dict[str, Finding] = {}
    for finding in findings:
        kept.setdefault(finding.code, finding)
    return tuple(kept.values())
