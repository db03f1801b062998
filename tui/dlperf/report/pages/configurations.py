"""The page of a group of configurations: a section for each, with everything that its figure rests on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import unescape

from dlperf.report import figures, html
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.data import SiteData, distinct, grouped, is_published, point
from dlperf.report.evidence import NOTHING, Evidence
from dlperf.report.locations import Group
from dlperf.report.machine import fact_in_words
from dlperf.report.pages.page import Page
from dlperf.report.pages.protocols import protocol_facts
from dlperf.report.pages.trial_evidence import Shapes, for_script, lines_on_demand, repeat, trial_charts
from dlperf.report.pages.trials import estimates, trials
from dlperf.report.roofline import roofline
from dlperf.report.text import Language
from dlperf.results.model import ConfigurationResult

Results = Sequence[ConfigurationResult]
EvidenceOf = Mapping[tuple[str, int], Evidence]
"""By configuration anchor and trial number."""
SCRIPTS = ("curves.js", "log-lines.js")
DEVICE = re.compile(r"\.[0-9]+(\.|$)")
"""One of several devices: ``gpus.0.name``."""
OF_THE_MOMENT = re.compile(r"boot_id|.*\.(?:utilization_percent|memory_used_mib)")
"""What differs from one moment to the next and says nothing about the machine."""


def configurations(
    say: Language,
    data: SiteData,
    group: Group,
    results: Results,
    evidence: EvidenceOf,
    shapes: Mapping[str, Shapes] | None = None,
) -> str:
    """The page of a group.

    Args:
        shapes: the charts of each configuration, by its anchor.
    """
    page = Page(say, data, at.group_page(group))
    names = (
        data.framework_title(group.framework, group.campaign),
        data.case_title(group.case),
        data.hardware_title(group.hardware, group.campaign),
    )
    origin = say(
        "configuration_of",
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


def configurations_index(say: Language, data: SiteData) -> str:
    """What was measured here in one table, each report of others in its own."""
    page = Page(say, data, at.CONFIGURATIONS)
    sources = grouped(data.groups, lambda group: "" if data.kind(group.campaign) == "measured" else group.campaign)
    parts = [
        md.paragraphs(md.heading(2, _index_title(page, source), searched=False), _index(page, groups))
        for source, groups in sources.items()
    ]
    return page.written(say("configurations"), say("configurations_intro"), *(parts or [say("no_figures")]))


def _index_title(page: Page, source: str) -> str:
    return md.text(page.data.source_title(page.say, source)) if source else page.say("home_measured")


def _index(page: Page, groups: Sequence[Group]) -> str:
    say, data = page.say, page.data
    rows = [
        (
            md.text(group.campaign) if data.kind(group.campaign) == "measured" else "",
            md.text(data.case_title(group.case)),
            page.html_to(at.framework_page(group.framework), data.framework_title(group.framework, group.campaign)),
            page.html_to(at.hardware_page(group.hardware), data.hardware_title(group.hardware, group.campaign)),
            page.html_to(at.group_page(group), _count(say, len(data.groups[group]))),
        )
        for group in groups
    ]
    header = [say(word) for word in ("campaign", "case", "framework", "hardware", "configurations")]
    return html.listing(html.table(header, rows, range(4), {4: "value"}))


def _count(say: Language, count: int) -> str:
    return say("group_count_1") if count == 1 else say("group_count", count=md.number(str(count)))


def _overview(page: Page, results: Results) -> str:
    say = page.say
    rows = [
        (
            html.link(figures.precision_text(row), f"#{at.configuration_anchor(row)}"),
            figures.batch_text(row),
            figures.scale_text(row),
            figures.html_cell(page.say, page.path, row),
            md.text(row.unit),
            figures.factor(row.speedup),
            figures.percent(row.efficiency),
            figures.percent(row.mfu),
            figures.percent(roofline(page.data, row)),
            figures.optional(row.samples_per_joule),
        )
        for row in results
    ]
    words = ("precision", "batch_size", "nodes_gpus", "figure", "unit", "speedup", "efficiency")
    header = [say(word) for word in (*words, "mfu", "roofline", "samples_per_joule")]
    return html.listing(html.table(header, rows, (0, 4), {3: "value", 4: "aside"}))


def _protocols(page: Page, results: Results) -> str:
    names = distinct(row.protocol for row in results if row.protocol)
    facts = [
        md.paragraphs(page.protocol(name), protocol_facts(page, name), _repeats(page, name, results)) for name in names
    ]
    return md.paragraphs(md.heading(2, page.say("s_protocol"), "protocol"), *facts) if facts else ""


def _repeats(page: Page, name: str, results: Results) -> str:
    """How often the campaign repeats each trial, where that is not what the protocol lays down."""
    protocol = page.data.protocols.get(name)
    plans = [plan for row in results if row.protocol == name for plan in [page.data.plan(row)] if plan is not None]
    asked = distinct(plan.repeats for plan in plans if protocol and plan.repeats != protocol.repeats)
    measured = page.data.kind(results[0].campaign) == "measured"
    return page.say("repeats_here", count=md.number(", ".join(map(str, asked)))) if asked and measured else ""


def _environment(page: Page, evidence: EvidenceOf) -> str:
    """As one trial found it; of a trial that found something else, what differs. Single devices are folded away."""
    shown: list[Mapping[str, str]] = []
    parts = []
    for (_, number), found in sorted(evidence.items(), key=lambda item: item[0]):
        facts = _lasting_facts(found)
        if facts and facts not in shown:
            news = _changed(facts, shown[0]) if shown else facts
            shown.append(facts)
            title = page.say("environment_of", node=md.text(found.node), number=md.number(str(number)))
            rows = [
                (page.fact(name), md.text(fact_in_words(name, value)))
                for name, value in news.items()
                if not DEVICE.search(name)
            ]
            devices = [f"{name}: {value}" for name, value in news.items() if DEVICE.search(name)]
            folded = md.details(page.say("devices"), "\n".join(devices)) if devices else ""
            parts.append(md.paragraphs(f"{title}{page.say.colon.rstrip()}", page.facts(rows), folded))
    topologies = distinct(found.topology for found in evidence.values() if found.topology)
    parts += [md.details(page.say("topology"), topology) for topology in topologies]
    return md.paragraphs(md.heading(2, page.say("s_environment"), "environment"), *parts) if parts else ""


def _lasting_facts(found: Evidence) -> dict[str, str]:
    """The framework's version, as its log says, and what was probed on the machine."""
    printed = {name: value for name, value in found.timeline.declared.items() if name == "framework_version"}
    probed = {name: value for name, value in found.environment.items() if not OF_THE_MOMENT.fullmatch(name)}
    return {**printed, **probed} if probed else {}


