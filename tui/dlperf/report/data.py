"""Everything that the pages are made from, and how it is put together and ordered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from dlperf.catalog.model import Accelerator, Case, Entry, Framework, Hardware, Protocol
from dlperf.messages import N_, Language
from dlperf.plan import PlannedConfiguration
from dlperf.report.charts.svg import coloured
from dlperf.report.locations import Group, group_of
from dlperf.report.machine import Probed
from dlperf.results.audit import AuditRow
from dlperf.results.identify import catalog_id
from dlperf.results.importing import NODE as IMPORTED
from dlperf.results.model import ConfigurationResult
from dlperf.runs.published import PublishedReport
from dlperf.runs.records import CampaignRecord

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)
Kind = TypeVar("Kind", bound=Entry)

PUBLISHED = "published/"
MEASURED = "measured/"
KINDS = {
    "measured": N_("Measured here"),
    "imported": N_("Computed from imported logs"),
    "published": N_("Published by others"),
}
"""How figures came about, in the order in which pages show them, with their headings."""
FAMILIES = {
    "mindspore": "MindSpore",
    "mxnet": "MXNet",
    "oneflow": "OneFlow",
    "paddle": "PaddlePaddle",
    "pytorch": "PyTorch",
    "tensorflow": "TensorFlow",
}
"""Frameworks that logs and their names tell (``results.names.FRAMEWORKS``) → their names, whatever the version."""


@dataclass(frozen=True)
class SiteData:
    """One source of data for the pages of both languages."""

    results: tuple[ConfigurationResult, ...] = ()
    published: Mapping[str, PublishedReport] = field(default_factory=dict)
    """By campaign, ``published/<report>``."""
    campaigns: Mapping[str, CampaignRecord] = field(default_factory=dict)
    hardware: Mapping[str, Hardware] = field(default_factory=dict)
    accelerators: Mapping[str, Accelerator] = field(default_factory=dict)
    frameworks: Mapping[str, Framework] = field(default_factory=dict)
    cases: Mapping[str, Case] = field(default_factory=dict)
    protocols: Mapping[str, Protocol] = field(default_factory=dict)
    probed: Mapping[tuple[str, str, str], Probed] = field(default_factory=dict)
    """By campaign, hardware and framework."""
    audit: tuple[AuditRow, ...] = ()
    problems: tuple[str, ...] = ()
    """What could not be read and is left out, a line for each."""
    address: str = ""
    """Where the site stands on the web, with a slash at its end; empty where nobody said."""
    templates: Path | None = None
    """The workspace's own templates of pages."""
    parquet: bool = False
    """The figures are offered as Parquet too."""

    def spoken(self, language: Language) -> SiteData:
        """The same data, with what the catalogue says in the page's language where it says it there."""
        return self._chinese if language.code == "zh" else self

    @cached_property
    def _chinese(self) -> SiteData:
        return replace(
            self,
            hardware=_in_chinese(self.hardware),
            accelerators=_in_chinese(self.accelerators),
            frameworks=_in_chinese(self.frameworks),
            cases=_in_chinese(self.cases),
            protocols=_in_chinese(self.protocols),
        )

    @cached_property
    def ordered(self) -> tuple[ConfigurationResult, ...]:
        """The results in the order of every table, whatever order campaigns were read in; what a report prints twice
        stands once."""
        told = grouped(self.results, lambda row: (group_of(row), *_point(row), row.value))
        return tuple(sorted((rows[0] for rows in told.values()), key=order))

    @cached_property
    def groups(self) -> dict[Group, tuple[ConfigurationResult, ...]]:
        return grouped(self.ordered, group_of)

    @cached_property
    def of_hardware(self) -> dict[str, tuple[ConfigurationResult, ...]]:
        return grouped(self.ordered, lambda row: row.hardware)

    @cached_property
    def of_framework(self) -> dict[str, tuple[ConfigurationResult, ...]]:
        return grouped(self.ordered, lambda row: row.framework)

    @cached_property
    def series(self) -> dict[str, int]:
        """Framework → the index of its colour and mark, the same on every page."""
        meetings = grouped(self.ordered, lambda row: (self.source(row), row.case, row.hardware))
        here = {row.framework for row in self.ordered if self.kind(row.campaign) == "measured"}
        return coloured(({row.framework for row in rows} for rows in meetings.values()), first=here)

    @cached_property
    def reports(self) -> dict[tuple[str, str], tuple[ConfigurationResult, ...]]:
        """Source and case → results. Of what several campaigns measured the newest stands; the history has them all."""
        told = grouped(self.ordered, lambda row: (self.source(row), row.case))
        return {
            (source, case): self._newest(rows) if source.startswith(MEASURED) else rows
            for (source, case), rows in told.items()
        }

    def _newest(self, rows: Iterable[ConfigurationResult]) -> tuple[ConfigurationResult, ...]:
        """One result for each configuration, in the order of first appearance; a figure before none, then by date."""
        same = grouped(rows, lambda row: (row.configuration, row.unit))
        return tuple(
            max(members, key=lambda row: (row.value is not None, self.created(row.campaign), row.campaign))
            for members in same.values()
        )

    @cached_property
    def repeated(self) -> dict[tuple[object, ...], tuple[ConfigurationResult, ...]]:
        """What several campaigns measured: the configuration (``point``) → its figures, in the order of their dates."""
        measured = [row for row in self.ordered if row.value and not is_published(row.campaign)]
        dated = sorted(measured, key=lambda row: (self.created(row.campaign), row.campaign))
        told = grouped(dated, point)
        return {name: rows for name, rows in told.items() if len({row.campaign for row in rows}) > 1}

    def created(self, campaign: str) -> str:
        """When a campaign was begun or a report published; empty where that is not known."""
        record, report = self.campaigns.get(campaign), self.published.get(campaign)
        return record.created if record else (report.date if report else None) or ""

    @cached_property
    def plans(self) -> dict[tuple[str, str], PlannedConfiguration]:
        """Campaign and configuration id → what was planned."""
        return {
            (name, planned.configuration.id): planned
            for name, record in self.campaigns.items()
            for planned in record.configurations
        }

    def plan(self, result: ConfigurationResult) -> PlannedConfiguration | None:
        return self.plans.get((result.campaign, result.configuration))

    @cached_property
    def imported(self) -> frozenset[str]:
        """Campaigns of somebody else's logs: the figures were computed here, nothing was run here."""
        return frozenset(name for (name, _), plan in self.plans.items() if plan.launch.executor == IMPORTED)

    def is_imported(self, campaign: str) -> bool:
        """Whether a campaign holds somebody else's logs."""
        return campaign in self.imported

    def source(self, result: ConfigurationResult) -> str:
        """What a report is made of: a public report, an imported campaign, or all that was measured here by a protocol.

        Only figures of one source are compared: elsewhere machines and protocols differ in ways that nobody wrote down.
        """
        measured = self.kind(result.campaign) == "measured"
        return f"{MEASURED}{result.protocol or ''}" if measured else result.campaign

    def kind(self, campaign: str) -> str:
        """How the figures of a campaign or source came about: ``published``, ``imported`` or ``measured``."""
        if is_published(campaign):
            return "published"
        return "imported" if self.is_imported(campaign) else "measured"

    def source_title(self, language: Language, source: str) -> str:
        """What a campaign, a public report or a source is called, as plain text."""
        report = self.published.get(source)
        if report:
            return report.title.localized(language.code)
        if source.startswith(MEASURED):
            return language.gettext("measured here, protocol {protocol}", protocol=source.removeprefix(MEASURED))
        return source.removeprefix(PUBLISHED)

    def case_title(self, case: str) -> str:
        return _title(self.cases, case) or case

    def framework_title(self, framework: str, campaign: str = "") -> str:
        """What a framework is called: in a published report as it says, elsewhere as the catalogue says.

        A log of others tells of PyTorch, but not which: it is called that, and nothing the catalogue says of its own.
        """
        if self.tells_no_version(framework, campaign):
            return FAMILIES[framework]
        printed = self._printed_names.get(("framework", framework, campaign))
        return printed if printed and campaign else _title(self.frameworks, framework) or printed or framework

    def tells_no_version(self, framework: str, campaign: str) -> bool:
        """Whether a campaign's framework is what imported logs or their names tell, and no stack of the catalogue."""
        return framework in FAMILIES and self.is_imported(campaign)

    def hardware_title(self, hardware: str, campaign: str = "") -> str:
        """As ``framework_title``."""
        printed = self._printed_names.get(("hardware", hardware, campaign))
        return printed if printed and campaign else _title(self.hardware, hardware) or printed or hardware

    @cached_property
    def _printed_names(self) -> dict[tuple[str, str, str], str]:
        """Axis, id and campaign → the name that the report prints; without a campaign the first report's."""
        names: dict[tuple[str, str, str], str] = {}
        for campaign, report in self.published.items():
            for figure in report.figures:
                for axis, printed in (("framework", figure.framework), ("hardware", figure.hardware)):
                    names[axis, catalog_id(printed), campaign] = printed
                    names.setdefault((axis, catalog_id(printed), ""), printed)
        return names


