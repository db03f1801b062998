"""The report on one case by one source, laid out as the public reports are: what was tested, environment, images,
set-up, steps, results, comparison, scaling, logs."""

from __future__ import annotations

from collections.abc import Sequence

from dlperf.catalog.model import Case
from dlperf.report import figures, html
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.answer import answers
from dlperf.report.data import SiteData, distinct, grouped, in_language
from dlperf.report.pages import pictures
from dlperf.report.pages.home import headline, weight
from dlperf.report.pages.page import Page
from dlperf.report.pages.report_conditions import environment, images, options, setup, steps
from dlperf.report.pages.report_efficiency import utilisation
from dlperf.report.pages.report_fairness import fairness
from dlperf.report.pages.report_tables import comparisons, missing, scaling, single_runs, size, throughput
from dlperf.report.text import Language
from dlperf.results.model import ConfigurationResult
from dlperf.runs.published import PublishedFigure

Results = Sequence[ConfigurationResult]
SEARCHED = ("s_tested", "s_steps")
"""Sections whose words a search finds; the others repeat what stands there, or are figures."""


def report(say: Language, data: SiteData, source: str, case: str, results: Results) -> str:
    page = Page(say, data, at.report_page(source, case))
    sections = (
        ("s_tested", md.paragraphs(tested(page, results), options(page, results))),
        ("s_environment", environment(page, results)),
        ("s_images", images(page, results)),
        ("s_fairness", fairness(page, results)),
        ("s_setup", setup(page, results)),
        ("s_steps", steps(page, results)),
        ("s_results", _results(page, results)),
        ("s_logs", logs(page, results)),
        ("s_notes", notes(page, results)),
    )
    numbered = [
        md.paragraphs(md.heading(2, f"{number}. {say(word)}", word.removeprefix("s_"), searched=word in SEARCHED), body)
        for number, (word, body) in enumerate(((word, body) for word, body in sections if body), start=1)
    ]
    title = f"{data.case_title(case)} – {data.source_title(say, source)}"
    return page.written(title, page.source(results), *_answer(page, results), *numbered)


def _answer(page: Page, results: Results) -> tuple[str, str]:
    """The answer in a sentence, and the contest that it comes from as a chart."""
    found = answers(results)
    contests = [answer for answer in found if answer.second is not None]
    if not contests:
        return headline(page, found), ""
    shown = max(contests, key=weight)
    chart = md.paragraphs(f"**{md.parts(pictures.contest_title(page, shown.best))}**", pictures.ranking(page, shown))
    return headline(page, found), chart


def reports_index(say: Language, data: SiteData) -> str:
    page = Page(say, data, at.REPORTS)
    words = ("report", "source", "created", "figures", "hardware", "framework")
    parts = []
    for case, keys in grouped(data.reports, lambda key: key[1]).items():
        rows = [_report_row(page, source, data.reports[source, case]) for source, _ in keys]
        table = html.table([say(word) for word in words], rows, (0, 1, 2, 4, 5), {})
        heading = md.heading(2, md.text(data.case_title(case)), searched=False)
        parts.append(md.paragraphs(heading, html.listing(table)))
    return page.written(say("reports"), say("reports_intro"), *(parts or [say("no_figures")]), wide=True)


def _report_row(page: Page, source: str, results: Results) -> tuple[str, ...]:
    data = page.data
    machines = {row.hardware: data.hardware_title(row.hardware, row.campaign) for row in results}
    frameworks = {row.framework: data.framework_title(row.framework, row.campaign) for row in results}
    day = max(data.created(row.campaign) for row in results)[:10]
    return (
        page.html_to(at.report_page(data.source(results[0]), results[0].case), data.source_title(page.say, source)),
        page.say(data.kind(source)),
        f"<time>{md.text(day)}</time>" if day else "",
        md.number(str(sum(row.value is not None for row in results))),
        page.say.separator.join(page.html_to(at.hardware_page(name), title) for name, title in machines.items()),
        page.say.separator.join(page.html_to(at.framework_page(name), title) for name, title in frameworks.items()),
    )


