"""The page of a group of configurations, with a section of evidence for each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dlperf.messages import Language
from dlperf.report import figures, html
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.data import SiteData, distinct, grouped, is_published, point
from dlperf.report.evidence import NOTHING, Evidence
from dlperf.report.locations import Group
from dlperf.report.machine import format_fact
from dlperf.report.pages.page import Page
from dlperf.report.pages.protocols import protocol_facts
from dlperf.report.pages.trial_evidence import Shapes, for_script, lines_on_demand, repeat, trial_charts
from dlperf.report.pages.trials import estimates, trials
from dlperf.report.views import Link, Table
from dlperf.results.model import ConfigurationResult

Results = Sequence[ConfigurationResult]
EvidenceOf = Mapping[tuple[str, int], Evidence]
"""Evidence by configuration anchor and trial number."""
OVERVIEW = (
    *("precision", "batch_size", "nodes_gpus", "figure", "unit", "speedup", "efficiency", "mfu", "roofline"),
    "samples_per_joule",
)
SCRIPTS = ("curves.js", "log-lines.js")
DEVICE = re.compile(r"\.[0-9]+(\.|$)")
"""Matches the name of a fact of one of several devices: ``gpus.0.name``."""
OF_THE_MOMENT = re.compile(r"boot_id|.*\.(?:utilization_percent|memory_used_mib)")
"""Matches facts that change from moment to moment and do not describe the machine."""


def configurations(
    language: Language,
    data: SiteData,
    group: Group,
    results: Results,
    evidence: EvidenceOf,
    shapes: Mapping[str, Shapes] | None = None,
) -> str:
    """Return the page of a group.

    Args:
        shapes: the charts of each configuration, by its anchor.
    """
    page = Page(language, data, at.group_page(group))
    names = (
        data.framework_title(group.framework, group.campaign),
        data.case_title(group.case),
        data.hardware_title(group.hardware, group.campaign),
    )
    origin = page._(
        "{framework} running {case} on {hardware}, from {source}.",
        framework=page.framework(group.framework, group.campaign),
        case=md.text(data.case_title(group.case)),
        hardware=page.hardware(group.hardware, group.campaign),
        source=page.report(results[0]),
    )
    return page.written(
        " · ".join(names),
        origin,
        _overview(page, results),
        _protocols(page, results),
        _environment(page, evidence),
        _launch(page, results, evidence),
        for_script(page, group) if evidence else "",
        *(page.script(name) for name in SCRIPTS if evidence),
        *(_section(page, result, evidence, shapes or {}) for result in results),
        in_search=False,
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
    return page.data.source_title(page.language, source) if source else page._("Measured here")


def _index(page: Page, groups: Sequence[Group]) -> Table:
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


def _overview(page: Page, results: Results) -> str:
    precision = {"precision": lambda row: Link(figures.precision_text(row), f"#{at.configuration_anchor(row)}")}
    return page.listing(page.listed(results, OVERVIEW, precision, constant=()))


def _protocols(page: Page, results: Results) -> str:
    names = distinct(row.protocol for row in results if row.protocol)
    facts = [
        md.paragraphs(page.protocol(name), protocol_facts(page, name), _repeats(page, name, results)) for name in names
    ]
    return md.paragraphs(md.heading(2, page._("Protocol"), "protocol"), *facts) if facts else ""


def _repeats(page: Page, name: str, results: Results) -> str:
    """Return the campaign's number of repeats if it differs from the protocol's."""
    protocol = page.data.protocols.get(name)
    plans = [plan for row in results if row.protocol == name for plan in [page.data.plan(row)] if plan is not None]
    repeats = distinct(plan.repeats for plan in plans if protocol and plan.repeats != protocol.repeats)
    measured = page.data.kind(results[0].campaign) == "measured"
    return (
        page._("This campaign was asked for {count} repeats.", count=md.number(", ".join(map(str, repeats))))
        if repeats and measured
        else ""
    )


def _environment(page: Page, evidence: EvidenceOf) -> str:
    """Return the environment of one trial and, for the others, the differences; devices are collapsed."""
    shown: list[Mapping[str, str]] = []
    parts = []
    for (_, number), found in sorted(evidence.items(), key=lambda item: item[0]):
        facts = _stable_facts(found)
        if facts and facts not in shown:
            news = _changed(facts, shown[0]) if shown else facts
            shown.append(facts)
            title = page._(
                "As probed on {node} at trial {number}", node=md.text(found.node), number=md.number(str(number))
            )
            rows = [
                (md.text(page.fact(name)), md.text(format_fact(name, value)))
                for name, value in news.items()
                if not DEVICE.search(name)
            ]
            devices = [f"{name}: {value}" for name, value in news.items() if DEVICE.search(name)]
            folded = md.details(page._("Every device"), "\n".join(devices)) if devices else ""
            parts.append(md.paragraphs(f"{title}{page.language.colon.rstrip()}", page.facts(rows), folded))
    topologies = distinct(found.topology for found in evidence.values() if found.topology)
    parts += [md.details(page._("Topology"), topology) for topology in topologies]
    return md.paragraphs(md.heading(2, page._("Environment"), "environment"), *parts) if parts else ""


def _stable_facts(found: Evidence) -> dict[str, str]:
    """Return the framework's version as logged, and the facts probed on the machine."""
    printed = {name: value for name, value in found.timeline.declared.items() if name == "framework_version"}
    probed = {name: value for name, value in found.environment.items() if not OF_THE_MOMENT.fullmatch(name)}
    return {**printed, **probed} if probed else {}


