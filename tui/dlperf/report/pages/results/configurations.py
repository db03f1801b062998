"""The page of a group of configurations, with a section of evidence for each."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median

from dlperf.derived.health import Fleet
from dlperf.messages import N_, Language
from dlperf.messages.numbers import four_digits
from dlperf.report import figures
from dlperf.report.answer import rivals_in_campaign
from dlperf.report.data import SiteData, distinct, grouped, is_published, point
from dlperf.report.evidence import NOTHING, TrialEvidence
from dlperf.report.pages import references
from dlperf.report.pages.audit import verification
from dlperf.report.pages.page import Page
from dlperf.report.pages.protocols import protocol_facts
from dlperf.report.pages.results.derivation import reported_types, subtraction
from dlperf.report.pages.results.environment import environments, loaded
from dlperf.report.pages.results.evidence import (
    Shapes,
    can_be_tested,
    changed_programs,
    commands_again,
    measured_trial,
    trial_charts,
)
from dlperf.report.pages.results.profiles import OfferedProfile, profile_link, profile_view
from dlperf.report.pages.results.trials import (
    SHOWN_OF_HASH,
    artifacts,
    estimates,
    findings,
    metrics,
    mfu_text,
    outcomes,
)
from dlperf.report.site import locations as at
from dlperf.report.site.locations import ReportGroup
from dlperf.report.views import ColumnView, Link, TableView, filled
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.inference.policies import APART

Results = Sequence[ConfigurationResult]
EvidenceOf = Mapping[tuple[str, int], TrialEvidence]
"""Evidence by configuration anchor and trial number."""
OVERVIEW = (
    *("precision", "batch_size", "axes", "nodes_gpus", "figure", "unit", "speedup", "efficiency", "mfu", "roofline"),
    "samples_per_joule",
)
OF_WHOLE_RUN = {"goodput", "steady_rate"}
"""Metrics of more steps than a protocol measures."""
LINKS, SCRIPTS = "copy-link.js", ("curves.js", "log-lines.js")


def configurations(
    language: Language,
    data: SiteData,
    group: ReportGroup,
    results: Results,
    evidence: EvidenceOf,
    shapes: Mapping[str, Shapes] | None = None,
    profiles: Mapping[str, OfferedProfile | None] | None = None,
    fleets: Sequence[Fleet] = (),
) -> str:
    """Return the page of a group.

    Args:
        shapes: the charts of each configuration, by its anchor.
        profiles: where it ran under a profiler, by its anchor.
        fleets: of a diagnosis.
    """
    page = Page(language, data, at.group_page(group), figures.shared_axes(results))
    framework, hardware = (
        page.framework_link(group.framework, group.campaign),
        page.hardware_link(group.hardware, group.campaign),
    )
    case = data.case_title(group.case)
    return page.render(
        "configurations.md.j2",
        title=" · ".join((framework.text, case, hardware.text)),
        least_tested=APART.least,
        framework=framework,
        case=case,
        hardware=hardware,
        source=page.report_link(results[0]),
        overview=_overview(page, results) if len(results) > 1 else None,
        health=_health(page, fleets),
        protocols=_protocols(page, results),
        loaded=loaded(page, results),
        environments=environments(page, evidence),
        topologies=distinct(found.topology for found in evidence.values() if found.topology),
        launch=_launch(page, results, evidence),
        scripts=[at.relative(page.path, f"{at.SCRIPTS}/{name}") for name in (LINKS, *(SCRIPTS if evidence else ()))],
        curves=page.data_file(at.curves(group)),
        log_lines=page.data_file(at.log_lines(group)),
        sections=[_section(page, result, evidence, shapes or {}, profiles or {}) for result in results],
    )


def configurations_index(language: Language, data: SiteData) -> str:
    """Return the list of all groups: our measurements in one table, and a table for each published report."""
    page = Page(language, data, at.CONFIGURATIONS)
    sources = grouped(data.groups, lambda group: "" if data.kind(group.campaign) == "measured" else group.campaign)
    return page.render(
        "configuration_index.md.j2",
        sources=[(_index_title(page, source), _index(page, groups)) for source, groups in sources.items()],
    )


def _index_title(page: Page, source: str) -> str:
    return page.data.source_title(page.language, source) if source else page._("Our measurements")


def _index(page: Page, groups: Sequence[ReportGroup]) -> TableView:
    data = page.data
    rows = [
        (
            group.campaign if data.kind(group.campaign) == "measured" else "",
            data.case_title(group.case),
            page.framework_link(group.framework, group.campaign),
            page.hardware_link(group.hardware, group.campaign),
            page.link(_count(page.language, len(data.groups[group])), at.group_page(group)),
        )
        for group in groups
    ]
    columns = ("campaign", "case", "framework", "hardware", "configurations")
    return page.table(columns, rows, places={"configurations": "value"})


def _count(language: Language, count: int) -> str:
    return (
        language.gettext("1 configuration")
        if count == 1
        else language.gettext("{count} configurations", count=str(count))
    )


def _overview(page: Page, results: Results) -> TableView:
    precision = {
        "precision": lambda row: Link(figures.precision_text(page.language, row), f"#{at.configuration_anchor(row)}")
    }
    return page.listed(results, OVERVIEW, precision, constant=())


def _health(page: Page, fleets: Sequence[Fleet]) -> TableView:
    """Return each metric of the machines of a diagnosis, with those that are worse than the others."""
    rows = [
        (
            fleet.name,
            page.data.metric_title(page.language, fleet.metric),
            *(four_digits(find(fleet.values)) for find in (median, min, max)),
            fleet.unit,
            str(len(fleet.members)),
            page.language.separator.join(f"{each.place} ({four_digits(each.value)})" for each in fleet.outliers),
        )
        for fleet in fleets
    ]
    heads = page._("Machines"), page._("Metric"), page._("Median"), page._("Lowest"), page._("Highest")
    others = page._("Unit"), page._("GPUs or nodes"), page._("Outliers")
    return filled([ColumnView(head) for head in (*heads, *others)], rows)


def _protocols(page: Page, results: Results) -> list[tuple[Link | str, TableView | None, str]]:
    """Return each protocol with its facts, and what the campaign planned if that differs."""
    names = distinct(row.protocol for row in results if row.protocol)
    return [(page.protocol_link(name), protocol_facts(page, name), _repeats(page, name, results)) for name in names]


def _repeats(page: Page, name: str, results: Results) -> str:
    protocol = page.data.protocols.get(name)
    plans = [plan for row in results if row.protocol == name for plan in [page.data.plan(row)] if plan is not None]
    repeats = distinct(plan.repeats for plan in plans if protocol and plan.repeats != protocol.repeats)
    if protocol is None or not repeats or page.data.kind(results[0].campaign) != "measured":
        return ""
    planned = ", ".join(map(str, repeats))
    text = N_("Repeats planned for this campaign, in place of the protocol's {usual}: {count}")
    return page._(text, usual=str(protocol.repeats), count=planned)


def _launch(page: Page, results: Results, evidence: EvidenceOf) -> dict[str, str] | None:
    """Return the launch script of the first trial as an example; each trial's own is among its artifacts."""
    for row in results:
        for trial in row.trials:
            found = evidence.get((at.configuration_anchor(row), trial.number), NOTHING)
            if found.launch:
                point = figures.point_text(page.language, row)
                return {"node": found.node, "trial": f"{point} · {trial.number}", "script": found.launch}
    return None