def tested(page: Page, results: Results) -> str:
    say, case, source = page.say, page.data.cases.get(results[0].case), page.data.published.get(results[0].campaign)
    lead = ""
    if source:
        lead = md.text(in_language(say, source.summary))
    elif case:
        lead = say("tested", model=md.text(case.model), dataset=dataset(page, case, results), unit=md.text(case.unit))
    own_words = md.text(in_language(say, source.protocol_text)) if source else ""
    protocols = [page.protocol(name) for name in distinct(row.protocol for row in results) if name]
    rows = [
        (say("hardware"), say.separator.join(distinct(page.hardware(row.hardware, row.campaign) for row in results))),
        (
            say("framework"),
            say.separator.join(distinct(page.framework(row.framework, row.campaign) for row in results)),
        ),
        (say("precision"), say.separator.join(distinct(figures.precision_text(row) for row in results))),
        (
            say("batch_size"),
            say.separator.join(distinct(figures.batch_text(row) for row in sorted(results, key=_batch))),
        ),
        (say("nodes_gpus"), say.separator.join(distinct(figures.scale_text(row) for row in sorted(results, key=size)))),
        (say("protocol"), say.separator.join(protocols)),
    ]
    axes = md.facts((say("axes"), say("value")), rows)
    return md.paragraphs(lead, axes, say("own_words", words=own_words) if own_words else "")


def _batch(row: ConfigurationResult) -> int:
    return row.batch_size or 0


def dataset(page: Page, case: Case, results: Results) -> str:
    """The data that was trained on, which is not always the one that the case names."""
    name = md.text(case.dataset)
    plans = [plan for plan in map(page.data.plan, results) if plan is not None]
    synthetic = {bool(plan.options.get("synthetic_data")) for plan in plans}
    if case.dataset == "synthetic" or synthetic in ({False}, set()):
        return name
    return page.say("synthetic" if synthetic == {True} else "synthetic_some", dataset=name)


def _results(page: Page, results: Results) -> str:
    parts = (
        ("s_comparison", md.paragraphs(pictures.rankings(page, results), comparisons(page, results))),
        ("s_throughput", md.paragraphs(pictures.throughput(page, results), throughput(page, results))),
        ("s_scaling", md.paragraphs(pictures.scaling(page, results), scaling(page, results))),
        ("s_utilisation", utilisation(page, results)),
        ("s_repeats", single_runs(page, results)),
        ("missing_why", missing(page, results)),
    )
    sections = [
        md.paragraphs(md.heading(3, _titled(page, word, results), word, searched=False), body)
        for word, body in parts
        if body
    ]
    return md.paragraphs(page.say("cell_note"), *sections)


def _titled(page: Page, word: str, results: Results) -> str:
    """The heading of a part of the results; of the single runs with their unit, which no column has."""
    units = distinct(row.unit for row in results)
    if word != "s_repeats" or len(units) > 1:
        return page.say(word)
    return page.say("in_brackets", what=page.say(word), aside=md.text(units[0]))


def logs(page: Page, results: Results) -> str:
    groups = distinct(at.group_of(row) for row in results)
    links = [page.to(at.group_page(group), md.parts(_names(page, group))) for group in groups]
    report = page.data.published.get(results[0].campaign)
    sources = distinct(row.source for row in results if row.source)
    return md.paragraphs(
        page.data_files(),
        page.say("raw_logs"),
        md.bullets(links),
        f"{page.say('sources')}{page.say.colon.rstrip()}" if sources else "",
        md.bullets(map(md.source_link, sources)),
        _published_logs(page, [figure for figure in report.figures if figure.source in sources]) if report else "",
    )


def _published_logs(page: Page, published: Sequence[PublishedFigure]) -> str:
    """Which log each figure came from, and by which rule, as far as that is known."""
    rows = [
        (
            md.text(figure.framework),
            md.text(figure.hardware),
            md.text(figure.precision),
            md.number(str(figure.gpus)),
            md.number(figure.printed),
            md.source_link(figure.log, brief=True),
            f'<span lang="en">{md.text(figure.rule.replace("->", "→"))}</span>',
        )
        for figure in published
        if figure.log
    ]
    words = ("framework", "hardware", "precision", "gpus", "figure", "log", "rule")
    title = md.heading(3, page.say("published_logs"), searched=False)
    table = html.table([page.say(word) for word in words], rows, (0, 1, 2, 5, 6), {4: "value"})
    return md.paragraphs(title, html.listing(table)) if rows else ""


def notes(page: Page, results: Results) -> str:
    report = page.data.published.get(results[0].campaign)
    said = [md.text(in_language(page.say, note)) for note in report.notes] if report else []
    if report and any(row.precision == "tf32" for row in results):
        said.append(page.say("tf32_note"))
    found = [
        page.subject(row, results) + page.say.colon + md.text(page.say.sentence(finding.message))
        for row in results
        for finding in row.findings
        if finding.severity != "note"
    ]
    return md.bullets([*said, *found])


def _names(page: Page, group: at.Group) -> str:
    framework = page.data.framework_title(group.framework, group.campaign)
    return f"{framework} · {page.data.hardware_title(group.hardware, group.campaign)}"