def _changed(facts: Mapping[str, str], before: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in facts.items() if before.get(name) != value}


def _launch(page: Page, results: Results, evidence: EvidenceOf) -> str:
    """The script of the first trial, as an example: that of each trial is among its files."""
    for row in results:
        for trial in row.trials:
            found = evidence.get((at.configuration_anchor(row), trial.number), NOTHING)
            if found.launch:
                title = page.say("launch", node=found.node)
                return md.details(f"{title} · {unescape(figures.point_text(row))} · {trial.number}", found.launch)
    return ""


def _section(page: Page, row: ConfigurationResult, evidence: EvidenceOf, shapes: Mapping[str, Shapes]) -> str:
    anchor = at.configuration_anchor(row)
    found = {trial.number: evidence.get((anchor, trial.number), NOTHING) for trial in row.trials}
    return md.paragraphs(
        md.heading(2, figures.point_text(row), anchor),
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
    say = page.say
    figure = f"{html.strong(figures.value_text(row))} {md.text(row.unit)}" if row.value is not None else ""
    facts = [
        (say("figure"), figure),
        (say("status"), page.status(row)),
        (say("spread"), figures.spread(row.spread)),
        (say("trials_n"), "" if row.n is None else md.number(str(row.n))),
        (say("protocol"), md.text(row.protocol) if row.protocol else ""),
        (say("speedup"), figures.factor(row.speedup)),
        (say("efficiency"), figures.percent(row.efficiency)),
        (say("mfu"), figures.percent(row.mfu)),
        (say("source"), md.source_link(row.source)),
    ]
    listed = html.bullets(f"{name}{say.colon}{value}" for name, value in facts if value)
    unmeasured = is_published(row.campaign) and not row.trials
    return listed + html.paragraph(say("no_trials") if unmeasured else "")


def _history(page: Page, row: ConfigurationResult) -> str:
    """The way to what other campaigns measured; nothing where this one alone did."""
    if row.value is None or is_published(row.campaign) or point(row) not in page.data.repeated:
        return ""
    address = f"{at.html_address(page.path, at.HISTORY)}#{at.history_anchor(row)}"
    return html.paragraph(html.link(page.say("history_of"), address))


def _findings(page: Page, row: ConfigurationResult) -> str:
    """What was found in trials stands with their numbers, what was found between trials without any."""
    numbers: dict[tuple[str, str], list[str]] = {}
    for trial in row.trials:
        for finding in trial.findings:
            numbers.setdefault((finding.severity, finding.message), []).append(str(trial.number))
    told = {message for _, message in numbers}
    between = [((item.severity, item.message), list[str]()) for item in row.findings if item.message not in told]
    say = page.say
    listed = html.bullets(
        f"{html.strong(say.severity(severity))} {_trial_numbers(page, found_in)}{md.text(say.sentence(message))}"
        for (severity, message), found_in in (*between, *numbers.items())
    )
    return html.paragraph(f"{say('findings')}{say.colon.rstrip()}") + listed if listed else ""


def _trial_numbers(page: Page, numbers: Sequence[str]) -> str:
    say = page.say
    return say("trials_numbered", numbers=say.separator.join(map(md.number, numbers))) + say.colon if numbers else ""