def _section(
    page: Page,
    row: ConfigurationResult,
    evidence: EvidenceOf,
    shapes: Mapping[str, Shapes],
    profiles: Mapping[str, OfferedProfile | None],
) -> dict[str, object]:
    """Return what the template shows of one configuration."""
    anchor = at.configuration_anchor(row)
    found = {trial.number: evidence.get((anchor, trial.number), NOTHING) for trial in row.trials}
    programs = distinct(file for one in found.values() for file in one.programs)
    measured = measured_trial(row, found)
    again, recompute = commands_again(page, row)
    subject, dispute = references.dispute(page, row)
    return {
        "title": figures.point_text(page.language, row, page.stated),
        "anchor": anchor,
        "figure": replace(page.figure(row), address=f"#{anchor}-caveats"),
        "unit": row.unit,
        "together": _together(page, row),
        "others": [_other_gpu(page, other) for other in page.data.together(row) if other is not row],
        "rivals": [_rival(page, other) for other in rivals_in_campaign(page.data, row)],
        "facts": _facts(page, row),
        "subtraction": subtraction(page, row),
        "types": reported_types(page, row),
        "mfu": mfu_text(page, row),
        "pauses": page._(figures.PAUSES[row.pauses]) if row.pauses else "",
        "source": row.source,
        "date": row.date,
        "unmeasured": is_published(row.campaign) and not row.trials,
        "verification": verification(page, row),
        "findings": findings(page.language, row),
        "outcomes": outcomes(page, row, found),
        "artifacts": artifacts(page, row, found),
        "redacted": distinct(file.name for one in found.values() for file in one.downloads if file.redacted),
        "metrics": metrics(page, row),
        "whole_run": any(metric.id in OF_WHOLE_RUN for metric in row.metrics[1:]),
        "estimates": estimates(page, row),
        "charts": trial_charts(page, row, found, shapes.get(anchor, {})),
        "window": measured.number if measured else None,
        "profile": profile_view(page, anchor, profiles.get(anchor)),
        "log_lines": any(one.timeline.log_lines.head for one in found.values()),
        "again": again,
        "trial_count": len(row.values),
        "tested": can_be_tested(row),
        "recompute": recompute,
        "history": _history(page, row),
        "programs": [
            replace(page.file_link(file.path, file.name), aside=file.sha256[:SHOWN_OF_HASH]) for file in programs
        ],
        "changed": changed_programs(programs),
        "cites": references.citations(page, row),
        "issue": references.dispute_address(page.data.repository, page.data.contact, subject, dispute),
        "contact": Link(page.data.contact, page.data.contact) if page.data.contact else None,
        "dispute": dispute,
    }


