"""Whether third-party results follow from their raw logs: verdicts kept with the reports, and caveats made of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dlperf.measure.findings import Finding, warning
from dlperf.messages import Message, message, quoted
from dlperf.runs.paths import Workspace
from dlperf.runs.published import PublishedFigure
from dlperf.runs.store import Complain, read_record_if_whole
from dlperf.runs.upgrades import SCHEMA_VERSION, StoredMessage

EXACT = "exact"
DIFFERS = "differs_by"
NOTED = ("noted_exact", "noted_difference", "noted_not_reproduced")
"""Codes of what was noted when a report was transcribed."""
Key = tuple[str, str, str, str]

_ESTIMATORS: tuple[tuple[str, str], ...] = (
    (r"(tipc\(skip=\d+\)|skipmean\(\d+\))", r"\1"),
    (r"tailmean\([^()]*last (\d+)\)", r"tailmean(\1)"),
    (r"summary\(", "summary()"),
    (r"harmonic mean of epoch [\w.]+, drop epoch 0", "hmean_epochs(1)"),
    (r"mean\(time\[(\d+):\]\)", r"batch_over_time(skip=\1)"),
    (r"mean of all ", "mean()"),
)
"""Pattern of a rule in ``figures.csv`` → estimator."""
_REMARK = re.compile(r"(?:NOTE|SUSPECT): (.+)")
_NOTED_DIFFERENCE = re.compile(r"\(rel ([-+][0-9.e+-]+)\)")
_NOT_REPRODUCED = re.compile("NOT REPRODUCED|no stored log reproduces it")


@dataclass(frozen=True)
class Verdict:
    """How a third-party result compared with its raw log when it was last recomputed."""

    report: str
    log: str
    """As the source names it."""
    rule: str
    """Estimator."""
    published: str
    recomputed: float | None
    from_timestamps: float | None
    verdict: StoredMessage
    log_sha256: str
    date: str
    version: str
    """Of dlperf."""

    @property
    def key(self) -> Key:
        return self.report, self.log, self.rule, self.published


@dataclass(frozen=True)
class Verdicts:
    """``runs/published/audit.json``."""

    verdicts: tuple[Verdict, ...] = ()
    schema: int = SCHEMA_VERSION


NONE_KEPT: Mapping[Key, Verdict] = MappingProxyType({})


def read_verdicts(workspace: Workspace, complain: Complain | None = None) -> dict[Key, Verdict]:
    """Return the verdicts kept in a workspace; none where the file is missing or damaged."""
    kept = read_record_if_whole(workspace.audit, Verdicts, complain) or Verdicts()
    return {verdict.key: verdict for verdict in kept.verdicts}


def key_of(report: str, figure: PublishedFigure) -> Key:
    return report, figure.log, estimator_of(figure.rule) or "", figure.printed


def estimator_of(rule: str) -> str | None:
    """Return the estimator that a figure's rule names."""
    for pattern, estimator in _ESTIMATORS:
        if match := re.search(pattern, rule):
            return match.expand(estimator)
    return None


def noted_verdict(rule: str) -> Message | None:
    """Return what the rule of a figure says about its log, which was written when the report was transcribed."""
    if found := _NOTED_DIFFERENCE.search(rule):
        return message("noted_difference", difference=float(found[1]))
    if _NOT_REPRODUCED.search(rule):
        return message("noted_not_reproduced")
    return message("noted_exact") if "[exact]" in rule else None


def caveats_of_figure(report: str, figure: PublishedFigure, verdicts: Mapping[Key, Verdict]) -> Iterator[Finding]:
    """Yield the caveats of a third-party result: its log does not give it, or its source contradicts it."""
    kept = verdicts.get(key_of(report, figure))
    outcome = kept.verdict if kept else noted_verdict(figure.rule)
    if outcome is not None and outcome.code in (DIFFERS, "noted_difference"):
        yield warning("not_reproduced", difference=outcome.parameters["difference"])
    elif outcome is not None and outcome.code == "noted_not_reproduced":
        yield warning("no_log_reproduces")
    if found := _REMARK.search(figure.rule):
        yield warning("source_remark", remark=quoted(found[1]))
