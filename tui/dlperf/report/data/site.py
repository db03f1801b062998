"""The data of all pages, grouped and ordered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from dlperf.catalog.entry import Entry
from dlperf.catalog.hardware import Precision
from dlperf.derived.health import CASE as DIAGNOSIS
from dlperf.messages import LANGUAGES, Language
from dlperf.report.charts.svg import series_of
from dlperf.report.data.contents import MEASURED, PUBLISHED, is_published
from dlperf.report.data.grouping import grouped, point
from dlperf.report.data.titles import NamedContents
from dlperf.report.data.together import Rows, joint, like_with_like, measurements
from dlperf.report.site import locations as at
from dlperf.report.site.locations import ReportGroup, group_of
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.inference.policies import CLAIM
from dlperf.verification.audit import AuditRow

if TYPE_CHECKING:
    from dlperf.verdicts.claims import Context

Kind = TypeVar("Kind", bound=Entry)


@dataclass(frozen=True)
class SiteData(NamedContents):
    """The contents with their results in the groups that pages show."""

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
        reports = grouped((row for row in self.ordered if row.stands), lambda row: (self.source(row), row.case))
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
        """Return the results of all reports on training; of a configuration measured under several protocols or on
        several GPUs, one (``joint``)."""
        rows = [row for members in self.training_reports for row in members]
        own = self._standing(row for row in rows if self.is_ours(row.campaign))
        return *map(self.joint, own), *(row for row in rows if not self.is_ours(row.campaign))

    def support(self, row: ConfigurationResult) -> int:
        """Return how well a result of ours supports its value; 0 of others'.

        A program without a known fault comes first, then trials on all GPUs measured together, of which as many as a
        claim needs suffice.
        """
        if not self.is_ours(row.campaign):
            return 0
        trials = min(sum(one.n or 0 for one in self.together(row)), CLAIM.most)
        return trials if row.program_caveats else trials + CLAIM.most + 1

    @cached_property
    def context(self) -> Context:
        """Return what the claims of the site have in common."""
        from dlperf.report.answer import context_of_site

        return context_of_site(self)

    def is_earlier(self, row: ConfigurationResult) -> bool:
        """Whether a result of ours is of a program that a later one replaced, as ``earlier_programs`` says."""
        return (row.campaign, row.id, row.unit) in self._earlier

    @cached_property
    def _earlier(self) -> frozenset[tuple[str, str, str]]:
        from dlperf.report.best import earlier_programs

        return earlier_programs(self)

    def _standing(self, rows: Iterable[ConfigurationResult]) -> tuple[ConfigurationResult, ...]:
        """Return one result of each configuration, in order of first appearance: the one with most trials, of which as
        many as a claim needs suffice, and of these the newest."""
        same = grouped(rows, lambda row: (row.id, row.unit))
        return tuple(max(members, key=self._support) for members in same.values())

    def _support(self, row: ConfigurationResult) -> tuple[bool, int, str, str]:
        trials = min(len(row.values), CLAIM.most)
        return row.value is not None, trials, self.created(row.campaign), row.campaign

    @cached_property
    def _measurements(self) -> dict[tuple[object, ...], list[Rows]]:
        """Return our results by date of each configuration (``point``), those of GPUs measured together as one.

        Those of a faulty program are left out: a correction is no regression.
        """
        own = (row for row in self.ordered if row.value and self.is_ours(row.campaign))
        measured = [row for row in own if not row.program_faults]
        dated = sorted(measured, key=lambda row: (self.created(row.campaign), row.campaign))
        return {name: measurements(rows, self.created) for name, rows in grouped(dated, point).items()}

    @cached_property
    def repeated(self) -> dict[tuple[object, ...], Rows]:
        """Return results by date of each configuration that was measured again, one of each measurement."""
        found = {name: like_with_like(each) for name, each in self._measurements.items()}
        return {name: rows for name, rows in found.items() if len({row.campaign for row in rows}) > 1}

    def together(self, row: ConfigurationResult) -> Rows:
        """Return a result with those of other GPUs that were measured together with it."""
        return self._together.get((row.campaign, *point(row)), (row,))

    def with_together(self, rows: Iterable[ConfigurationResult]) -> Rows:
        """Return results, each followed by those of other GPUs that were measured together with it, by campaign."""
        found = (one for row in rows for one in sorted(self.together(row), key=lambda each: each.campaign))
        return tuple({id(one): one for one in found}.values())

    @cached_property
    def of_several_gpus(self) -> tuple[Rows, ...]:
        """Return the results of each configuration that GPUs of a kind ran together, each on its own."""
        return tuple(rows for each in self._measurements.values() for rows in each if len(rows) > 1)

    def joint(self, row: ConfigurationResult) -> ConfigurationResult:
        """Return what stands for a result and those measured together with it: the middle one, with their median."""
        rows = self.together(row)
        return joint(rows) if len(rows) > 1 else row

    def is_joint(self, row: ConfigurationResult) -> bool:
        """Whether a result stands for several GPUs, as ``joint`` makes it: without a number of trials of its own."""
        return row.n is None and len(self.together(row)) > 1

    def joint_where_alone(self, rows: Sequence[ConfigurationResult]) -> Rows:
        """Return results for one list: as ``joint`` where no other one that was measured together is in it."""
        first = [id(self.together(row)[0]) for row in rows]
        listed = Counter(first)
        return tuple(self.joint(row) if listed[name] == 1 else row for name, row in zip(first, rows, strict=True))

    @cached_property
    def _together(self) -> dict[tuple[object, ...], Rows]:
        return {(row.campaign, *point(row)): rows for rows in self.of_several_gpus for row in rows}

    def preview(self, page: str) -> str:
        """Return the address of a page's picture for link previews, that of the home page if it has none of its own."""
        if not self.previews:
            return ""
        own = any(page == at.report_page(*key) for key in self.reports)
        return self.address + at.preview(page if own else at.HOME)


def _in_chinese(entries: Mapping[str, Kind]) -> dict[str, Kind]:
    return {name: entry.localized("zh") for name, entry in entries.items()}
