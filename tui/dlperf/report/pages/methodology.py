"""The methodology page: how to read a result, what is claimed, tests and protocols, with comparisons as examples."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from dlperf.catalog.hardware import Numerics
from dlperf.measured.findings.trials import WINDOW_SECONDS
from dlperf.measured.statistics import pooled_variation
from dlperf.messages import Language, Message
from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.answer import answers_of_site, claims_of
from dlperf.report.data import SiteData
from dlperf.report.pages.page import Page
from dlperf.report.pages.protocols import protocol_views
from dlperf.report.pages.reports.withdrawn import withdrawn_claims
from dlperf.report.site import locations as at
from dlperf.report.views import ColumnView, FigureView, Link, TableView
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import DECIDED, Claim
from dlperf.verdicts.inference import policies
from dlperf.verdicts.inference.power import detectable_difference, smallest_drawn_p
from dlperf.verdicts.inference.verdict import ASSUMED_MACHINES
from dlperf.verdicts.trials import MOST_IN_ROW

VARIATIONS = (0.001, 0.003, 0.01, 0.03)
TRIALS = (5, 7, 10)


def methodology(language: Language, data: SiteData) -> str:
    page = Page(language, data, at.METHODOLOGY)
    measured = [row for row in data.ordered if data.kind(row.campaign) == "measured" and row.value is not None]
    own = [rows for (source, _), rows in data.reports.items() if data.kind(source) == "measured"]
    found = [answer.claim for rows in own for answer in answers_of_site(data, rows) if answer.claim is not None]
    undecided = [one for one in found if not one.improves and one.verdict.code != "same"]
    return page.render(
        "methodology.md.j2",
        **protocol_views(page),
        audit=at.html_address(page.path, at.AUDIT),
        withdrawn=at.relative(page.path, at.HISTORY) if withdrawn_claims(page).rows else "",
        least=policies.CLAIM.least,
        level=f"{policies.LEVEL:g}",
        each=f"{data.context.level:.2g}",
        tested=sum(one.is_testable for one in claims_of(data, data.context)),
        window=WINDOW_SECONDS,
        in_row=MOST_IN_ROW,
        largest_loss=figures.percent(policies.LARGEST_LOSS),
        assumed=figures.percent(ASSUMED_MACHINES.share),
        lead=figures.percent(ASSUMED_MACHINES.reach),
        units=policies.LEAST_UNITS,
        in_turns=policies.IN_TURNS,
        detectable=_detectable(page),
        most=policies.CLAIM.most,
        smallest={count: f"{smallest_drawn_p(count):.3g}" for count in (policies.CLAIM.least, policies.CLAIM.most)},
        within=figures.percent(pooled_variation([row.values for row in measured]), 2),
        between_campaigns=_variations(page, "campaigns"),
        between_machines=_variations(page, "machines"),
        compared=len(found),
        claimed=sum(one.verdict.code in DECIDED for one in found),
        undecided=len(undecided),
        precisions=_precisions(page),
        reasons=_reasons(page, found),
        examples=_examples(page, undecided),
    )


def _variations(page: Page, between: Literal["campaigns", "machines"]) -> str:
    """Return a variation of each hardware, and how many differences it rests on; empty where none is known."""
    known = ((hardware, getattr(each, between)) for hardware, each in page.data.context.known.items())
    return page.language.separator.join(
        f"{page.data.hardware_title(hardware)} {figures.percent(found.share, 2)} (n = {found.freedom:.0f})"
        for hardware, found in known
        if found
    )


def _detectable(page: Page) -> TableView:
    """Return the smallest visible difference by number of trials and variation between them."""
    rows = tuple(
        (str(trials), *(figures.percent(detectable_difference(trials, each), 2) for each in VARIATIONS))
        for trials in TRIALS
    )
    heads = (page._("variation {share}", share=figures.percent(each)) for each in VARIATIONS)
    return TableView((ColumnView(page._("Trials on each side")), *map(ColumnView, heads)), rows)


def _precisions(page: Page) -> TableView:
    """Return what the precisions of the results stand for."""
    known = page.data.used_precisions
    kinds = [name for name in Numerics.model_fields if any(getattr(entry.numerics, name) for entry in known)]
    rows = tuple(
        (entry.id.upper(), *(page.option(getattr(entry.numerics, kind)) or "–" for kind in kinds)) for entry in known
    )
    return TableView(
        tuple(ColumnView(name, words=True) for name in (page._("Precision"), *map(page.fact, kinds))), rows
    )


def _reasons(page: Page, found: Sequence[Claim]) -> TableView:
    """Return why claims of this site are refused, the most frequent reason first, with one of its texts."""
    kinds: dict[tuple[str, ...], list[Message]] = {}
    for one in found:
        for kind, reason in {tuple(part.code for part in reason.chain()): reason for reason in one.reasons}.items():
            kinds.setdefault(kind, []).append(reason)
    by_frequency = sorted(kinds.values(), key=len, reverse=True)
    heads = (ColumnView(page._("Reason, with one example"), words=True), ColumnView(page._("Comparisons")))
    return TableView(heads, tuple((page.reason(same[0]), str(len(same))) for same in by_frequency))


def _examples(page: Page, undecided: Sequence[Claim]) -> TableView:
    """Return comparisons that are refused, or whose test finds no difference, those with other reasons first."""
    distinct = {tuple(reason.code for reason in one.reasons): one for one in reversed(undecided)}
    chosen = [*distinct.values(), *(one for one in undecided if one not in distinct.values())]
    columns = [
        *(ColumnView(name, words=True) for name in (page._("Comparison"), "A", "B")),
        *(ColumnView(name) for name in ("B/A", page._("Interval"), Link(page._("p, t test"), "#tests"))),
        ColumnView(page._("Why there is no claim"), words=True),
    ]
    return TableView(tuple(columns), tuple(_example(page, one) for one in chosen))


def _example(page: Page, one: Claim) -> tuple[object, ...]:
    sides = [(page.framework_link(row.framework, row.campaign), _value(page, one, row)) for row in (one.a, one.b)]
    return (
        page.language.separator.join((page.data.case_title(one.a.case), page.data.hardware_title(one.a.hardware))),
        *sides,
        _ratio(page, one),
        " … ".join(f"{end:.3f}" for end in one.interval or ()),
        "" if one.p is None else f"{one.p:.2g}",
        page.reasons(one),
    )


def _value(page: Page, one: Claim, row: ConfigurationResult) -> FigureView:
    """Return the value of a side; of a claim about a kind, the median of its GPUs."""
    shown = page.figure_of_gpus(row) if one.of_kind else page.figure(row)
    return replace(shown, below=md.BETWEEN.join(filter(None, (row.unit, shown.below))))


def _ratio(page: Page, one: Claim) -> str:
    """Return the ratio of both values; of a claim about a kind, the mean of those of its GPUs, and that it is."""
    if one.ratio is None:
        return figures.factor(None)
    mean = page._("mean of {count} GPUs", count=str(len(one.machines) * one.b.gpus_total))
    return f"{one.ratio:.3f} ({mean})" if one.of_kind else f"{one.ratio:.3f}"