def is_published(campaign: str) -> bool:
    return campaign.startswith(PUBLISHED)


def facts_in_words(language: Language, entry: Hardware, facts: Mapping[str, str]) -> dict[str, str]:
    """Facts of a machine in the page's language, those that are still what the catalogue says of it."""
    chinese = entry.zh.facts if entry.zh and language.code == "zh" else {}
    return {
        name: chinese.get(name, value) if entry.facts.get(name) == value else value for name, value in facts.items()
    }


def gpus_total(result: ConfigurationResult) -> int:
    return result.nodes * result.gpus


def point(result: ConfigurationResult) -> tuple[object, ...]:
    """What is the same in each campaign that measures a configuration."""
    return result.case, result.hardware, result.framework, *_point(result), result.unit


def order(result: ConfigurationResult) -> tuple[bool, str]:
    """What is measured here comes first, then by name; within a campaign or report its own order stays."""
    return is_published(result.campaign), result.campaign


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, tuple[Item, ...]]:
    """Items under their key, keys in order of first appearance."""
    found: defaultdict[Key, list[Item]] = defaultdict(list)
    for item in items:
        found[key(item)].append(item)
    return {name: tuple(members) for name, members in found.items()}


def distinct(items: Iterable[Key]) -> tuple[Key, ...]:
    """Items without their repetitions, in order of first appearance."""
    return tuple(dict.fromkeys(items))


def _in_chinese(entries: Mapping[str, Kind]) -> dict[str, Kind]:
    return {name: entry.localized("zh") for name, entry in entries.items()}


def _point(row: ConfigurationResult) -> tuple[object, ...]:
    return row.precision, row.batch_size, row.nodes, row.gpus


def _title(entries: Mapping[str, Hardware] | Mapping[str, Framework] | Mapping[str, Case], name: str) -> str | None:
    entry = entries.get(name)
    return entry.title if entry else None
