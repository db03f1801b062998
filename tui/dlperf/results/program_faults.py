"""Faults of training programs that were found after they had run."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from dlperf.measure.findings import Finding, warning
from dlperf.results.model import ConfigurationResult


@dataclass(frozen=True)
class Fault:
    """A caveat of trials that ran ``file`` with one of these hashes, by a command that holds all these words."""

    code: str
    file: str
    sha256: Sequence[str]
    command: Sequence[str]


@lru_cache(maxsize=1)
def known_faults() -> tuple[Fault, ...]:
    """Return the faults of ``program_faults.toml``."""
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return tuple(Fault(**fault) for fault in data["fault"])


def findings_of_programs(programs: Mapping[str, str], command: Sequence[str]) -> tuple[Finding, ...]:
    """Return a warning of each known fault of what ran; ``programs``: file → SHA-256."""
    return tuple(
        warning(fault.code)
        for fault in known_faults()
        if programs.get(fault.file) in fault.sha256 and set(fault.command) <= set(command)
    )


FAULTS = frozenset(fault.code for fault in known_faults())
"""Codes of all known faults."""


def faults_of_programs(row: ConfigurationResult) -> frozenset[str]:
    """Return the codes of the known faults of the programs that a result was measured with."""
    return FAULTS.intersection(finding.code for finding in row.findings)
