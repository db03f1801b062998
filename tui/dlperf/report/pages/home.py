"""The home page: the frameworks with the highest throughput first, then one table."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from dlperf.messages import Language
from dlperf.plan import max_nodes
from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.answer import Answer, answers_of_site, base_precision, chip, gpus_of
from dlperf.report.data import KINDS, SiteData, grouped, is_published
from dlperf.report.pages.overview import METRICS, model_charts
from dlperf.report.pages.page import Page
from dlperf.report.pages.reports.lead import lead, with_version
from dlperf.report.pages.results.pictures import ranked_bars
from dlperf.report.site import locations as at
from dlperf.report.views import Bar, Lead, Link, TableView
from dlperf.table.families import family_of, work_left_out
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import Claim

NEWS = 6
MOST_NAMED = 4
"""Frameworks in a headline."""
TOLD = {"same": 1, "better": 2}
"""Verdict on the best and the second → its place among headlines."""


@dataclass(frozen=True)
class Headline:
    """The frameworks that ran a case, the highest first, and what may be claimed of the first two."""

    case: Link
    hardware: Link
    conditions: tuple[str, ...]
    """Precision, batch size and further axes."""
    unit: str
    bars: tuple[Bar, ...]
    lead: Lead
    differs: str
    """Address of what differs between the fastest two."""


def home(language: Language, data: SiteData) -> str:
    here = {row.case for row in data.trained if not is_published(row.campaign)}
    shared = figures.shared_axes(row for row in data.trained if row.case in here)
    page = Page(language, data, at.HOME, shared)
    found = every_answer(data)
    shown = [one for one in found if one.second or not is_published(one.best.campaign)] or found
    compared = [one for one in found if one.second]
    listed = compared or found
    kinds = grouped(listed, lambda answer: data.kind(answer.best.campaign))
    files = {"CSV": at.RESULTS_CSV, "JSON": at.RESULTS_JSON} | ({"Parquet": at.RESULTS_PARQUET} if data.parquet else {})
    return page.render(
        "home.md.j2",
        summary=_summary(page, found),
        charts=model_charts(page),
        metrics=[(name, page._(title)) for name, title in METRICS.items()],
        headlines=headlines(page, shown),
        tables=[(page._(KINDS[kind]), _table(page, by_weight(kinds[kind]))) for kind in KINDS if kind in kinds],
        your_number=page.your_number(),
        compared=bool(compared),
        left_out=len(found) - len(listed),
        news=_news(page),
        files=[page.file_link(path, name) for name, path in files.items()],
        explorer=at.html_address(page.path, at.EXPLORER),
        reports=at.html_address(page.path, at.REPORTS),
        chart_data=at.relative(page.path, at.EXPLORER_DATA),
        chart_scripts=[at.relative(page.path, f"{at.SCRIPTS}/{name}") for name in ("bars.js", "overview.js")],
        feed=page.data_file(at.FEED),
    )


def every_answer(data: SiteData) -> list[Answer]:
    """Return the answers of all reports on training; of published ones on the same conditions, the newest."""
    return newest(data, [answer for rows in data.training_reports for answer in answers_of_site(data, rows)])


def newest(data: SiteData, found: Sequence[Answer]) -> list[Answer]:
    """Return the newest of several published answers for one case, hardware and precision.

    Our measurements under several protocols or settings are kept side by side.
    """
    contests = grouped(found, lambda answer: _contest_key(data, answer.best))
    return [max(rivals, key=lambda answer: _rank(data, answer)) for rivals in contests.values()]


def _contest_key(data: SiteData, best: ConfigurationResult) -> tuple[object, ...]:
    own = () if is_published(best.campaign) else (data.source(best), best.axes, best.tuning)
    return *own, best.case, best.hardware, base_precision(best), work_left_out(best.framework)


def _rank(data: SiteData, answer: Answer) -> tuple[bool, str, int]:
    report = data.published.get(answer.best.campaign)
    return answer.second is not None, data.created(answer.best.campaign), len(report.figures) if report else 0


def headlines(page: Page, found: Sequence[Answer]) -> list[tuple[str, list[Headline]]]:
    """Return headlines by origin, each with a title unless all are measured here."""
    kinds = grouped(found, lambda answer: page.data.kind(answer.best.campaign))
    titles = {} if set(kinds) == {"measured"} else KINDS
    return [(page._(titles.get(kind, "")), headline(page, kinds[kind])) for kind in KINDS if kind in kinds]


def headline(page: Page, found: Sequence[Answer]) -> list[Headline]:
    """Return the headlines of ``best_of_cases``."""
    return [_headline(page, answer) for answer in best_of_cases(found)]


def best_of_cases(found: Sequence[Answer]) -> list[Answer]:
    """Return one answer for each case in the order of ``weight``, and one of its stock programs."""
    return [same[0] for same in grouped(by_weight(found), _headline_key).values()]


def _headline_key(answer: Answer) -> tuple[str, bool]:
    return answer.best.case, answer.best.tuning == "stock"


def by_weight(found: Sequence[Answer]) -> list[Answer]:
    """Return the answers in the order of ``weight``, those of a case together."""
    near = grouped(found, _precision_of)
    names = {key: {family_of(row.framework) for one in same for row in one.ranked} for key, same in near.items()}
    ordered = sorted(found, key=lambda answer: weight(answer, len(names[_precision_of(answer)])), reverse=True)
    rivals = grouped(ordered, lambda answer: answer.best.case)
    return [answer for same in rivals.values() for answer in same]


def _precision_of(answer: Answer) -> tuple[str, bool, str]:
    return answer.best.case, is_published(answer.best.campaign), base_precision(answer.best)


def _summary(page: Page, found: Sequence[Answer]) -> dict[str, object]:
    """Summarize the results; frameworks and hardware with the most come first, so that a quick local test does not."""
    data = page.data
    here = [row for row in data.trained if row.value is not None and data.kind(row.campaign) == "measured"]
    others = [row for row in data.trained if row.value is not None and is_published(row.campaign)]
    contests = [one for one in found if data.kind(one.best.campaign) == "measured"]
    claims = [one.claim for one in contests if one.claim]
    return {
        "results": len(here),
        "frameworks": _frameworks(page, here),
        "hardware": [name for name, _ in Counter(chip(data, row) for row in here).most_common()],
        "models": len({row.case for row in here}),
        "dates": sorted({data.created(row.campaign)[:10] for row in here} - {""}),
        "published": len(others),
        "reports": len({row.campaign for row in others}),
        "contests": len(claims),
        "claimed": sum(one.improves for one in claims),
        "leads": _leads(page, [one for one in claims if one.improves]),
        "same": sum(one.verdict.code == "same" for one in claims),
        "undecided": sum(not one.improves and one.verdict.code != "same" for one in claims),
        "split": len({family_of(one.b.framework) for one in claims if one.improves}) > 1,
        "logged": sum(bool(row.log) for row in data.audit),
        "printed": len(data.audit),
        "audit": at.relative(page.path, at.AUDIT),
        "counts": f"{at.html_address(page.path, at.EXPLORER)}#counts",
        "refused": f"{at.html_address(page.path, at.METHODOLOGY)}#refused",
    }


def _leads(page: Page, claims: Sequence[Claim]) -> list[tuple[Link, list[str]]]:
    """Return the frameworks that may be called ahead, the most frequent first, with their leads, largest first."""
    found = sorted(grouped(claims, lambda one: one.b.framework).values(), key=len, reverse=True)
    return [
        (
            with_version(page, [one.b for one in same]),
            [_gain(page, one) for one in sorted(same, key=lambda one: -(one.gain or 1.0))],
        )
        for same in found
    ]


def _gain(page: Page, lead: Claim) -> str:
    model, machine = page.data.case_title(lead.b.case), gpus_of(page.language, page.data, lead)
    percent = md.unbreakable(figures.percent((lead.gain or 1.0) - 1))
    return page._("{model} ({machine}) by {percent}", model=model, machine=machine, percent=percent)


def _frameworks(page: Page, here: Sequence[ConfigurationResult]) -> list[Link]:
    """Return the frameworks with most results, and of many the number of the others."""
    ranked = sorted(grouped(here, lambda row: row.framework).values(), key=len, reverse=True)
    named = MOST_NAMED if len(ranked) > MOST_NAMED + 1 else len(ranked)
    left = page._("{count} more", count=str(len(ranked) - named))
    others = [page.link(left, at.FRAMEWORKS)] if named < len(ranked) else []
    return [*(with_version(page, rows) for rows in ranked[:named]), *others]


def _news(page: Page) -> list[tuple[str, str, list[Link]]]:
    """Return date, title and reports of the newest campaigns and published reports, the latest first.

    Campaigns of one day on the same cases, such as one on each GPU, are one line.
    """
    data = page.data
    campaigns = grouped(data.ordered, lambda row: row.campaign)
    dated = sorted(((data.created(name), name) for name in campaigns if data.created(name)), reverse=True)
    days = grouped(dated, lambda item: (item[0][:10], *dict.fromkeys(row.case for row in campaigns[item[1]])))
    return [
        (date, _titles(page, [name for _, name in of_day]), _case_links(page, campaigns[of_day[0][1]]))
        for (date, *_cases), of_day in islice(days.items(), NEWS)
    ]


def _titles(page: Page, campaigns: Sequence[str]) -> str:
    if len(campaigns) == 1:
        return page.data.source_title(page.language, campaigns[0])
    return page.language.ngettext("{count} campaign", "{count} campaigns", len(campaigns))


def _case_links(page: Page, rows: Iterable[ConfigurationResult]) -> list[Link]:
    cases = grouped(rows, lambda row: row.case)
    return [replace(page.report_link(of[0]), text=page.data.case_title(case)) for case, of in cases.items()]


def _headline(page: Page, answer: Answer) -> Headline:
    best = answer.best
    conditions = (
        figures.precision_text(page.language, answer.shared),
        *page.settings(best),
        *figures.tuning_words(page.language, best),
    )
    return Headline(
        case=replace(page.report_link(best), text=page.data.case_title(best.case)),
        hardware=_hardware_with_gpus(page, best),
        conditions=conditions,
        unit=best.unit,
        bars=ranked_bars(page, answer, MOST_NAMED),
        lead=lead(page, answer),
        differs=at.html_address(page.path, at.fairness(page.data.source(best), best.case)),
    )


def _hardware_with_gpus(page: Page, row: ConfigurationResult) -> Link:
    """Return the machine, with the number of GPUs unless it has no others or no accelerator."""
    entry, machine = page.data.hardware.get(row.hardware), page.hardware_link(row.hardware, row.campaign)
    if entry and (entry.accelerator is None or max_nodes(entry) * entry.gpus_per_node == row.gpus_total):
        return machine
    return replace(machine, aside=md.unbreakable(figures.gpus_text(page.language, row)))


def weight(answer: Answer, families: int) -> tuple[object, ...]:
    """Return the sort key of headlines: own, all work, compared, at equal precisions, told, scale and throughput.

    A lead comes before two that were shown to be the same, and these before two of which nothing can be told: first
    those where more trials would tell, then those that lack a condition.

    Args:
        families: frameworks that ran its model at its precision, which come after what is told and before the scale.
    """
    best = answer.best
    whole, compared = not work_left_out(best.framework), answer.second is not None
    told = TOLD.get(answer.claim.verdict.code, 0) if answer.claim else 0
    testable = answer.claim is not None and answer.claim.is_testable
    own = not is_published(best.campaign)
    return own, whole, compared, compared and not answer.mixed, told, testable, families, best.gpus_total, best.score


def _table(page: Page, found: Sequence[Answer]) -> TableView:
    columns = ("case", "hardware", "precision", "framework", "figure", "lead", "source")
    return page.table(columns, [_row(page, answer) for answer in found])


def _row(page: Page, answer: Answer) -> tuple[object, ...]:
    best = answer.best
    return (
        page.data.case_title(best.case),
        _hardware_with_gpus(page, best),
        figures.conditions_text(page.language, best, page.stated),
        page.framework_link(best.framework, best.campaign),
        replace(page.figure_of_gpus(best), below=best.unit),
        lead(page, answer),
        page.report_link(best),
    )
