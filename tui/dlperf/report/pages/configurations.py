"""The page of a group of configurations: a section for each, with everything that its figure rests on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dlperf.report import figures
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.data import SiteData, distinct, grouped, is_published
from dlperf.report.evidence import NOTHING, Evidence
from dlperf.report.locations import Group
from dlperf.report.pages.page import Page
from dlperf.report.pages.protocols import protocol_facts
from dlperf.report.pages.trial_evidence import file_downloads, log_lines, repeat, trial_charts
from dlperf.report.text import Language
from dlperf.results.model import ConfigurationResult, TrialResult

Results = Sequence[ConfigurationResult]
EvidenceOf = Mapping[tuple[str, int], Evidence]
"""By configuration anchor and trial number."""
DEVICE = re.compile(r"\.[0-9]+(\.|$)")
"""One of several devices: ``gpus.0.name``."""
OF_THE_MOMENT = ("boot_id",)
"""What differs from boot to boot and says nothing about the machine."""


def configurations(say: Language, data: SiteData, group: Group, results: Results, evidence: EvidenceOf) -> str:
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
        source=page.report(group.campaign, group.case),
    )
    return page.written(
        " · ".join(names),
        origin,
        _overview(page, results),
        _protocols(page, results),
        _environment(page, evidence),
        *(_section(page, result, evidence) for result in results),
        in_search=False,
    )


def configurations_index(say: Language, data: SiteData) -> str:
    page = Page(say, data, at.CONFIGURATIONS)
    parts = []
    for campaign, groups in grouped(data.groups, lambda group: group.campaign).items():
        rows = [
            (
                md.text(data.case_title(group.case)),
                page.hardware(group.hardware, group.campaign),
                page.framework(group.framework, group.campaign),
                page.to(at.group_page(group), say("group_figures", count=md.number(str(len(data.groups[group]))))),
            )
            for group in groups
        ]
        header = [say(word) for word in ("case", "hardware", "framework", "configurations")]
        parts.append(md.paragraphs(md.heading(2, md.text(data.source_title(say, campaign))), md.table(header, rows)))
    return page.written(say("configurations"), say("configurations_intro"), *(parts or [say("no_figures")]))


def _overview(page: Page, results: Results) -> str:
    say = page.say
    rows = [
        (
            page.to(at.configuration_page(row), figures.precision_text(row)),
            figures.batch_text(row),
            figures.scale_text(row),
            figures.value_text(row) or page.status(row),
            md.text(row.unit),
            "" if row.n is None else md.number(str(row.n)),
            figures.percent(row.spread),
            figures.factor(row.speedup),
            figures.percent(row.efficiency),
            figures.percent(row.mfu),
            figures.optional(row.samples_per_joule),
        )
        for row in results
    ]
    words = ("precision", "batch_size", "nodes_gpus", "figure", "unit", "trials_n", "spread", "speedup", "efficiency")
    return md.table([say(word) for word in (*words, "mfu", "samples_per_joule")], rows)


def _protocols(page: Page, results: Results) -> str:
    names = distinct(row.protocol for row in results if row.protocol)
    facts = [md.paragraphs(page.protocol(name), protocol_facts(page, name)) for name in names]
    return md.paragraphs(md.heading(2, page.say("s_protocol"), "protocol"), *facts) if facts else ""


def _environment(page: Page, evidence: EvidenceOf) -> str:
    """As one trial found it; of a trial that found something else, what differs. Single devices are folded away."""
    shown: list[Mapping[str, str]] = []
    parts = []
    for (_, number), found in sorted(evidence.items(), key=lambda item: item[0]):
        facts = {name: value for name, value in found.environment.items() if name not in OF_THE_MOMENT}
        if facts and facts not in shown:
            news = _changed(facts, shown[0]) if shown else facts
            shown.append(facts)
            title = page.say("environment_of", node=md.text(found.node), number=md.number(str(number)))
            rows = [(md.text(name), md.text(value)) for name, value in news.items() if not DEVICE.search(name)]
            devices = [f"{name}: {value}" for name, value in news.items() if DEVICE.search(name)]
            folded = md.details(page.say("devices"), "\n".join(devices)) if devices else ""
            parts.append(md.paragraphs(f"{title}{page.say.colon.rstrip()}", page.facts(rows), folded))
    topologies = distinct(found.topology for found in evidence.values() if found.topology)
    parts += [md.details(page.say("topology"), topology) for topology in topologies]
    return md.paragraphs(md.heading(2, page.say("s_environment"), "environment"), *parts) if parts else ""


def _changed(facts: Mapping[str, str], before: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in facts.items() if before.get(name) != value}


def _section(page: Page, row: ConfigurationResult, evidence: EvidenceOf) -> str:
    anchor = at.configuration_anchor(row)
    batch = f", BS={figures.batch_text(row)}" if row.batch_size is not None else ""
    variant = f" ({md.number(str(row.variant))})" if row.variant > 1 else ""
    title = f"{figures.precision_text(row)}{batch}, {figures.scale_text(row)}{variant}"
    found = {trial.number: evidence.get((anchor, trial.number), NOTHING) for trial in row.trials}
    first = next((one for one in found.values() if one.launch), None)
    return md.paragraphs(
        md.heading(2, title, anchor),
        _figure(page, row),
        _findings(page, row),
        _trials(page, row, evidence) if row.trials else "",
        _estimates(page, row.trials),
        trial_charts(page, row, found),
        repeat(page, row),
        md.details(page.say("launch", node=first.node), first.launch) if first else "",
        log_lines(page, {number: one.timeline.log_lines for number, one in found.items()}),
        file_downloads(page, found),
    )


def _figure(page: Page, row: ConfigurationResult) -> str:
    say = page.say
    facts = [
        (say("figure"), f"**{figures.value_text(row)}** {md.text(row.unit)}" if row.value is not None else ""),
        (say("status"), page.status(row)),
        (say("spread"), figures.percent(row.spread)),
        (say("trials_n"), "" if row.n is None else md.number(str(row.n))),
        (say("protocol"), page.protocol(row.protocol)),
        (say("speedup"), figures.factor(row.speedup)),
        (say("efficiency"), figures.percent(row.efficiency)),
        (say("mfu"), figures.percent(row.mfu)),
        (say("source"), md.web_link(row.source)),
    ]
    listed = md.bullets(f"{name}{say.colon}{value}" for name, value in facts if value)
    unmeasured = is_published(row.campaign) and not row.trials
    return md.paragraphs(listed, say("no_trials") if unmeasured else "")


def _trials(page: Page, row: ConfigurationResult, evidence: EvidenceOf) -> str:
    say, anchor = page.say, at.configuration_anchor(row)
    outcomes = [
        (
            md.number(str(trial.number)),
            _outcome(say, trial),
            figures.optional(trial.value),
            figures.optional(trial.value_from_timestamps),
            md.number(str(trial.samples)),
            _range(trial.first_step, trial.last_step),
            f"<time>{md.text(_to_the_second(trial.started))}</time>" if trial.started else "",
            "" if trial.duration_seconds is None else say("seconds", value=md.number(f"{trial.duration_seconds:.1f}")),
        )
        for trial in row.trials
    ]
    origins = [
        (
            md.number(str(trial.number)),
            md.code(trial.estimator) if trial.estimator else "",
            _range(trial.first_line, trial.last_line),
            *_log(page, row, trial, evidence.get((anchor, trial.number), NOTHING)),
        )
        for trial in row.trials
    ]
    words = ("trial", "state", "figure", "from_timestamps", "samples", "steps", "started", "duration")
    origin_words = [say(word) for word in ("trial", "estimator", "log_lines", "log")]
    return md.paragraphs(
        md.table([say(word) for word in words], outcomes), md.table([*origin_words, "SHA-256"], origins)
    )


def _estimates(page: Page, trials: Sequence[TrialResult]) -> str:
    names = sorted({name for trial in trials for name in trial.estimates})
    if not names:
        return ""
    rows = [
        (
            md.number(str(trial.number)),
            *(figures.optional(trial.estimates[name]) if name in trial.estimates else "" for name in names),
        )
        for trial in trials
    ]
    header = (page.say("trial"), *map(md.code, names))
    return md.paragraphs(f"{page.say('other_estimators')}{page.say.colon.rstrip()}", md.table(header, rows))


def _log(page: Page, row: ConfigurationResult, trial: TrialResult, found: Evidence) -> tuple[str, str]:
    """The download and its hash."""
    if found.log is None or not trial.log_sha256:
        return page.say("no_log_kept"), ""
    if found.log_altered:
        return f"**{page.say('log_changed')}**", md.code(trial.log_sha256)
    name = f"{row.configuration}.{trial.number}.{found.log.path.name}.txt"
    return page.file(at.log_download(trial.log_sha256), page.say("download"), name), md.code(trial.log_sha256)


def _outcome(say: Language, trial: TrialResult) -> str:
    """How a trial ended, and why where it gave no figure."""
    cause = say.sentence(trial.cause) if trial.cause and trial.value is None else ""
    return md.text(f"{say.state(trial.state)}{say.colon + cause if cause else ''}")


def _to_the_second(time: str) -> str:
    return re.sub(r"(?<=:[0-9]{2})\.[0-9]+", "", time)


def _range(first: int | None, last: int | None) -> str:
    return "" if first is None or last is None else md.number(f"{first}-{last}")


def _findings(page: Page, row: ConfigurationResult) -> str:
    """What was found in a trial stands with its number, what was found between trials without one."""
    of_trials = [
        (f"{page.say('trial')} {trial.number}: ", finding) for trial in row.trials for finding in trial.findings
    ]
    told = {finding.message for _, finding in of_trials}
    of_all = [("", finding) for finding in row.findings if finding.message not in told]
    listed = md.bullets(
        f"**{page.say.severity(finding.severity)}** {where}{md.text(page.say.sentence(finding.message))}"
        for where, finding in [*of_all, *of_trials]
    )
    return md.paragraphs(f"{page.say('findings')}{page.say.colon.rstrip()}", listed) if listed else ""
