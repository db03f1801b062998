"""The home page: the answer first, then one table."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dlperf.measure.telemetry import SLOWER_CLOCK
from dlperf.report import figures, html
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.answer import Answer, answers
from dlperf.report.data import KINDS, SiteData, distinct, gpus_total, grouped, is_published
from dlperf.report.pages import pictures
from dlperf.report.pages.page import Page
from dlperf.report.text import Language
from dlperf.results.model import ConfigurationResult

MOST_CHARTS = 6
NEWS = 6
HIGHER_CLOCK = 1 / SLOWER_CLOCK - 1
"""A lead in clock that is said beside a lead in throughput."""
WORDED = (0, 1, 2, 3, 6)
"""Columns of words in the table of answers."""


def home(say: Language, data: SiteData) -> str:
    page = Page(say, data, at.HOME)
    found = every_answer(data)
    if not found:
        return page.written(say("home_title"), say("home_nothing"))
    return page.written(
        say("home_title"),
        headlines(page, found),
        charts(page, found),
        *(
            _table(page, say(f"home_{kind}"), [answer for answer in found if data.kind(answer.best.campaign) == kind])
            for kind in KINDS
        ),
        say("home_table"),
        md.heading(2, say("home_how"), "how"),
        md.bullets((say("home_how_steps"), say("home_how_spread"), say("home_trace"))),
        md.heading(2, say("home_new"), "new", searched=False),
        news(page),
        _download(page),
        wide=True,
    )


def every_answer(data: SiteData) -> list[Answer]:
    """The answers of all reports; of several published ones on the same, the newest."""
    return newest(data, [answer for rows in data.reports.values() for answer in answers(rows)])


def newest(data: SiteData, found: Sequence[Answer]) -> list[Answer]:
    """Of several published reports on one case, hardware and precision the newest; what was measured here by several
    protocols stands for each of them."""
    contests = grouped(found, lambda answer: _question(data, answer.best))
    return [max(rivals, key=lambda answer: _rank(data, answer)) for rivals in contests.values()]


def _question(data: SiteData, best: ConfigurationResult) -> tuple[str, ...]:
    source = "" if is_published(best.campaign) else data.source(best)
    return source, best.case, best.hardware, best.precision


def _rank(data: SiteData, answer: Answer) -> tuple[bool, str, int]:
    report = data.published.get(answer.best.campaign)
    return answer.second is not None, data.created(answer.best.campaign), len(report.figures) if report else 0


def headlines(page: Page, found: Sequence[Answer]) -> str:
    """What was measured here, computed from imported logs and published by others: each under its name, but for what
    was measured here where there is nothing else."""
    kinds = grouped(found, lambda answer: page.data.kind(answer.best.campaign))
    if set(kinds) == {KINDS[0]}:
        return headline(page, found)
    told = [(f"**{page.say(f'home_{kind}')}**", headline(page, kinds[kind])) for kind in KINDS if kind in kinds]
    return md.paragraphs(*(part for pair in told for part in pair))


def headline(page: Page, found: Sequence[Answer]) -> str:
    """One sentence for each case: a comparison before a single figure, the largest scale and the fastest hardware and
    precision first."""
    return md.bullets(sentence(page, answer) for answer in heaviest(found))


def heaviest(found: Sequence[Answer]) -> list[Answer]:
    """One answer for each case, the heaviest first."""
    rivals = grouped(found, lambda answer: answer.best.case)
    return sorted((max(same, key=weight) for same in rivals.values()), key=weight, reverse=True)


def charts(page: Page, found: Sequence[Answer]) -> str:
    """Contests of several frameworks as bars: those of the headlines, then others; the tables below have them all."""
    kinds = grouped(found, lambda answer: page.data.kind(answer.best.campaign))
    told = [answer for of_kind in kinds.values() for answer in heaviest(of_kind)]
    others = [answer for answer in found if answer not in told]
    contests = [answer for answer in (*told, *others) if answer.second is not None]
    drawn = [
        f'<section><h2 id="chart-{number}" data-search-exclude>'
        f"{_in_parts(pictures.contest_title(page, answer.best))}</h2>{pictures.ranking(page, answer)}</section>"
        for number, answer in enumerate(contests[:MOST_CHARTS], 1)
    ]
    return f'<div class="charts">{"".join(drawn)}</div>' if drawn else ""


def _in_parts(title: str) -> str:
    """A title that goes on in the next line between its parts rather than inside one."""
    return " ".join(f"<span>{part}</span>" for part in re.split("(?<=·) ", md.parts(title)))


def news(page: Page) -> str:
    """The newest campaigns and reports, the latest first."""
    names = distinct(row.campaign for row in page.data.ordered)
    dated = [(page.data.created(name), name) for name in names if page.data.created(name)]
    newest_first = sorted(dated, reverse=True)[:NEWS]
    return md.bullets(f"{md.text(date[:10])} – {_reports_of(page, name)}" for date, name in newest_first)


def _reports_of(page: Page, campaign: str) -> str:
    rows = grouped((row for row in page.data.ordered if row.campaign == campaign), lambda row: row.case)
    title = md.text(page.data.source_title(page.say, campaign))
    links = [page.report(same[0], md.text(page.data.case_title(case))) for case, same in rows.items()]
    return f"{title}{page.say.colon}{page.say.separator.join(links)}"


def sentence(page: Page, answer: Answer) -> str:
    best, second = answer.best, answer.second
    words = {
        "framework": f"**{page.framework(best.framework, best.campaign)}**",
        "case": page.report(best, md.text(page.data.case_title(best.case))),
        "value": f"**{md.link(figures.value_text(best), at.relative(page.path, at.configuration_page(best)))}**",
        "unit": md.text(best.unit),
        "hardware": _counted(page, best, page.hardware(best.hardware, best.campaign)),
        "precision": figures.precision_text(best),
    }
    if second is None:
        return page.say("answer_alone", **words)
    words["lead"] = f"**{_whole(figures.percent(answer.lead))}**"
    words["second"] = page.framework(second.framework, second.campaign)
    words["differs"] = page.to(at.fairness(page.data.source(best), best.case), page.say("answer_differs"))
    return page.say("answer", **words, sure=certainty(page.say, answer))


def _counted(page: Page, row: ConfigurationResult, machine: str) -> str:
    """The machine, and how many GPUs of it; a machine that is known to have none is counted by nothing."""
    entry = page.data.hardware.get(row.hardware)
    if entry is not None and entry.accelerator is None:
        return machine
    return page.say("in_brackets", what=machine, aside=_whole(figures.gpus_text(page.say, row)))


def _whole(words: str) -> str:
    """Words that no line breaks."""
    return words.replace(" ", md.NO_BREAK)


def certainty(say: Language, answer: Answer, length: str = "") -> str:
    """How sure the answer is; ``length`` is ``_short`` for a cell."""
    if answer.second is None:
        return ""
    sure = say(answer.certainty + length, spread=_whole(figures.spread(answer.spread)))
    if answer.clock_lead is None or answer.clock_lead < HIGHER_CLOCK:
        return sure
    return say("sure_clock" + length, sure=sure, lead=_whole(figures.percent(answer.clock_lead)))


def weight(answer: Answer) -> tuple[bool, bool, int, float]:
    """The heaviest answer is told first: measured here, a comparison, at a large scale, fast."""
    best = answer.best
    return not is_published(best.campaign), answer.second is not None, gpus_total(best), best.value or 0.0


def _table(page: Page, title: str, found: Sequence[Answer]) -> str:
    if not found:
        return ""
    words = ("case", "hardware", "precision", "fastest", "figure", "lead", "source")
    table = html.table([page.say(word) for word in words], [_row(page, answer) for answer in found], WORDED)
    return md.paragraphs(md.heading(2, title, searched=False), html.block("evidence answers", table))


def _row(page: Page, answer: Answer) -> tuple[str, ...]:
    best = answer.best
    return (
        md.text(page.data.case_title(best.case)),
        _counted(page, best, page.html_to(*_machine(page, best))),
        figures.precision_text(best),
        page.html_to(*_framework(page, best)),
        f"{figures.html_cell(page.say, page.path, best)}<br><small>{md.text(best.unit)}</small>",
        _lead(page, answer),
        page.html_to(
            at.report_page(page.data.source(best), best.case), page.data.source_title(page.say, best.campaign)
        ),
    )


def _lead(page: Page, answer: Answer) -> str:
    if answer.second is None:
        return f"<em>{page.say('no_rival')}</em>"
    name = page.html_to(*_framework(page, answer.second))
    sure = certainty(page.say, answer, "_short")
    before = page.say("before_second", name=name) + page.say("list_separator").rstrip()
    return f"{figures.percent(answer.lead)} <small>{before}<br> {sure}</small>"


def _framework(page: Page, row: ConfigurationResult) -> tuple[str, str]:
    return at.framework_page(row.framework), page.data.framework_title(row.framework, row.campaign)


def _machine(page: Page, row: ConfigurationResult) -> tuple[str, str]:
    return at.hardware_page(row.hardware), page.data.hardware_title(row.hardware, row.campaign)


def _download(page: Page) -> str:
    """The data of every table, and the feed."""
    say, files = page.say, [(at.RESULTS_CSV, "CSV"), (at.RESULTS_JSON, "JSON")]
    files += [(at.RESULTS_PARQUET, "Parquet")] if page.data.parquet else []
    links = say.separator.join(page.file(path, name) for path, name in files)
    return say(
        "measurements",
        files=links,
        schema=page.to("guide/data.md", say("schema")),
        explorer=page.to(at.EXPLORER, say("explorer")),
        feed=page.file(at.FEED, say("feed")),
    )
