"""Which stack to use: of each machine and precision, the fastest released one, how it ran, and what is beside it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dlperf.messages.numbers import four_digits
from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.best import numerics
from dlperf.report.data import distinct, grouped
from dlperf.report.data.together import by_host
from dlperf.report.pages.models import MEMORY
from dlperf.report.pages.page import Page
from dlperf.report.pages.reports.stacks import is_released, is_sound, stacks_run
from dlperf.report.site import locations as at
from dlperf.report.views import Link
from dlperf.table.families import family_of
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.inference.policies import CLAIM

Results = Sequence[ConfigurationResult]
SINGLE = "measured_once"
"""Code of the caveat of a single trial."""


class Pick(NamedTuple):
    """The fastest released stack of one machine, number of GPUs and precision, in words."""

    where: str
    best: Link
    said: tuple[str, ...]
    """Sentences."""


class Fastest(NamedTuple):
    """What to know before a stack is chosen by these results."""

    picks: tuple[Pick, ...]
    trials: str
    """Of each result, as a number or a range."""
    few: bool
    """Whether these are fewer than a claim needs."""
    narrow: bool
    """Whether a machine ran several precisions."""


def choice(page: Page, results: Results) -> Fastest | None:
    """Return what these results say of stacks that ran with settings of their own; None where there are none."""
    ran = stacks_run(results)
    contests = [*grouped(ran, lambda row: (row.hardware, row.nodes, row.gpus, row.unit, numerics(row))).values()]
    picks = [pick for rows in contests for pick in _picks(page, rows)]
    if not picks:
        return None
    counts = [row.n or 0 for row in ran if is_released(row)]
    trials = "–".join(map(str, distinct((min(counts), max(counts)))))
    places = [(row.hardware, row.gpus_total) for row, *_ in contests]
    return Fastest(tuple(picks), trials, min(counts) < CLAIM.least, len(places) > len(set(places)))


def _picks(page: Page, rows: Results) -> Iterable[Pick]:
    released = sorted(filter(is_released, rows), key=figures.unpadded_per_gpu, reverse=True)
    sound = [row for row in released if is_sound(row)]
    if sound:
        ours = [row for row in rows if not is_released(row) and not row.program_caveats]
        yield _pick(page, sound, [row for row in released if row not in sound], ours)


def _pick(page: Page, sound: Results, faulty: Results, ours: Results) -> Pick:
    best = sound[0]
    machine = page.data.hardware_title(best.hardware, best.campaign)
    where = md.BETWEEN.join(
        (machine, figures.gpus_text(page.language, best), figures.precision_text(page.language, best))
    )
    higher = [row for row in faulty if figures.unpadded_per_gpu(row) > figures.unpadded_per_gpu(best)]
    own = max(ours, key=figures.unpadded_per_gpu, default=None)
    more = _caveats(page, best), _left_out(page, higher), _own(page, own, best)
    said = _standing(page, sound), _next(page, sound), *more
    return Pick(where, page.link(_title(page, best), at.configuration_page(best)), tuple(filter(None, said)))


def _standing(page: Page, sound: Results) -> str:
    """Return what the fastest reached, with what settings, and among how many."""
    count = len({family_of(row.framework) for row in sound})
    said = {"value": _value(page, sound[0]), "settings": _settings(page, sound[0])}
    if count == 1:
        return page._("{value} with {settings}: the only released stack here, so there is no choice.", **said)
    return page._("{value} with {settings}: the fastest of {count} released stacks.", **said, count=str(count))


def _next(page: Page, sound: Results) -> str:
    """Return how near the next stack is to the fastest, and with what settings."""
    second = next((row for row in sound if family_of(row.framework) != family_of(sound[0].framework)), None)
    if second is None:
        return ""
    share = figures.percent(figures.unpadded_per_gpu(second) / figures.unpadded_per_gpu(sound[0]))
    said = {"stack": _title(page, second), "share": share, "settings": _settings(page, second, sound[0])}
    return page._("The next, {stack}, has {share} of it with {settings}.", **said)


def _left_out(page: Page, higher: Results) -> str:
    stacks = page.language.separator.join(f"{_title(page, row)} {_value(page, row)}" for row in higher)
    return page._("Higher, but left out for a caveat of the program: {stacks}.", stacks=stacks) if stacks else ""


def _caveats(page: Page, row: ConfigurationResult) -> str:
    """Return the caveats of the fastest but that it is a single trial, which is said of all."""
    found = [page.language.render(one.message) for one in row.caveats if one.code != SINGLE]
    return page._("Caveat: {caveats}.", caveats=page.language.semicolon.join(found)) if found else ""


def _own(page: Page, row: ConfigurationResult | None, best: ConfigurationResult) -> str:
    """Return what a program of ours reached, which is the line to reach and no released stack."""
    if row is None:
        return ""
    return page._(
        "For scale: dlperf's own program {program} has {value} with {settings}.",
        **{"program": _title(page, row), "value": _value(page, row), "settings": _settings(page, row, best)},
    )


def _title(page: Page, row: ConfigurationResult) -> str:
    return page.data.framework_title(row.framework, row.campaign)


def _value(page: Page, row: ConfigurationResult) -> str:
    text = f"{four_digits(figures.unpadded_per_gpu(row) * row.gpus_total)} {row.unit}"
    return f"{text} {page._('without padding')}" if row.padding else text


def _settings(page: Page, row: ConfigurationResult, beside: ConfigurationResult | None = None) -> str:
    """Return the settings of a result, the memory of a GPU that it took, and whether another one ran on other GPUs."""
    memory = figures.optional(figures.metric_value(row, MEMORY))
    taken = page._("{memory} GB of memory per GPU", memory=memory) if memory else ""
    apart = page._("on other GPUs") if beside and len(by_host((row, beside))) > 1 else ""
    said = figures.varying_axes(page.language, row, page.stated), taken, apart
    return page.language.separator.join(filter(None, said))
