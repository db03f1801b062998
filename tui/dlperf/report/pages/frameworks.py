"""The pages of frameworks."""

from collections.abc import Sequence

from dlperf.catalog.model import Framework
from dlperf.messages import Language
from dlperf.report import figures
from dlperf.report.answer import Answer, chip, gpus_of, is_rival
from dlperf.report.data import SiteData, distinct
from dlperf.report.pages.page import COUNTS, Page
from dlperf.report.site import locations as at
from dlperf.report.views import Link, Listed, TableView
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import DECIDED
from dlperf.verdicts.trials import Pair


def framework(
    language: Language, data: SiteData, name: str, results: Sequence[ConfigurationResult], found: Sequence[Answer]
) -> str:
    """Return the page of a framework.

    Args:
        found: the answers of all reports, from which its comparisons are taken.
    """
    page = Page(language, data, at.framework_page(name), figures.shared_axes(results))
    entry = data.frameworks.get(name)
    return page.render(
        "framework.md.j2",
        title=data.framework_title(name),
        description=entry.description if entry else "",
        standing=_standing(page, name, found),
        facts=entry and _facts(page, entry),
        patches=entry.patches if entry else (),
        other_versions=entry is not None and any(data.kind(row.campaign) != "measured" for row in results),
        figures=page.all_figures(results, ("case", "hardware")),
    )


def frameworks_index(language: Language, data: SiteData) -> str:
    page = Page(language, data, at.FRAMEWORKS)
    rows = [
        (page.framework_link(name), _listed_versions(data, name), *page.counts(results))
        for name, results in sorted(data.of_framework.items(), key=lambda item: (*data.most_measured(item[1]), item[0]))
    ]
    table = page.table(("framework", "version", *COUNTS), rows)
    return page.render("framework_index.md.j2", frameworks=[("", table)] if rows else [])


def _listed_versions(data: SiteData, name: str) -> Listed | str:
    found = versions(data, name)
    return Listed(tuple(Link(version, code=True) for version in found)) if found else ""


def versions(data: SiteData, name: str) -> tuple[str, ...]:
    """Return the versions that the programs printed in our measurements."""
    return distinct(
        probed.framework_version
        for (_, _, framework), probed in data.probed.items()
        if framework == name and probed.framework_version
    )


def _standing(page: Page, name: str, found: Sequence[Answer]) -> TableView:
    """Return a table of the framework beside the best of another in each comparison that includes it."""
    sides = [(answer, row) for answer in found for row in answer.ranked if row.framework == name]
    compared = [pair for side in sides if (pair := _pair(*side))]
    sound = {_contest(page, row) for row, rival in compared if not _faulty(row, rival)}
    shown = [pair for pair in compared if not _faulty(*pair) or _contest(page, pair[0]) not in sound]
    shown.sort(key=lambda pair: page.data.created(pair[0].campaign), reverse=True)
    shown.sort(key=lambda pair: page.data.case_title(pair[0].case))
    columns = ("case", "hardware", "figure", "rival", "verdict", "unit", "precision", "gpus", "source")
    return page.table(columns, [_beside(page, *pair) for pair in shown])


def _pair(answer: Answer, row: ConfigurationResult) -> Pair | None:
    rival = next((other for other in answer.ranked if is_rival(other, row)), None)
    return (row, rival) if rival else None


def _faulty(*pair: ConfigurationResult) -> bool:
    return any(row.program_caveats for row in pair)


def _contest(page: Page, row: ConfigurationResult) -> tuple[object, ...]:
    """Return what comparisons share of which one without a fault stands for those of earlier programs."""
    return row.case, chip(page.data, row), row.gpus_total, row.precision, page.data.kind(row.campaign)


def _beside(page: Page, row: ConfigurationResult, rival: ConfigurationResult) -> tuple[object, ...]:
    link = page.framework_link(rival.framework, rival.campaign)
    return (
        page.data.case_title(row.case),
        page.hardware_link(row.hardware, row.campaign),
        page.figure_of_gpus(row),
        (page.figure_of_gpus(rival), link),
        _verdict(page, row, rival),
        row.unit,
        figures.conditions_text(page.language, row, page.stated),
        str(row.gpus_total),
        page.report_link(row),
    )


def _verdict(page: Page, row: ConfigurationResult, rival: ConfigurationResult) -> object:
    found = page.data.context.claim(rival, row)
    if found.verdict.code not in DECIDED:
        return page.verdict(found)
    percent, gpus = figures.percent((found.of_better.gain or 1.0) - 1), gpus_of(page.language, page.data, found)
    if found.improves:
        return page._("{percent} ahead on {gpus}", percent=percent, gpus=gpus), page.p(found)
    return page._("the other is {percent} ahead on {gpus}", percent=percent, gpus=gpus), page.p(found)


def _facts(page: Page, entry: Framework) -> TableView:
    measured = ", ".join(versions(page.data, entry.id))
    return page.facts(
        (
            (page._("Id"), Link(entry.id, code=True)),
            (page._("Version measured here"), measured) if measured else (page._("Version"), entry.version),
            (page._("Image"), Link(entry.container.image, code=True) if entry.container else ""),
            (page._("Repository"), entry.repository),
            (page._("Commit"), entry.commit),
            (page._("Log format"), Link(entry.format, code=True)),
            *((page.fact(fact), value) for fact, value in entry.facts.items()),
            *((page.fact(option), page.option(value)) for option, value in entry.options.items()),
            (page._("Source"), entry.source),
        )
    )
