"""The home page: the fastest frameworks first, then one table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dlperf.measure.telemetry import SLOWER_CLOCK
from dlperf.messages import N_, Language
from dlperf.report import figures
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.answer import Answer, answers
from dlperf.report.data import KINDS, SiteData, distinct, gpus_total, grouped, is_published
from dlperf.report.pages import pictures
from dlperf.report.pages.page import Page
from dlperf.report.templating import Safe
from dlperf.results.model import ConfigurationResult

MOST_CHARTS = 6
NEWS = 6
SURE = {
    "unknown": N_("published without a spread"),
    "single": N_("one trial only, spread unknown"),
    "clear": N_("more than the spread of the trials ({spread})"),
    "tie": N_("within the spread of the trials ({spread}): a tie"),
    "clock": N_("{sure}, but its GPUs ran at a {lead} higher clock"),
}
SURE_IN_CELLS = {
    "unknown": N_("spread unknown"),
    "single": N_("one trial, spread unknown"),
    "clear": N_("beyond the spread ({spread})"),
    "tie": N_("a tie within the spread ({spread})"),
    "clock": N_("{sure}, GPU clock {lead} higher"),
}
"""Texts for ``Answer.certainty``, and for a higher GPU clock of the best."""
HIGHER_CLOCK = 1 / SLOWER_CLOCK - 1
"""Smallest lead in clock that is shown with a lead in throughput."""


def home(language: Language, data: SiteData) -> str:
    page = Page(language, data, at.HOME)
    found = every_answer(data)
    if not found:
        return page.written(
            page._("How fast deep-learning frameworks train"),
            page._(
                "Nothing has been measured here yet. `dlperf quickstart` measures this machine in a minute; `dlperf "
                "build-site` then writes this page."
            ),
        )
    return page.written(
        page._("How fast deep-learning frameworks train"),
        headlines(page, found),
        charts(page, found),
        *(
            _table(page, page._(KINDS[kind]), [answer for answer in found if data.kind(answer.best.campaign) == kind])
            for kind in KINDS
        ),
        page._(
            "The largest scale on which two frameworks can be compared, for each case, hardware and precision of "
            "each source; of several reports on the same, the newest. All that was measured here by one protocol "
            "is one source. Figures of different sources are never compared: their machines and protocols differ."
        ),
        md.heading(2, page._("How it was measured"), "how"),
        md.bullets(
            (
                page._(
                    "Throughput of all GPUs together, after warm-up, by the [protocol](results/protocols.md) that "
                    "stands with each figure."
                ),
                page._(
                    "What is measured here is run n times; the spread is (highest − lowest) ÷ median of the trials, "
                    "and a lead within it is called a tie."
                ),
                page._(
                    "Every figure links to its configuration: trials, protocol, environment, exact command and log. "
                    "What a careful reader must know of a figure marked † stands there, too."
                ),
            )
        ),
        md.heading(2, page._("What is new"), "new", searched=False),
        news(page),
        _download(page),
        wide=True,
    )


def every_answer(data: SiteData) -> list[Answer]:
    """Return the answers of all reports; of published ones on the same conditions, the newest."""
    return newest(data, [answer for rows in data.reports.values() for answer in answers(rows)])


def newest(data: SiteData, found: Sequence[Answer]) -> list[Answer]:
    """Return the newest of several published answers for one case, hardware and precision.

    Our measurements under several protocols are kept side by side.
    """
    contests = grouped(found, lambda answer: _contest_key(data, answer.best))
    return [max(rivals, key=lambda answer: _rank(data, answer)) for rivals in contests.values()]


def _contest_key(data: SiteData, best: ConfigurationResult) -> tuple[str, ...]:
    source = "" if is_published(best.campaign) else data.source(best)
    return source, best.case, best.hardware, best.precision


def _rank(data: SiteData, answer: Answer) -> tuple[bool, str, int]:
    report = data.published.get(answer.best.campaign)
    return answer.second is not None, data.created(answer.best.campaign), len(report.figures) if report else 0


def headlines(page: Page, found: Sequence[Answer]) -> str:
    """Return headlines for results measured, imported and published, with headings unless all are measured here."""
    kinds = grouped(found, lambda answer: page.data.kind(answer.best.campaign))
    if set(kinds) == {"measured"}:
        return headline(page, found)
    pairs = [(f"**{page._(KINDS[kind])}**", headline(page, kinds[kind])) for kind in KINDS if kind in kinds]
    return md.paragraphs(*(part for pair in pairs for part in pair))


def headline(page: Page, found: Sequence[Answer]) -> str:
    """Return a list with one sentence for each case, in the order of ``weight``."""
    return md.bullets(sentence(page, answer) for answer in heaviest(found))


def heaviest(found: Sequence[Answer]) -> list[Answer]:
    """Return one answer for each case in the order of ``weight``."""
    rivals = grouped(found, lambda answer: answer.best.case)
    return sorted((max(same, key=weight) for same in rivals.values()), key=weight, reverse=True)


def charts(page: Page, found: Sequence[Answer]) -> str:
    """Return bar charts of comparisons, those of the headlines first, up to ``MOST_CHARTS``."""
    kinds = grouped(found, lambda answer: page.data.kind(answer.best.campaign))
    first = [answer for of_kind in kinds.values() for answer in heaviest(of_kind)]
    others = [answer for answer in found if answer not in first]
    contests = [answer for answer in (*first, *others) if answer.second is not None]
    drawn = [
        f'<section><h2 id="chart-{number}" data-search-exclude>'
        f"{_mark_breaks(pictures.contest_title(page, answer.best))}</h2>{pictures.ranking(page, answer)}</section>"
        for number, answer in enumerate(contests[:MOST_CHARTS], 1)
    ]
    return f'<div class="charts">{"".join(drawn)}</div>' if drawn else ""


def _mark_breaks(title: str) -> str:
    """Mark the parts of a title so that lines break between them."""
    return " ".join(f"<span>{part}</span>" for part in re.split("(?<=·) ", md.parts(title)))


def news(page: Page) -> str:
    """Return a list of the newest campaigns and reports, the latest first."""
    names = distinct(row.campaign for row in page.data.ordered)
    dated = [(page.data.created(name), name) for name in names if page.data.created(name)]
    newest_first = sorted(dated, reverse=True)[:NEWS]
    return md.bullets(f"{md.text(date[:10])} – {_reports_of(page, name)}" for date, name in newest_first)


def _reports_of(page: Page, campaign: str) -> str:
    rows = grouped((row for row in page.data.ordered if row.campaign == campaign), lambda row: row.case)
    title = md.text(page.data.source_title(page.language, campaign))
    links = [page.report(same[0], md.text(page.data.case_title(case))) for case, same in rows.items()]
    return f"{title}{page.language.colon}{page.language.separator.join(links)}"


def sentence(page: Page, answer: Answer) -> str:
    best, second = answer.best, answer.second
    words = {
        "framework": f"**{page.framework(best.framework, best.campaign)}**",
        "case": page.report(best, md.text(page.data.case_title(best.case))),
        "value": f"**{page.to(at.configuration_page(best), md.text(figures.value_text(best)))}**",
        "unit": md.text(best.unit),
        "hardware": _hardware_with_gpus(page, best, page.hardware(best.hardware, best.campaign)),
        "precision": md.text(figures.precision_text(best)),
    }
    if second is None:
        return page._(
            "{framework} trains {case} at {value} {unit} on {hardware} in {precision}; no other framework was "
            "measured under the same conditions.",
            **words,
        )
    words["lead"] = f"**{_unbreakable(figures.percent(answer.lead))}**"
    words["second"] = page.framework(second.framework, second.campaign)
    words["differs"] = page.to(at.fairness(page.data.source(best), best.case), page._("What differs between them"))
    return page._(
        "{framework} is fastest on {case}: {value} {unit} on {hardware} in {precision}, {lead} ahead of "
        "{second}; {sure}. {differs}",
        **words,
        sure=certainty(page.language, answer),
    )


def _hardware_with_gpus(page: Page, row: ConfigurationResult, machine: str) -> str:
    """Return the machine with its number of GPUs; without a number if it has no accelerator."""
    entry = page.data.hardware.get(row.hardware)
    if entry is not None and entry.accelerator is None:
        return machine
    return page._("{what} ({aside})", what=machine, aside=_unbreakable(figures.gpus_text(page.language, row)))


def _unbreakable(words: str) -> str:
    return words.replace(" ", md.NO_BREAK)


def certainty(language: Language, answer: Answer, texts: Mapping[str, str] = SURE) -> str:
    """Return the certainty of an answer as part of a sentence or as a cell."""
    if answer.second is None:
        return ""
    sure = language.gettext(texts[answer.certainty], spread=_unbreakable(figures.spread(answer.spread)))
    if answer.clock_lead is None or answer.clock_lead < HIGHER_CLOCK:
        return sure
    return language.gettext(texts["clock"], sure=sure, lead=_unbreakable(figures.percent(answer.clock_lead)))


def weight(answer: Answer) -> tuple[bool, bool, int, float]:
    """Return the sort key of headlines: measured before published, then comparison, scale and throughput."""
    best = answer.best
    return not is_published(best.campaign), answer.second is not None, gpus_total(best), best.value or 0.0


def _table(page: Page, title: str, found: Sequence[Answer]) -> str:
    if not found:
        return ""
    columns = ("case", "hardware", "precision", "fastest", "figure", "lead", "source")
    table = page.table(columns, [_row(page, answer) for answer in found])
    heading = md.heading(2, title, searched=False)
    return md.paragraphs(heading, page.listing(table, class_="evidence answers"))


def _row(page: Page, answer: Answer) -> tuple[object, ...]:
    best = answer.best
    return (
        page.data.case_title(best.case),
        Safe(_hardware_with_gpus(page, best, page.html(page.hardware_link(best.hardware, best.campaign)))),
        figures.precision_text(best),
        page.framework_link(best.framework, best.campaign),
        Safe(f"{page.html(page.figure(best))}<br><small>{md.text(best.unit)}</small>"),
        Safe(_lead(page, answer)),
        page.report_link(best),
    )


def _lead(page: Page, answer: Answer) -> str:
    if answer.second is None:
        return "<em>" + page._("no other framework") + "</em>"
    name = page.html(page.framework_link(answer.second.framework, answer.second.campaign))
    sure = certainty(page.language, answer, SURE_IN_CELLS)
    before = page._("ahead of {name}", name=name) + page._("; ").rstrip()
    return f"{figures.percent(answer.lead)} <small>{before}<br> {sure}</small>"


def _download(page: Page) -> str:
    """Return links to the data of every table and to the feed."""
    language, files = page.language, [(at.RESULTS_CSV, "CSV"), (at.RESULTS_JSON, "JSON")]
    files += [(at.RESULTS_PARQUET, "Parquet")] if page.data.parquet else []
    links = language.separator.join(page.file(path, name) for path, name in files)
    explorer, feed = page.to(at.EXPLORER, page._("Explorer")), page.file(at.FEED, page._("Atom feed"))
    return page._(
        "All figures: {explorer}, {files} ({schema}). Changes: {feed}.",
        files=links,
        schema=page.schema(),
        explorer=explorer,
        feed=feed,
    )
