"""The report on one case by one source, laid out as the public reports are: what was tested, environment, images,
set-up, steps, results, comparison, scaling, logs."""

from __future__ import annotations

from collections.abc import Sequence

from dlperf.catalog.model import Case
from dlperf.messages import N_, Language
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
from dlperf.results.model import ConfigurationResult
from dlperf.runs.published import PublishedFigure

Results = Sequence[ConfigurationResult]
ORIGINS = {
    "measured": N_("measured"),
    "imported": N_("computed from imported logs"),
    "published": N_("published"),
}
SEARCHED = ("tested", "steps")
"""Sections whose words a search finds; the others repeat what stands there, or are figures."""


def report(language: Language, data: SiteData, source: str, case: str, results: Results) -> str:
    page = Page(language, data, at.report_page(source, case))
    sections = (
        ("tested", page._("What was tested"), md.paragraphs(tested(page, results), options(page, results))),
        ("environment", page._("Environment"), environment(page, results)),
        ("images", page._("Frameworks and images"), images(page, results)),
        ("fairness", page._("What differs between the frameworks"), fairness(page, results)),
        ("setup", page._("Set-up"), setup(page, results)),
        ("steps", page._("Test steps"), steps(page, results)),
        ("results", page._("Results"), _results(page, results)),
        ("logs", page._("Logs and sources"), logs(page, results)),
        ("notes", page._("What a careful reader must know"), notes(page, results)),
    )
    numbered = [
        md.paragraphs(md.heading(2, f"{number}. {title}", anchor, searched=anchor in SEARCHED), body)
        for number, (anchor, title, body) in enumerate((one for one in sections if one[2]), start=1)
    ]
    title = f"{data.case_title(case)} – {data.source_title(language, source)}"
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


def reports_index(language: Language, data: SiteData) -> str:
    page = Page(language, data, at.REPORTS)
    words = (N_("Report"), N_("Source"), N_("Date"), N_("Figures"), N_("Hardware"), N_("Framework"))
    parts = []
    for case, keys in grouped(data.reports, lambda key: key[1]).items():
        rows = [_report_row(page, source, data.reports[source, case]) for source, _ in keys]
        table = html.table([page._(word) for word in words], rows, (0, 1, 2, 4, 5), {})
        heading = md.heading(2, md.text(data.case_title(case)), searched=False)
        parts.append(md.paragraphs(heading, html.listing(table)))
    return page.written(
        page._("Reports"),
        page._("One report for each source and case."),
        *(parts or [page._("No figure here yet.")]),
        wide=True,
    )


def _report_row(page: Page, source: str, results: Results) -> tuple[str, ...]:
    data = page.data
    machines = {row.hardware: data.hardware_title(row.hardware, row.campaign) for row in results}
    frameworks = {row.framework: data.framework_title(row.framework, row.campaign) for row in results}
    day = max(data.created(row.campaign) for row in results)[:10]
    return (
        page.html_to(
            at.report_page(data.source(results[0]), results[0].case), data.source_title(page.language, source)
        ),
        page._(ORIGINS[data.kind(source)]),
        f"<time>{md.text(day)}</time>" if day else "",
        md.number(str(sum(row.value is not None for row in results))),
        page.language.separator.join(page.html_to(at.hardware_page(name), title) for name, title in machines.items()),
        page.language.separator.join(
            page.html_to(at.framework_page(name), title) for name, title in frameworks.items()
        ),
    )


def tested(page: Page, results: Results) -> str:
    language, case, source = (
        page.language,
        page.data.cases.get(results[0].case),
        page.data.published.get(results[0].campaign),
    )
    lead = ""
    if source:
        lead = md.text(in_language(language, source.summary))
    elif case:
        lead = page._(
            "Training throughput of {model} on {dataset}, in {unit}, over all GPUs together.",
            model=md.text(case.model),
            dataset=dataset(page, case, results),
            unit=md.text(case.unit),
        )
    own_words = md.text(in_language(language, source.protocol_text)) if source else ""
    protocols = [page.protocol(name) for name in distinct(row.protocol for row in results) if name]
    rows = [
        (
            page._("Hardware"),
            language.separator.join(distinct(page.hardware(row.hardware, row.campaign) for row in results)),
        ),
        (
            page._("Framework"),
            language.separator.join(distinct(page.framework(row.framework, row.campaign) for row in results)),
        ),
        (page._("Precision"), language.separator.join(distinct(figures.precision_text(row) for row in results))),
        (
            page._("Batch per GPU"),
            language.separator.join(distinct(figures.batch_text(row) for row in sorted(results, key=_batch))),
        ),
        (
            page._("Nodes × GPUs"),
            language.separator.join(distinct(figures.scale_text(row) for row in sorted(results, key=size))),
        ),
        (page._("Protocol"), language.separator.join(protocols)),
    ]
    axes = md.facts((page._("Axes"), page._("Value")), rows)
    return md.paragraphs(
        lead, axes, page._("Protocol, in the source's own words: {words}", words=own_words) if own_words else ""
    )