def _together(page: Page, row: ConfigurationResult) -> str:
    """Say what several GPUs reached that were measured together; empty where the result stands alone."""
    rows = page.data.together(row)
    if len(rows) == 1:
        return ""
    return page._(
        "One of {count} GPUs measured together, each on its own; their median is {median} {unit}.",
        count=str(len(rows)),
        median=figures.value_text(page.data.joint(row)),
        unit=row.unit,
    )


def _other_gpu(page: Page, row: ConfigurationResult) -> Link:
    return page.link(f"{figures.value_text(row)} ({row.campaign})", at.configuration_page(row))


def _rival(page: Page, row: ConfigurationResult) -> Link:
    title = page.data.framework_title(row.framework, row.campaign)
    return page.link(f"{title} {figures.value_text(row)}", at.configuration_page(row))


def _facts(page: Page, row: ConfigurationResult) -> list[tuple[str, str | Link]]:
    several = row.gpus_total > 1
    return [
        (page._("Throughput per GPU"), figures.optional(figures.per_gpu(row)) if several else ""),
        (page._("Range of trials"), figures.range_text(page.language, row.values)),
        (page._("n"), "" if row.n is None else str(row.n)),
        (page._("Spread"), figures.spread(row.spread)),
        (page._("Speed-up"), figures.factor(row.speedup) if several else ""),
        (page._("Efficiency"), figures.percent(row.efficiency) if several else ""),
        (page._("MFU"), figures.percent(row.mfu)),
        (page._("Share of roofline"), figures.percent(page.data.roofline(row))),
        (page._("Energy efficiency"), figures.per_joule_text(row)),
        (page._("Protocol"), page.protocol_link(row.protocol)),
        (page._("Profile"), profile_link(page, row)),
        (page._("Status"), row.status.text(page.language)),
    ]


def _history(page: Page, row: ConfigurationResult) -> str:
    """Return the address of the results of other campaigns; empty if only this one measured the configuration."""
    if row.value is None or is_published(row.campaign) or point(row) not in page.data.repeated:
        return ""
    return f"{at.html_address(page.path, at.HISTORY)}#{at.history_anchor(row)}"
