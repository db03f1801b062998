"""What ``dlperf verify --write`` keeps: what raw logs say of third-party results, when campaigns were recomputed."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType

from dlperf.messages import Message, message, quoted
from dlperf.messages.finding import Finding, warning
from dlperf.opening import is_regular
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.published import PublishedFigure
from dlperf.runs.records import is_until_now, utc_now
from dlperf.runs.schema import SCHEMA_VERSION
from dlperf.runs.store import Complain, read_record_if_whole, write_record
from dlperf.table.model import ConfigurationResult
from dlperf.version import version

EXACT = "exact"
DIFFERS = "differs_by"
ROUNDING = 0.0005
"""Differences below this do not change what a result says: they are shown where it is verified, and are no caveat."""
NOTED = ("noted_exact", "noted_difference", "noted_not_reproduced")
"""Codes of what was noted when a report was transcribed."""
Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class AuditVerdict:
    """How a third-party result compared with its raw log when it was last recomputed."""

    report: str
    log: str
    """As the source names it."""
    rule: str
    """Estimator."""
    published: str
    recomputed: float | None
    from_timestamps: float | None
    verdict: Message
    log_sha256: str
    date: str
    version: str
    """Of dlperf."""
    id: str = ""
    """Configuration of the figure: a verdict says nothing of one whose hardware or batch size is another."""

    @property
    def key(self) -> Key:
        return self.report, self.log, self.rule, self.published


@dataclass(frozen=True)
class Verdicts:
    """``site/audit.json``."""

    verdicts: tuple[AuditVerdict, ...] = ()
    schema: int = SCHEMA_VERSION


NONE_KEPT: Mapping[Key, AuditVerdict] = MappingProxyType({})


def read_verdicts(workspace: WorkspacePaths, complain: Complain | None = None) -> dict[Key, AuditVerdict]:
    """Return the verdicts kept in a workspace; none where the file is missing or damaged.

    They are the owner's: one that lies with the reports may have come with them, and is reported.
    """
    if complain is not None and is_regular(workspace.sent_audit):
        make = "dlperf verify published --logs … --write"
        complain(f"{workspace.sent_audit}: not believed, remove it: `{make}` keeps verdicts in {workspace.audit}")
    kept = read_record_if_whole(workspace.audit, Verdicts, complain) or Verdicts()
    return {verdict.key: verdict for verdict in kept.verdicts}


def key_of(report: str, figure: PublishedFigure) -> Key:
    return report, figure.log, figure.estimator, figure.printed


def noted_verdict(figure: PublishedFigure) -> Message | None:
    """Return what was noted about a figure's log when its report was transcribed."""
    if figure.difference is not None:
        return message(figure.noted, difference=figure.difference)
    return message(figure.noted) if figure.noted else None


def caveats_of_figure(report: str, figure: PublishedFigure, verdicts: Mapping[Key, AuditVerdict]) -> Iterator[Finding]:
    """Yield the caveats of a third-party result: its log does not give it, or its source contradicts it."""
    kept = verdicts.get(key_of(report, figure))
    outcome = kept.verdict if kept else noted_verdict(figure)
    difference = outcome.parameters.get("difference") if outcome else None
    if outcome is not None and outcome.code == "noted_not_reproduced":
        yield warning("no_log_reproduces")
    elif isinstance(difference, float) and abs(difference) >= ROUNDING:
        yield warning("not_reproduced", difference=difference)
    if figure.remark:
        yield warning("source_remark", remark=quoted(figure.remark))


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
