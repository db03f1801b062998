"""A finding: its code, its words, its weight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """Something a careful reader must know."""

    code: str
    message: str
    severity: str = "warning"
    """``note``, ``warning`` or ``error``; an error keeps the figure out of medians."""


def distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding for each code, the first."""
    kept: dict[str, Finding] = {}
    for finding in findings:
        kept.setdefault(finding.code, finding)
    return tuple(kept.values())


def amount(value: float) -> str:
    """A throughput in a sentence: four significant digits, or one decimal of a large one."""
    return f"{value:.1f}" if abs(value) >= 1000 else f"{value:#.4g}"
