"""Faults of training programs that were found after they had run."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from dlperf.messages.finding import Finding, warning


@dataclass(frozen=True)
class Fault:
    """A caveat of trials that ran ``file`` with one of these hashes, by a command that holds all these words."""

    code: str
    found: str
    """When its results got the caveat (RFC 3339)."""
    file: str
    sha256: Sequence[str]
    command: Sequence[str]
    without: Sequence[str] = ()
    """Words of a command that is free of the fault."""
    several_gpus: bool = False
    """Only where several GPUs train one model."""
    value_stands: bool = False
    """The program did the work that its value says, but a comparison with another framework is not fair."""
    padding: float = 0.0
    """Share of the value that counts padding."""


@lru_cache(maxsize=1)
def known_faults() -> tuple[Fault, ...]:
    """Return the faults of ``program_faults.toml``."""
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return tuple(Fault(**fault) for fault in data["fault"])


def findings_of_programs(programs: Mapping[str, str], command: Sequence[str], gpus: int = 1) -> tuple[Finding, ...]:
    """Return a warning of each known fault of what ran.

    Args:
        programs: file → SHA-256.
        gpus: of all nodes.
    """
    return tuple(
        warning(fault.code)
        for fault in known_faults()
        if programs.get(fault.file) in fault.sha256
        and set(fault.command) <= set(command)
        and not set(fault.without) & set(command)
        and (gpus > 1 or not fault.several_gpus)
    )


FAULTS = frozenset(fault.code for fault in known_faults() if not fault.value_stands)
"""Codes of the faults for which reports and rankings leave a result out."""
UNFAIR = frozenset(fault.code for fault in known_faults() if fault.value_stands)
"""Codes of those that only withdraw claims."""
FOUND = {fault.code: fault.found for fault in known_faults()}
"""Code of each → when it was found."""
PADDING = {fault.code: fault.padding for fault in known_faults() if fault.padding}
"""Code of a fault → share of the value that counts padding."""
