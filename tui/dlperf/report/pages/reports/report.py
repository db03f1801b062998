"""The report of one source on one case, and the list of all reports."""

import shlex
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain

from dlperf.catalog.model import Case
from dlperf.catalog.units import counts_samples
from dlperf.messages import Language
from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.answer import Answer, answers_of_site
from dlperf.report.data import KINDS, SiteData, distinct, grouped
from dlperf.report.pages.hardware import shared_title
from dlperf.report.pages.home import best_of_cases, headline
from dlperf.report.pages.overview import best_cells, best_of_origins
from dlperf.report.pages.page import Page
from dlperf.report.pages.reports import tables as report_tables
from dlperf.report.pages.reports.choice import choice
from dlperf.report.pages.reports.conditions import conditions
from dlperf.report.pages.reports.fairness import fairness
from dlperf.report.pages.reports.order import trials_in_order
from dlperf.report.pages.reports.stacks import of_many_settings
from dlperf.report.pages.results import pictures
from dlperf.report.pages.results.profiles import profile_links
from dlperf.report.site import locations as at
from dlperf.report.views import ColumnView, Link, Listed, Prose, TableView, TextView, date, filled
from dlperf.runs.published import PublishedFigure, PublishedReport
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import Claim

Results = Sequence[ConfigurationResult]


def report(language: Language, data: SiteData, source: str, case: str, results: Results) -> str:
    """Return the page."""
    page = Page(language, data, at.report_page(source, case), figures.shared_axes(results))
    published, found = data.published.get(results[0].campaign), answers_of_site(data, results)
    rivals = [answer for answer in found if len(answer.ranked) > 1]
    shown = sorted(best_of_cases(found), key=lambda answer: answer.second is None)
    on_all_gpus = data.with_together(results)
    return page.render(
        "report.md.j2",
        title=data.report_title(language, source, case),
        shared=shared_title(page, case, results),
        kind=data.kind(results[0].campaign),
        campaigns=distinct(row.campaign for row in on_all_gpus),
        published=published,
        answers=headline(page, shown),
        all_sources=page.model_links(case),
        your_number=page.your_number(case) if any(row.value and counts_samples(row.unit) for row in results) else None,
        charts=[pictures.comparison_chart(page, answer) for answer in rivals if answer not in shown],
        verdict_commands="\n".join(_verdict_command(answer) for answer in rivals if answer.second),
        trials=[
            (_compared(page, answer.claim), trials_in_order(page, answer.claim)) for answer in rivals if answer.claim
        ],
        on_gpus=len(on_all_gpus) > len(results),
        findings=_findings(page, on_all_gpus),
        tf32=published is not None and any(row.precision == "tf32" for row in results),
        **_tested(page, results),
        **conditions(page, on_all_gpus),
        differences=fairness(page, results),
        per_gpu=report_tables.per_gpu(page, published, results),
        **_figures(page, results, [row for answer in shown for row in answer.ranked]),
        **_logs(page, published, on_all_gpus),
    )


def _compared(page: Page, found: Claim) -> str:
    """Return the names of both sides of a claim, and on what they ran."""
    names = (page.data.framework_title(row.framework, row.campaign) for row in (found.b, found.a))
    return md.BETWEEN.join(
        (*names, page.data.hardware_title(found.b.hardware), figures.point_text(page.language, found.b, page.stated))
    )


def _verdict_command(answer: Answer) -> str:
    """Return the command that compares the highest of an answer with the second again, about a kind on all GPUs."""
    of_kind = answer.claim is not None and answer.claim.of_kind
    sides = [row.id if of_kind else f"{row.campaign}/{row.id}" for row in (answer.second, answer.best) if row]
    return shlex.join(("dlperf", "compare", *sides))


def _tested(page: Page, results: Results) -> dict[str, object]:
    case = page.data.cases.get(results[0].case)
    scales = sorted(results, key=report_tables.size)
    batches = sorted(results, key=lambda row: row.batch_size or 0)
    protocols = distinct(row.protocol for row in results if row.protocol)
    axes: list[tuple[str, Sequence[str | Link]]] = [
        (page._("Hardware"), distinct(page.hardware_link(row.hardware, row.campaign) for row in results)),
        (page._("Framework"), distinct(page.framework_link(row.framework, row.campaign) for row in results)),
        (page._("Precision"), distinct(figures.precision_text(page.language, row) for row in results)),
        (page._("Batch per GPU"), distinct(filter(None, map(figures.batch_text, batches)))),
        (page._("Nodes × GPUs"), distinct(map(figures.scale_text, scales))),
        (page._("Protocol"), [page.protocol_link(name) for name in protocols]),
    ]
    return {
        "case": case,
        "dataset": _dataset(page, case, results) if case else "",
        "axes": [(name, values) for name, values in axes if values],
    }


def _dataset(page: Page, case: Case, results: Results) -> str:
    """Return the dataset of the training, which may differ from the one that the case names; empty where unknown."""
    if not any(page.data.is_ours(row.campaign) for row in results):
        return ""
    plans = [plan for plan in map(page.data.plan, results) if plan is not None]
    synthetic = {bool(plan.options.get("synthetic_data")) for plan in plans}
    if case.dataset == "synthetic":
        return page._("synthetic data")
    if synthetic in ({False}, set()):
        return case.dataset
    if synthetic == {True}:
        return page._("synthetic {dataset}-shaped data; input pipeline not measured", dataset=case.dataset)
    return page._("{dataset}; synthetic data where the options say so", dataset=case.dataset)


