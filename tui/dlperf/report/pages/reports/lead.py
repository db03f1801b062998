"""What may be claimed of the two frameworks with the highest throughput."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from dlperf.catalog.ledger import Ledger
from dlperf.messages.numbers import change
from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.answer import Answer, chip, gpus_of, work_of
from dlperf.report.best import program_words
from dlperf.report.data import distinct, grouped
from dlperf.report.pages.page import Page
from dlperf.report.pages.reports.effort import explained, idle_shares, tuning_gain, while_busy
from dlperf.report.pages.reports.grounds import deciding, overturning, p_made
from dlperf.report.views import FigureView, Lead, Link
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import DECIDED, Claim

MOST_REASONS = 2
"""Reasons for no claim in a headline."""
HIGHER_CLOCK = 1.01
"""Smallest ratio of clocks that is shown: a lead of that size may be the clock's."""


def lead(page: Page, answer: Answer) -> Lead:
    """Return what may be claimed of the two highest."""
    found, second = answer.claim, answer.second
    if found is None or second is None:
        return Lead()
    return Lead(
        first=_with_program(page, answer.best),
        second=_with_program(page, second),
        value=_value(page, answer, second),
        verdict=found.verdict.code,
        percent=md.unbreakable(figures.percent((found.gain or 1.0) - 1)),
        trials=" × ".join(map(str, _trials(found))),
        p=page.p(found),
        sought=md.unbreakable(figures.percent(found.detectable)),
        gpus=gpus_of(page.language, page.data, found),
        why=page.language.semicolon.join(map(page.reason, found.reasons[:MOST_REASONS])),
        deciding=deciding(page, found),
        brief=page.verdict(found),
        power=page.language.semicolon.join(_clock_and_power(page, _sides(answer.best, second, found))),
        idle=page.language.semicolon.join(_idle(page, _sides(answer.best, second, found))),
        machines=tuple(_on_machine(page, *pair) for pair in found.machines),
        losses=_losses(page, found),
        elsewhere=_elsewhere(page, found),
        untried=_untried(page, found),
        explained=explained(page, found, _ledger(page, found)),
        busy=while_busy(page, found),
        tuning=tuning_gain(page, found, _ledger(page, found)),
        p_made=p_made(page, found),
        overturning=overturning(page, found),
    )


def _value(page: Page, answer: Answer, row: ConfigurationResult) -> FigureView:
    """Return the value with its caveat, and its precision if that differs between the frameworks."""
    trials = figures.precision_text(page.language, row) if answer.mixed else ""
    return replace(page.figure_of_gpus(row), trials=trials)


def with_version(page: Page, rows: Sequence[ConfigurationResult]) -> Link:
    """Return the framework with the versions that its programs printed, without their build tags."""
    probed = (page.data.probed.get((row.campaign, row.hardware, row.framework)) for row in rows)
    printed = distinct(one.framework_version.partition("+")[0] for one in probed if one)
    link = page.framework_link(rows[0].framework, rows[0].campaign)
    return replace(link, text=" ".join((link.text, "/".join(filter(None, printed)))).strip())


def _with_program(page: Page, row: ConfigurationResult) -> Link:
    """Return the framework with its version, and what its name does not say of the program."""
    return replace(with_version(page, [row]), aside=program_words(page.language, page.data, row))


def _losses(page: Page, found: Claim) -> str:
    """Return how far the losses of a claim are apart, those of which trials, and what is known of it."""
    alike, ledger = found.alike, _ledger(page, found)
    if alike is None:
        return ""
    sides = ((found.b, alike.b), (found.a, alike.a)) if found.improves else ((found.a, alike.a), (found.b, alike.b))
    told = page.language.separator.join(
        page._(
            "{framework} {low} to {high} ({count} trials)",
            framework=page.data.framework_title(row.framework, row.campaign),
            low=f"{min(losses):.3g}",
            high=f"{max(losses):.3g}",
            count=str(len(losses)),
        )
        for row, losses in sides
    )
    said = page.language.render(alike.said).replace(" %", f"{md.NO_BREAK}%")
    there = page._("The losses there: {losses}.", losses=told)
    return page.language.gap.join(filter(None, (said, there, page._(ledger.losses) if ledger else "")))


def _ledger(page: Page, found: Claim) -> Ledger | None:
    """Return the ledger of the two programs of a claim; None where there is none, or nothing is claimed."""
    case = page.data.cases.get(found.a.case)
    return case.ledger if case and found.verdict.code in DECIDED else None


