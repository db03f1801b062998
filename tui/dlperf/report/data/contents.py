"""What the pages are made of, and where each result comes from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from dlperf.catalog.hardware import Accelerator, Hardware, Precision
from dlperf.catalog.metrics import Metric, Protocol
from dlperf.catalog.model import Case, Framework
from dlperf.catalog.units import is_rate
from dlperf.measured.statistics import bandwidth_limit, flop_limit, roofline_share
from dlperf.messages import ENGLISH, N_, Language
from dlperf.messages.language import CODES, Code
from dlperf.plan import PlannedConfiguration
from dlperf.report.machine import Probed
from dlperf.report.site.lists.withdrawn import Withdrawn
from dlperf.runs.published import PublishedReport
from dlperf.runs.records import CampaignRecord
from dlperf.table.audited import Verified
from dlperf.table.conditions import continued
from dlperf.table.model import ConfigurationResult
from dlperf.verification.audit import AuditRow

SIXTEEN_BIT = ("fp16", "bf16", "amp")
PUBLISHED = "published/"
MEASURED = "measured/"
KINDS = {
    "measured": N_("Our measurements"),
    "imported": N_("Computed from imported logs"),
    "published": N_("Third-party results"),
}
"""Origins of results in the order of pages, with their headings."""


@dataclass(frozen=True)
class SiteContents:
    """What was loaded of a workspace."""

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
    withdrawn: tuple[Withdrawn, ...] = ()
    """Claims that the site no longer makes."""
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
    contact: str = ""
    """Web or e-mail address of who answers for the results; empty if it is not stated."""
    templates: Path | None = None
    """Folder of the workspace's own page templates."""
    parquet: bool = False
    """Whether Parquet files are offered."""
    previews: bool = False
    """Whether there are pictures for link previews."""

    def created(self, campaign: str) -> str:
        """Return when a campaign was created or a report published; empty if unknown."""
        record, report = self.campaigns.get(campaign), self.published.get(campaign)
        return record.created if record else (report.date if report else None) or ""

    @cached_property
    def plans(self) -> dict[tuple[str, str], PlannedConfiguration]:
        """Return planned configurations by campaign and id, with what the catalogue says of them today."""
        return {
            (name, planned.configuration.id): self._with_facts(name, self._told(planned))
            for name, record in self.campaigns.items()
            for planned in record.configurations
        }

    def _with_facts(self, campaign: str, planned: PlannedConfiguration) -> PlannedConfiguration:
        machine = self.hardware.get(planned.configuration.hardware)
        told = machine.facts_told_of(campaign) if machine else {}
        return replace(planned, facts=planned.facts | told) if told else planned

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


def is_published(campaign: str) -> bool:
    return campaign.startswith(PUBLISHED)