def _batch(row: ConfigurationResult) -> int:
    return row.batch_size or 0


def dataset(page: Page, case: Case, results: Results) -> str:
    """The data that was trained on, which is not always the one that the case names."""
    name = md.text(case.dataset)
    plans = [plan for plan in map(page.data.plan, results) if plan is not None]
    synthetic = {bool(plan.options.get("synthetic_data")) for plan in plans}
    if case.dataset == "synthetic" or synthetic in ({False}, set()):
        return name
    if synthetic == {True}:
        return page._(
            "synthetic data of the shape of {dataset} (no file is read: loading data is not measured)", dataset=name
        )
    return page._("{dataset}; synthetic data where the options say so", dataset=name)


def _results(page: Page, results: Results) -> str:
    parts = (
        (
            "s_comparison",
            page._("Comparison of frameworks"),
            md.paragraphs(pictures.rankings(page, results), comparisons(page, results)),
        ),
        (
            "s_throughput",
            page._("Training throughput"),
            md.paragraphs(pictures.throughput(page, results), throughput(page, results)),
        ),
        ("s_scaling", page._("Scaling"), md.paragraphs(pictures.scaling(page, results), scaling(page, results))),
        ("s_utilisation", page._("Use of the hardware"), utilisation(page, results)),
        ("s_repeats", _runs_title(page, results), single_runs(page, results)),
        ("missing_why", page._("Why figures are missing"), missing(page, results)),
    )
    sections = [
        md.paragraphs(md.heading(3, title, anchor, searched=False), body) for anchor, title, body in parts if body
    ]
    return md.paragraphs(
        page._(
            "Each figure links to its configuration. Small print: n trials, and their spread (highest − lowest) "
            "÷ median; below, speed-up over one GPU and efficiency. The best of a row is marked ★; a figure "
            "marked † has something that a careful reader must know: its configuration says what."
        ),
        *sections,
    )


def _runs_title(page: Page, results: Results) -> str:
    """With the unit, which no column has, unless there are several."""
    units = distinct(row.unit for row in results)
    title = page._("The single runs")
    return title if len(units) > 1 else page._("{what} ({aside})", what=title, aside=md.text(units[0]))


def logs(page: Page, results: Results) -> str:
    groups = distinct(at.group_of(row) for row in results)
    links = [page.to(at.group_page(group), md.parts(_names(page, group))) for group in groups]
    report = page.data.published.get(results[0].campaign)
    sources = distinct(row.source for row in results if row.source)
    return md.paragraphs(
        page.data_files(),
        page._("Trials, scripts and raw logs, by configuration:"),
        md.bullets(links),
        page._("Sources") + page.language.colon.rstrip() if sources else "",
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
    words = (
        N_("Framework"),
        N_("Hardware"),
        N_("Precision"),
        N_("GPUs"),
        N_("Figure"),
        N_("Log"),
        N_("How the figure follows from the log"),
    )
    title = md.heading(3, page._("Raw logs that the source published"), searched=False)
    table = html.table([page._(word) for word in words], rows, (0, 1, 2, 5, 6), {4: "value"})
    return md.paragraphs(title, html.listing(table)) if rows else ""


def notes(page: Page, results: Results) -> str:
    report = page.data.published.get(results[0].campaign)
    said = [md.text(in_language(page.language, note)) for note in report.notes] if report else []
    if report and any(row.precision == "tf32" for row in results):
        said.append(
            page._(
                "TF32: the source calls these figures FP32; on this accelerator the frameworks compute FP32 matrix "
                "products in TF32."
            )
        )
    found = [
        page.subject(row, results) + page.language.colon + md.text(page.language.render(finding.message))
        for row in results
        for finding in row.findings
        if finding.severity != "note"
    ]
    return md.bullets([*said, *found])


def _names(page: Page, group: at.Group) -> str:
    framework = page.data.framework_title(group.framework, group.campaign)
    return f"{framework} · {page.data.hardware_title(group.hardware, group.campaign)}"