def _untried(page: Page, found: Claim) -> str:
    """Return what the ledger says was not measured of the two programs of a claim, that of the side behind first."""
    ledger, better = _ledger(page, found), found.of_better
    if ledger is None:
        return ""
    texts = [
        page.language.colon.join((page.data.framework_title(row.framework, row.campaign), page._(text)))
        for row in (better.a, better.b)
        if (text := ledger.untried.get(row.framework, ""))
    ]
    if better.b.tuning == "stock":
        left_out = page._(
            "the changes that make the tuned programs faster: stock programs follow each framework's documentation "
            "and leave them out"
        )
        texts.insert(0, left_out)
    return page.language.semicolon.join(texts)


def _elsewhere(page: Page, found: Claim) -> str:
    """Return by how much the better side leads on other kinds of machines where both ran the same in one campaign."""
    if found.verdict.code not in DECIDED:
        return ""
    better, other = (
        _on_other_kinds(page, row) for row in ((found.b, found.a) if found.improves else (found.a, found.b))
    )
    kinds = grouped(better.keys() & other.keys(), lambda place: chip(page.data, better[place]))
    leads = {name: [better[place].score / other[place].score - 1 for place in places] for name, places in kinds.items()}
    told = (
        page._(
            "{machine} {low} to {high}, campaigns: {count}",
            machine=name,
            low=md.unbreakable(change(min(each))),
            high=md.unbreakable(change(max(each))),
            count=str(len(each)),
        )
        for name, each in sorted(leads.items())
    )
    return page.language.semicolon.join(told)


def _on_other_kinds(page: Page, row: ConfigurationResult) -> dict[tuple[str, str], ConfigurationResult]:
    """Return our results of the same work of a framework on other kinds of machines, by campaign and machine."""
    same = (
        one
        for one in page.data.of_framework[row.framework]
        if one.value is not None and page.data.is_ours(one.campaign) and not one.program_caveats
    )
    work, kind = work_of(row), chip(page.data, row)
    return {(one.campaign, one.hardware): one for one in same if work_of(one) == work and chip(page.data, one) != kind}


def _trials(found: Claim) -> tuple[int, ...]:
    """Return trials on each side, at least; of a claim about a kind, machines first."""
    pairs = found.machines or ((found.a, found.b),)
    return (*((len(pairs),) if found.machines else ()), min(len(row.values) for pair in pairs for row in pair))


def _on_machine(page: Page, a: ConfigurationResult, b: ConfigurationResult) -> Link:
    """Return B over A on one machine, as it leads to B there."""
    return Link(md.unbreakable(change(b.score / a.score - 1)), page.figure(b).address)


def _sides(
    best: ConfigurationResult, second: ConfigurationResult, found: Claim
) -> tuple[Sequence[ConfigurationResult], ...]:
    """Return the results of both sides that a claim rests on: of one about a kind, those of all its machines."""
    rows = [row for pair in found.machines for row in pair] or [best, second]
    return tuple([row for row in rows if row.id == side.id] for side in (best, second))


def _clock_and_power(page: Page, sides: Sequence[Sequence[ConfigurationResult]]) -> list[str]:
    """Return clock and power of each side if the clocks differ: at its power limit, a GPU's clock is a result."""
    clocks = [_median(rows, "sm_clock_mhz") for rows in sides]
    watts = [_median(rows, "power_watts") for rows in sides]
    if not all((*clocks, *watts)) or max(clocks) / min(clocks) < HIGHER_CLOCK:
        return []
    return [
        page._(
            "{framework} {clock} MHz at {power} W per GPU",
            framework=page.data.framework_title(rows[0].framework, rows[0].campaign),
            clock=f"{clock:,.0f}",
            power=f"{power / rows[0].gpus_total:,.0f}",
        )
        for rows, clock, power in zip(sides, clocks, watts, strict=True)
    ]


def _idle(page: Page, sides: Sequence[Sequence[ConfigurationResult]]) -> list[str]:
    """Return the idle share of the window of each side if they differ: a host that launches late is no slow kernel."""
    return [
        f"{page.data.framework_title(rows[0].framework, rows[0].campaign)} {md.unbreakable(figures.percent(share))}"
        for rows, share in zip(sides, idle_shares(sides), strict=False)
    ]


def _median(rows: Sequence[ConfigurationResult], name: str) -> float:
    """Return the median of the trials that count; 0 if unknown."""
    found = [value for row in rows for trial in row.usable_trials if (value := getattr(trial, name))]
    return float(median(found or [0.0]))
