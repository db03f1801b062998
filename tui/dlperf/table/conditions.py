"""What results state of the conditions under which they were measured, and in which two of them differ. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from dlperf.evidence.facts import LIBRARIES, flattened
from dlperf.plan import PlannedConfiguration
from dlperf.table.model import ConfigurationResult

OF_THE_FRAMEWORK = (
    *(f"facts.{name}" for name in ("version", "repository", "commit", "image", "patches")),
    *("container.", "programs.", "framework_version", "python", "modules.", "prologue", "build", "packages"),
)
"""Conditions that are expected to differ between frameworks."""
OF_THE_SOFTWARE = (
    *("programs.", LIBRARIES, "modules.", "build", "packages"),
    *("framework_version", "numerics.", "options.", "protocol"),
)
"""Conditions that are expected to be equal also on different hardware."""
HASHES = ("programs.", "packages")
HASH_DIGITS = 12
ABSENT = "none"


def used_numerics(numerics: Mapping[str, str], gpus: int) -> dict[str, str]:
    """Return the numerics that a run on so many GPUs used: one GPU reduces no gradients."""
    return {name: kind for name, kind in numerics.items() if gpus > 1 or name != "reduction"}


def row_conditions(row: ConfigurationResult, planned: PlannedConfiguration | None = None) -> dict[str, str]:
    """Return what a result states of its protocol, numerics, options, facts and trials, by dotted name."""
    numerics = used_numerics(row.numerics, row.gpus_total)
    stated: dict[str, Any] = {"protocol": row.protocol, "numerics": numerics}
    if planned:
        stated["protocol"] = {name: getattr(planned.protocol, name) for name in ("estimator", "aggregate")}
        launch = planned.launch
        prologue = "; ".join((*launch.node_preparation.prologue, *launch.program_preparation.prologue))
        shell = {"prologue": prologue, "build": "; ".join(launch.build)}
        stated |= {"options": planned.options, "facts": planned.facts, **shell}
    return dict(flattened(stated)) | merged([row])


def continued(options: Mapping[str, Any], ledger: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was said of a program when it was planned; where the ledger goes on from that today, or takes a part
    of it back, what it says, and what it says besides if it does so of everything.
    """
    told = {name: text for name, text in options.items() if name in ledger and isinstance(text, str)}
    now = {name: ledger[name] for name, text in told.items() if _goes_on(str(ledger[name]), text)}
    is_whole = "model" in told and len(now) == len(told)
    return {**options, **now, **{name: text for name, text in ledger.items() if is_whole and name not in options}}


def _goes_on(now: str, told: str) -> bool:
    return now.startswith(told) or told.startswith(now)


def merged(rows: Iterable[ConfigurationResult]) -> dict[str, str]:
    """Return the conditions of the usable trials, with all values where trials differ, and hashes cut.

    Of a row without a usable trial, those of all its trials.
    """
    found: dict[str, dict[str, None]] = {}
    for trial in (trial for row in rows for trial in row.usable_trials or row.trials):
        for name, value in trial.conditions.items():
            found.setdefault(name, {})[value[:HASH_DIGITS] if name.startswith(HASHES) else value] = None
    return {name: " / ".join(values) for name, values in found.items()}


def differences(
    a: ConfigurationResult,
    b: ConfigurationResult,
    planned_a: PlannedConfiguration | None = None,
    planned_b: PlannedConfiguration | None = None,
) -> tuple[str, ...]:
    """Return the text of each condition in which two results differ, see ``differing``."""
    found = differing(a, b, planned_a, planned_b)
    return tuple(f"{name}: {left} against {right}" for name, (left, right) in found.items())


def differing(
    a: ConfigurationResult,
    b: ConfigurationResult,
    planned_a: PlannedConfiguration | None = None,
    planned_b: PlannedConfiguration | None = None,
) -> dict[str, tuple[str, str]]:
    """Return the conditions that both sides state and that differ, apart from the compared axes."""
    of_a, of_b = row_conditions(a, planned_a), row_conditions(b, planned_b)
    shared = [name for name in of_a if name in of_b]
    if any(name.startswith("programs.") for name in shared):  # a file that only one side has is a difference, too
        shared += sorted(name for name in of_a.keys() ^ of_b.keys() if name.startswith("programs."))
    pairs = {name: (of_a.get(name, ABSENT), of_b.get(name, ABSENT)) for name in shared}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1] and not _expected(name, a, b)}


def _expected(name: str, a: ConfigurationResult, b: ConfigurationResult) -> bool:
    if a.hardware != b.hardware and not name.startswith(OF_THE_SOFTWARE):
        return True
    return a.framework != b.framework and name.startswith(OF_THE_FRAMEWORK)
