"""The data of all pages, grouped and ordered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dlperf.catalog.entry import Entry
from dlperf.catalog.hardware import Accelerator, Hardware, Precision
from dlperf.catalog.metrics import Metric, Protocol
from dlperf.catalog.model import Case, Framework
from dlperf.catalog.units import is_rate
from dlperf.derived.health import CASE as DIAGNOSIS
from dlperf.measured.findings.program_faults import FAULTS
from dlperf.measured.statistics import bandwidth_limit, flop_limit, roofline_share
from dlperf.messages import ENGLISH, LANGUAGES, N_, Language
from dlperf.messages.language import CODES, Code
from dlperf.plan import PlannedConfiguration
from dlperf.report.charts.svg import series_of
from dlperf.report.machine import Probed
from dlperf.report.names import printed_names
from dlperf.report.site import locations as at
from dlperf.report.site.locations import ReportGroup, group_of
from dlperf.runs.published import PublishedReport
from dlperf.runs.records import CampaignRecord
from dlperf.table.conditions import continued
from dlperf.table.load import SUPERSEDED
from dlperf.table.model import ConfigurationResult
from dlperf.table.verified import Verified
from dlperf.verdicts.inference.policies import CLAIM
from dlperf.verification.audit import AuditRow

if TYPE_CHECKING:
    from dlperf.verdicts.claims import Context

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)
Kind = TypeVar("Kind", bound=Entry)

SIXTEEN_BIT = ("fp16", "bf16", "amp")
PUBLISHED = "published/"
MEASURED = "measured/"
KINDS = {
    "measured": N_("Our measurements"),
    "imported": N_("Computed from imported logs"),
    "published": N_("Third-party results"),
}
"""Origins of results in the order of pages, with their headings."""
FAMILIES = {
    "jax": "JAX",
    "mindspore": "MindSpore",
    "mxnet": "MXNet",
    "oneflow": "OneFlow",
    "paddle": "PaddlePaddle",
    "pytorch": "PyTorch",
    "tensorflow": "TensorFlow",
}
"""Names of the frameworks that logs reveal (``evidence.names.FRAMEWORKS``), whatever the version."""


@dataclass(frozen=True)
class SiteData:
    results: tuple[ConfigurationResult, ...] = ()
    published: Mapping[str, PublishedReport] = field(default_factory=dict)
    """By campaign, ``published/<report>``."""
    campaigns: Mapping[str, CampaignRecord] = field(default_factory=dict)
    hardware: Mapping[str, Hardware] = field(default_factory=dict)
    accelerators: Mapping[str, Accelerator] = field(default_factory=dict)
    precisions: Mapping[str, Precision] = field(default_factory=dict)
    frameworks: Mapping[str, Framework] = field(default_factory=dict)
    cases: Mapping[str, Case] = field(default_factory=dict)
    protocols: Mapping[str, Protocol] = field(default_factory=dict)
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    probed: Mapping[tuple[str, str, str], Probed] = field(default_factory=dict)
    """By campaign, hardware and framework."""
    profiled: frozenset[tuple[str, str]] = frozenset()
    """Campaign and configuration id of each result that has a profile."""
    verified: Mapping[str, Verified] = field(default_factory=dict)
    """When all values of a campaign were recomputed from their raw logs."""
    audit: tuple[AuditRow, ...] = ()
    problems: tuple[str, ...] = ()
    """Files that could not be read, one a line."""
    wrong: tuple[str, ...] = ()
    """Kept results that are not what their logs give, one a line: the recomputed ones are published."""
    address: str = ""
    """Address of the site with a trailing slash; empty if unknown."""
    edition: str = ""
    """Name under which this build is kept; empty if it is not."""
    editions: tuple[str, ...] = ()
    """Names of all editions, the last first."""
    language: Language = ENGLISH
    """Of the names that reports print."""
    languages: tuple[Code, ...] = CODES
    """Of the site."""
    title: str = "dlperf"
    """Name of the site."""
    repository: str = ""
    """Address of the repository whose issues are about the results; empty if unknown."""
    templates: Path | None = None
    """Folder of the workspace's own page templates."""
    parquet: bool = False
    """Whether Parquet files are offered."""
    previews: bool = False
    """Whether there are pictures for link previews."""

    @property
    def site_languages(self) -> tuple[Language, ...]:
        return tuple(LANGUAGES[code] for code in self.languages)

    def localized(self, language: Language) -> SiteData:
        """Return the data with the catalogue's texts in the language of the page, where translated."""
        return self._chinese if language.code == "zh" else self

    @cached_property
    def _chinese(self) -> SiteData:
        kinds = ("hardware", "accelerators", "frameworks", "cases", "protocols")
        localized: dict[str, Any] = {kind: _in_chinese(getattr(self, kind)) for kind in kinds}
        return replace(self, **localized, language=LANGUAGES["zh"])

    @cached_property
    def ordered(self) -> tuple[ConfigurationResult, ...]:
        """Return results in the order of every table."""
        return tuple(sorted(self.results, key=lambda row: (is_published(row.campaign), row.campaign)))

    @cached_property
    def used_precisions(self) -> tuple[Precision, ...]:
        """Return the precisions of the catalogue that a result has."""
        used = {row.precision for row in self.results}
        return tuple(entry for entry in self.precisions.values() if entry.id in used)

    @cached_property
    def trained(self) -> tuple[ConfigurationResult, ...]:
        """Return the ordered results but those of diagnoses, which measure machines."""
        return tuple(row for row in self.ordered if row.case != DIAGNOSIS)

    @cached_property
    def groups(self) -> dict[ReportGroup, tuple[ConfigurationResult, ...]]:
        return grouped(self.ordered, group_of)

    @cached_property
    def audited(self) -> dict[tuple[str, str], tuple[AuditRow, ...]]:
        """Campaign and configuration id → what was found of the raw logs of a third-party result."""
        return grouped(self.audit, lambda row: (f"{PUBLISHED}{row.report}", row.id))

    @cached_property
    def of_hardware(self) -> dict[str, tuple[ConfigurationResult, ...]]:
        return grouped(self.ordered, lambda row: row.hardware)

    @cached_property
    def of_framework(self) -> dict[str, tuple[ConfigurationResult, ...]]:
        return grouped(self.ordered, lambda row: row.framework)

    def most_measured(self, results: Iterable[ConfigurationResult]) -> tuple[int, int]:
        """Return the sort key of frameworks and machines: most training results first, our own before others'."""
        trained = [row for row in results if row.case != DIAGNOSIS and row.value is not None]
        return -sum(self.kind(row.campaign) == "measured" for row in trained), -len(trained)

    @cached_property
    def series(self) -> dict[str, int]:
        """Return the index of the colour and mark of each framework, the same on every page.

        Those measured here come first and are drawn plain.
        """
        here = {row.framework for row in self.ordered if self.kind(row.campaign) == "measured"}
        return series_of(sorted({row.framework for row in self.ordered}, key=lambda name: (name not in here, name)))

    @cached_property
    def reports(self) -> dict[tuple[str, str], tuple[ConfigurationResult, ...]]:
        """Return results by source and case; of a configuration that several campaigns measured, one.

        Results that are superseded or of a faulty program are left out.
        """
        left_out = {SUPERSEDED, *FAULTS}
        current = (row for row in self.ordered if left_out.isdisjoint(finding.code for finding in row.findings))
        reports = grouped(current, lambda row: (self.source(row), row.case))
        return {
            (source, case): self._standing(rows) if source.startswith(MEASURED) else rows
            for (source, case), rows in reports.items()
        }

    @cached_property
    def of_profile(self) -> dict[tuple[str, str, str], tuple[ConfigurationResult, ...]]:
        """Return the profiled results by kind of campaign, configuration and unit."""
        rows = (row for row in self.ordered if (row.campaign, row.id) in self.profiled)
        return grouped(rows, lambda row: (self.kind(row.campaign), row.id, row.unit))

    @property
    def training_reports(self) -> Iterator[tuple[ConfigurationResult, ...]]:
        """Yield the results of each report but those of diagnoses, which measure machines."""
        return (rows for (_, case), rows in self.reports.items() if case != DIAGNOSIS)

    @cached_property
    def models(self) -> dict[str, tuple[ConfigurationResult, ...]]:
        """Return the results with a value of each case on which there are reports of several sources."""
        known = (row for rows in self.reports.values() for row in rows if row.value is not None)
        cases = grouped(known, lambda row: row.case)
        return {case: rows for case, rows in cases.items() if len(set(map(self.source, rows))) > 1}

    @cached_property
    def current(self) -> tuple[ConfigurationResult, ...]:
        """Return the results of all reports on training; of a configuration measured under several protocols, one."""
        rows = [row for members in self.training_reports for row in members]
        own = [row for row in rows if self.is_ours(row.campaign)]
        return *self._standing(own), *(row for row in rows if not self.is_ours(row.campaign))

    @cached_property
    def context(self) -> Context:
        """Return what the claims of the site have in common."""
        from dlperf.report.answer import context_of_site

        return context_of_site(self)

    def _standing(self, rows: Iterable[ConfigurationResult]) -> tuple[ConfigurationResult, ...]:
        """Return one result of each configuration, in order of first appearance: the one with most trials, of which as
        many as a claim needs suffice, and of these the newest."""
        same = grouped(rows, lambda row: (row.id, row.unit))
        return tuple(max(members, key=self._support) for members in same.values())

    def _support(self, row: ConfigurationResult) -> tuple[bool, int, str, str]:
        trials = min(len(row.values), CLAIM.most)
        return row.value is not None, trials, self.created(row.campaign), row.campaign

    @cached_property
    def repeated(self) -> dict[tuple[object, ...], tuple[ConfigurationResult, ...]]:
        """Return results by date of each configuration (``point``) that several campaigns measured.

        Those of a faulty program are left out: a correction is no regression.
        """
        own = (row for row in self.ordered if row.value and self.is_ours(row.campaign))
        measured = [row for row in own if not row.program_faults]
        dated = sorted(measured, key=lambda row: (self.created(row.campaign), row.campaign))
        points = grouped(dated, point)
        return {name: rows for name, rows in points.items() if len({row.campaign for row in rows}) > 1}

    def created(self, campaign: str) -> str:
        """Return when a campaign was created or a report published; empty if unknown."""
        record, report = self.campaigns.get(campaign), self.published.get(campaign)
        return record.created if record else (report.date if report else None) or ""

    @cached_property
    def plans(self) -> dict[tuple[str, str], PlannedConfiguration]:
        """Return planned configurations by campaign and id, with what ledgers say of their programs today."""
        return {
            (name, planned.configuration.id): self._told(planned)
            for name, record in self.campaigns.items()
            for planned in record.configurations
        }

    def _told(self, planned: PlannedConfiguration) -> PlannedConfiguration:
        case = self.cases.get(planned.configuration.case)
        ledger = case.ledger.of(planned.configuration.framework) if case and case.ledger else {}
        return replace(planned, options=continued(planned.options, ledger)) if ledger else planned

    def plan(self, result: ConfigurationResult) -> PlannedConfiguration | None:
        return self.plans.get((result.campaign, result.id))

    @cached_property
    def _imported(self) -> frozenset[str]:
        return frozenset(name for (name, _), plan in self.plans.items() if plan.launch.imported)

    def is_imported(self, campaign: str) -> bool:
        """Tell whether a campaign holds imported logs: values were computed here, but nothing was run here."""
        return campaign in self._imported

    def roofline(self, row: ConfigurationResult) -> float | None:
        """Return throughput over the lower limit of arithmetic and memory bandwidth; None if unknown.

        The memory traffic of a case is known at 16 bit only.
        """
        plan, case = self.plan(row), self.cases.get(row.case)
        if plan is None or row.value is None or not is_rate(row.unit, row.direction):
            return None
        if plan.configuration.precision.removesuffix("-pure") not in SIXTEEN_BIT:
            return None
        traffic, gpu = case.bytes_per_sample if case else None, plan.accelerator
        memory = bandwidth_limit(traffic, row.gpus_total, gpu.bandwidth_gb_per_s if gpu else None)
        arithmetic = flop_limit(plan.gflops_per_sample, row.gpus_total, plan.peak_tflops)
        return roofline_share(row.value, arithmetic, memory) if memory and arithmetic else None

    def source(self, result: ConfigurationResult) -> str:
        """Return the name of a public report, an imported campaign, or our measurements under one protocol.

        Only results of one source are compared: between sources, machines and protocols differ in undocumented ways.
        """
        measured = self.kind(result.campaign) == "measured"
        return f"{MEASURED}{result.protocol or ''}" if measured else result.campaign

    def kind(self, campaign: str) -> str:
        """Return the origin of a campaign or source, one of ``KINDS``."""
        if is_published(campaign):
            return "published"
        return "imported" if self.is_imported(campaign) else "measured"

    def is_ours(self, campaign: str) -> bool:
        """Tell whether the results of a campaign were measured here."""
        return self.kind(campaign) == "measured"

    def source_title(self, language: Language, source: str) -> str:
        """Return the name of a campaign, a public report or a source, as plain text."""
        report = self.published.get(source)
        if report:
            return report.title.localized(language.code)
        if source.startswith(MEASURED):
            return language.gettext("our measurements, protocol {protocol}", protocol=source.removeprefix(MEASURED))
        return source.removeprefix(PUBLISHED)

    def report_title(self, language: Language, source: str, case: str) -> str:
        return f"{self.case_title(case)} – {self.source_title(language, source)}"

    def preview(self, page: str) -> str:
        """Return the address of a page's picture for link previews, that of the home page if it has none of its own."""
        if not self.previews:
            return ""
        own = any(page == at.report_page(*key) for key in self.reports)
        return self.address + at.preview(page if own else at.HOME)

    def metric_title(self, language: Language, metric: str) -> str:
        known = self.metrics.get(metric)
        return known.localized(language.code).title if known else metric

    def case_title(self, case: str) -> str:
        return _title(self.cases, case) or self._printed_names.get(("case", case, "")) or case

    def framework_title(self, framework: str, campaign: str = "") -> str:
        """Return the name of a framework: as printed in a published report, elsewhere as in the catalogue.

        The framework of an imported log has no known version, and so no catalogue entry.
        """
        if self.lacks_version(framework, campaign):
            return FAMILIES[framework]
        printed = self._printed_names.get(("framework", framework, campaign))
        return printed if printed and campaign else _title(self.frameworks, framework) or printed or framework

    def lacks_version(self, framework: str, campaign: str) -> bool:
        """Tell whether the framework is known from imported logs only."""
        return framework in FAMILIES and self.is_imported(campaign)

    def hardware_title(self, hardware: str, campaign: str = "") -> str:
        printed = self._printed_names.get(("hardware", hardware, campaign))
        return printed if printed and campaign else _title(self.hardware, hardware) or printed or hardware

    @cached_property
    def _printed_names(self) -> dict[tuple[str, str, str], str]:
        return printed_names(self.published, self.language)


def is_published(campaign: str) -> bool:
    return campaign.startswith(PUBLISHED)


def point(result: ConfigurationResult) -> tuple[object, ...]:
    """Return the key that identifies a configuration across campaigns."""
    return result.case, result.hardware, result.framework, *_point(result), result.unit


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, tuple[Item, ...]]:
    """Group items by key, in order of first appearance."""
    found: defaultdict[Key, list[Item]] = defaultdict(list)
    for item in items:
        found[key(item)].append(item)
    return {name: tuple(members) for name, members in found.items()}


def distinct(items: Iterable[Key]) -> tuple[Key, ...]:
    """Remove repetitions, in order of first appearance."""
    return tuple(dict.fromkeys(items))


def _in_chinese(entries: Mapping[str, Kind]) -> dict[str, Kind]:
    return {name: entry.localized("zh") for name, entry in entries.items()}


def _point(row: ConfigurationResult) -> tuple[object, ...]:
    return row.precision, row.batch_size, row.nodes, row.gpus, row.axes


def _title(entries: Mapping[str, Hardware] | Mapping[str, Framework] | Mapping[str, Case], name: str) -> str | None:
    entry = entries.get(name)
    return entry.title if entry else None
