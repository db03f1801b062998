"""When a campaign's values were last recomputed from their raw logs: kept by ``dlperf verify --write``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from dlperf.runs.paths import CampaignPaths
from dlperf.runs.records import is_until_now, utc_now
from dlperf.runs.schema import SCHEMA_VERSION
from dlperf.runs.store import Complain, read_record_if_whole, write_record
from dlperf.table.model import ConfigurationResult
from dlperf.version import version

Values = Mapping[str, float]
"""``<configuration id>/<number>`` of a trial → its value."""


@dataclass(frozen=True)
class Verified:
    """``verified.json``: a check of all trials of a campaign that found no difference."""

    date: str
    version: str
    """Of dlperf."""
    values: int
    digest: str
    """Of the values: they are no others since."""
    schema: int = SCHEMA_VERSION


def values_of(rows: Iterable[ConfigurationResult]) -> dict[str, float]:
    """Return the values of the trials of a campaign's rows."""
    return {f"{row.id}/{trial.number}": trial.value for row in rows for trial in row.trials if trial.value is not None}


def write_verified(paths: CampaignPaths, values: Values) -> None:
    """Keep that these values were recomputed now."""
    write_record(paths.verified, Verified(utc_now(), version(), len(values), _digest(values)))


def read_verified(paths: CampaignPaths, values: Values, complain: Complain | None = None) -> Verified | None:
    """Return when these values were recomputed; None if never, or the campaign has other values since."""
    kept = read_record_if_whole(paths.verified, Verified, complain)
    return kept if kept and kept.digest == _digest(values) and is_until_now(kept.date) else None


def _digest(values: Values) -> str:
    lines = (f"{trial} {value!r}\n" for trial, value in sorted(values.items()))
    return sha256("".join(lines).encode()).hexdigest()