def _figures(page: Page, results: Results, shown: Results) -> dict[str, object]:
    """Return the results as charts and grids with titles (``Part``), and as lists.

    Args:
        shown: results in the chart above them.
    """
    units = distinct(row.unit for row in results)
    listed = list(chain(*of_many_settings(results)))
    compared = [*listed, *chain(*report_tables.contested(results))]
    return {
        "choice": choice(page, results),
        "stacks": report_tables.side_by_side(page, results),
        "narrow": any(map(figures.recipe_of, results)),
        "comparison": report_tables.comparisons(page, results, [*shown, *listed]),
        "throughput": [*pictures.throughput(page, results), *report_tables.throughput(page, results, compared)],
        "scaling_charts": pictures.scaling(page, results),
        "scaling": report_tables.scaling(page, results),
        "utilisation": report_tables.utilisation(page, report_tables.without(results, listed)),
        "profiles": profile_links(page, results),
        "single_runs": report_tables.single_runs(page, results),
        "unit": units[0] if len(units) == 1 else "",
        "missing": report_tables.missing(page, results),
    }


def _logs(page: Page, published: PublishedReport | None, results: Results) -> dict[str, object]:
    """Return links to the trials, the sources of the results, and the logs that a report published."""
    groups = distinct(at.group_of(row) for row in results)
    sources = distinct(row.source for row in results if row.source)
    logged = [one for one in published.figures if one.source in sources and one.log] if published else []
    return {
        "groups": [page.link(_group_title(page, group, groups), at.group_page(group)) for group in groups],
        "sources": sources,
        "published_logs": _published_logs(page, logged),
    }


def _published_logs(page: Page, published: Sequence[PublishedFigure]) -> TableView:
    columns = (
        *(ColumnView(page._("Framework"), words=True), ColumnView(page._("Hardware"), words=True)),
        *(
            ColumnView(page._("Precision"), words=True),
            ColumnView(page._("GPUs")),
            ColumnView(page._("Throughput"), place="value"),
        ),
        *(ColumnView(page._("Log"), words=True), ColumnView(page._("Derivation from the log"), words=True)),
    )
    rows = [
        (
            *(one.framework, one.hardware, one.precision, str(one.gpus), one.printed),
            *(TextView(one.log, "source"), TextView(one.rule.replace("->", "→"), "quoted") if one.rule else ""),
        )
        for one in published
    ]
    return filled(columns, rows)


def _group_title(page: Page, group: at.ReportGroup, among: Collection[at.ReportGroup]) -> str:
    """Return framework and hardware, and the campaign where there are several."""
    parts = [page.data.framework_title(group.framework, group.campaign)]
    parts.append(page.data.hardware_title(group.hardware, group.campaign))
    if len({one.campaign for one in among}) > 1:
        parts.append(page.data.source_title(page.language, group.campaign))
    return md.unbroken(md.BETWEEN.join(parts))


def _findings(page: Page, results: Results) -> list[tuple[Link, str]]:
    """Return the caveats of results, of which those of several GPUs name their campaign."""
    return [
        (replace(page.subject(row, results), aside=row.campaign if len(page.data.together(row)) > 1 else ""), words)
        for row in results
        for words in (Prose(page.language.render(finding.message)) for finding in row.caveats)
    ]


def reports_index(language: Language, data: SiteData) -> str:
    """Return the list of models with their best values for one GPU, and below it that of all reports."""
    page = Page(language, data, at.REPORTS)
    of_case = grouped(data.reports.items(), lambda report: report[0][1])
    cases = sorted(of_case, key=lambda case: data.most_measured(row for _, rows in of_case[case] for row in rows))
    models = [_model_row(page, case, [row for _, rows in of_case[case] for row in rows]) for case in cases]
    listed = [_report_row(page, *key, rows) for case in cases for key, rows in of_case[case]]
    return page.render(
        "report_index.md.j2",
        models=page.table(("case", "unit", "measured_best", "published_best", "figures"), models, places={}),
        reports=page.table(("case", "report", "origin", "date", "figures", "hardware", "framework"), listed),
        your_number=page.your_number(),
    )


def _model_row(page: Page, case: str, results: Results) -> tuple[object, ...]:
    """Return the best values of a model for one GPU, with a link to all its results."""
    units = grouped((row for row in results if row.value and counts_samples(row.unit)), lambda row: row.unit)
    unit, known = max(units.items(), key=lambda pair: len(pair[1]), default=("", ()))
    of_all = at.model_page(case) if case in page.data.models else at.report_page(page.data.source(results[0]), case)
    return (
        page.link(page.data.case_title(case), of_all),
        unit,
        *best_cells(page, best_of_origins(page.data, known), with_chip=True),
        str(sum(row.value is not None for row in results)),
    )


def _report_row(page: Page, source: str, case: str, results: Results) -> tuple[object, ...]:
    machines = {row.hardware: page.hardware_link(row.hardware, row.campaign) for row in results}
    frameworks = {row.framework: page.framework_link(row.framework, row.campaign) for row in results}
    return (
        page.data.case_title(case),
        page.link(page.data.source_title(page.language, source), at.report_page(source, case)),
        page._(KINDS[page.data.kind(source)]),
        date(max(page.data.created(row.campaign) for row in results)),
        str(sum(row.value is not None for row in results)),
        Listed(tuple(machines.values())),
        Listed(tuple(frameworks.values())),
    )