def _changed(facts: Mapping[str, str], before: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in facts.items() if before.get(name) != value}


def _launch(page: Page, results: Results, evidence: EvidenceOf) -> str:
    """Return the launch script of the first trial as an example; each trial's own is among its artifacts."""
    for row in results:
        for trial in row.trials:
            found = evidence.get((at.configuration_anchor(row), trial.number), NOTHING)
            if found.launch:
                title = page._("launch.sh of {node}", node=found.node)
                return md.details(f"{title} · {figures.point_text(row)} · {trial.number}", found.launch)
    return ""


def _section(page: Page, row: ConfigurationResult, evidence: EvidenceOf, shapes: Mapping[str, Shapes]) -> str:
    anchor = at.configuration_anchor(row)
    found = {trial.number: evidence.get((anchor, trial.number), NOTHING) for trial in row.trials}
    return md.paragraphs(
        md.heading(2, md.text(figures.point_text(row)), anchor),
        html.block(
            "evidence",
            _figure(page, row),
            _findings(page, row),
            trials(page, row, found),
            estimates(page, row.trials),
            trial_charts(page, row, found, shapes.get(anchor, {})),
            lines_on_demand(page, row, found),
            repeat(page, row),
            _history(page, row),
        ),
    )


def _figure(page: Page, row: ConfigurationResult) -> str:
    language = page.language
    figure = f"{html.strong(md.text(figures.value_text(row)))} {md.text(row.unit)}" if row.value is not None else ""
    facts = [
        (page._("Figure"), figure),
        (page._("Status"), page.status(row)),
        (page._("Spread"), figures.spread(row.spread)),
        (page._("n"), "" if row.n is None else md.number(str(row.n))),
        (page._("Protocol"), md.text(row.protocol) if row.protocol else ""),
        (page._("Speed-up"), figures.factor(row.speedup)),
        (page._("Efficiency"), figures.percent(row.efficiency)),
        (page._("MFU"), figures.percent(row.mfu)),
        (page._("Source"), md.source_link(row.source)),
    ]
    listed = html.bullets(f"{name}{language.colon}{value}" for name, value in facts if value)
    unmeasured = is_published(row.campaign) and not row.trials
    return listed + html.paragraph(page._("There are no trials: the figure stands as published.") if unmeasured else "")


def _history(page: Page, row: ConfigurationResult) -> str:
    """Return a link to the results of other campaigns; empty if only this one measured the configuration."""
    if row.value is None or is_published(row.campaign) or point(row) not in page.data.repeated:
        return ""
    address = f"{at.html_address(page.path, at.HISTORY)}#{at.history_anchor(row)}"
    return html.paragraph(html.link(page._("This configuration over campaigns"), address))


def _findings(page: Page, row: ConfigurationResult) -> str:
    """Return findings within trials with the trial numbers, and findings across trials without."""
    language = page.language
    numbers: dict[tuple[str, str], list[str]] = {}
    for trial in row.trials:
        for finding in trial.findings:
            numbers.setdefault((finding.severity, language.render(finding.message)), []).append(str(trial.number))
    of_row = dict.fromkeys((item.severity, language.render(item.message)) for item in row.findings)
    between = [(item, list[str]()) for item in of_row if item not in numbers]
    listed = html.bullets(
        f"{html.strong(figures.stored_word(language, severity))} {_trial_numbers(page, found_in)}{md.text(words)}"
        for (severity, words), found_in in (*between, *numbers.items())
    )
    return html.paragraph(page._("Findings") + language.colon.rstrip()) + listed if listed else ""


def _trial_numbers(page: Page, numbers: Sequence[str]) -> str:
    language = page.language
    return (
        page._("Trial {numbers}", numbers=language.separator.join(map(md.number, numbers))) + language.colon
        if numbers
        else ""
    )
