"""Your number: how good a reader's throughput is, and what training costs at the reader's prices."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from dlperf.catalog.hardware import Accelerator
from dlperf.catalog.units import counts_samples
from dlperf.measured.statistics import mfu
from dlperf.messages import Language
from dlperf.messages.numbers import four_digits
from dlperf.report import figures
from dlperf.report.answer import CHIP, chip, short_name
from dlperf.report.data import SiteData, grouped, is_published
from dlperf.report.data.together import apart
from dlperf.report.pages.explorer import by_relevance, script
from dlperf.report.pages.overview import best_cells, best_of_origins, best_rows, ranked_models
from dlperf.report.pages.page import Page
from dlperf.report.pages.reports.stacks import which_stack
from dlperf.report.pages.results.evidence import can_be_tested, commands_again, measuring_again
from dlperf.report.site import locations as at
from dlperf.report.views import ColumnView, FigureView, TableView
from dlperf.table.families import family_of
from dlperf.table.model import ConfigurationResult

SCRIPTS = ("bars.js", "your-number-form.js", "your-number-cost.js", "your-number-pair.js", "your-number.js")
"""In the order in which they run."""
WORDS: dict[str, str] = figures.TITLES["your_number"]
"""Name in the script → text."""
SECONDS_PER_HOUR = 3600
NEAR_PEAK = 0.9
"""Share of the peak from which a program may not have done all of the arithmetic that is counted."""
CHANGES = {"torchtitan": "guide/stacks.md#torchtitan-changes"}
"""Framework → what its user can change, by a guide."""
LENGTHS = (0, 1000)
"""Sequence lengths at which the work of a token is computed: it grows linearly between and beyond them."""


class Work(NamedTuple):
    """The arithmetic of one sample or token, in 10^9 FLOP: ``constant`` and ``per_position`` × the sequence length."""

    constant: float
    per_position: float


def your_number(language: Language, data: SiteData) -> str:
    """Return the page; without scripts it has the best results of each model and accelerator in one table."""
    page = Page(language, data, at.YOUR_NUMBER)
    type_text, amount_text = WORDS["type"], WORDS["amount"]
    scripts = (at.EXPLORER_DATA, at.YOUR_NUMBER_DATA, *(f"{at.SCRIPTS}/{name}" for name in SCRIPTS))
    return page.render(
        "your_number.md.j2",
        style=at.relative(page.path, at.YOUR_NUMBER_STYLE),
        table=_table(page),
        which_stack=which_stack(page),
        pair=_best_known(data),
        apart=_apart(data),
        type=page._(type_text),
        amount=page._(amount_text, unit="samples"),
        scripts=[at.relative(page.path, name) for name in scripts],
        methodology=at.relative(page.path, at.METHODOLOGY),
        energy=_counted(page),
        precisions=at.html_address(page.path, at.METHODOLOGY) + "#precisions" if data.used_precisions else "",
    )


def _counted(page: Page) -> str:
    """Return the address that says what energy counts."""
    return at.html_address(page.path, at.METHODOLOGY) + "#energy"


def _best_known(data: SiteData) -> list[str]:
    """Return the two accelerators with most results of ours; none where there are fewer."""
    own = Counter(chip(data, row) for row in data.current if data.is_ours(row.campaign))
    named = [name for name, _ in own.most_common() if CHIP.fullmatch(name)]
    return sorted(named[:2]) if len(named) > 1 else []


def _apart(data: SiteData) -> dict[str, str]:
    """Return how far GPUs of a kind are apart that ran the same together; nothing where none did."""
    shares = sorted(map(apart, data.of_several_gpus))
    if not shares:
        return {}
    said = {"middle": median(shares), "low": shares[0], "high": shares[-1]}
    return {"count": str(len(shares))} | {name: figures.spread(share) for name, share in said.items()}


def your_number_data(language: Language, data: SiteData) -> str:
    """Return what the script needs beside ``figures.js``: work of models, peaks of accelerators, commands."""
    page = Page(language, data, at.YOUR_NUMBER)
    peaks = {name: (entry.title, _peaks(data, entry)) for name, entry in accelerators(data).items()}
    document = {
        "words": {name: language.gettext(text) for name, text in WORDS.items()}
        | {"separator": language.separator, "gap": language.gap},
        "work": {data.case_title(case): found for case in data.cases if (found := work(data, case))},
        "peaks": peaks,
        "commands": _commands(page),
        "tested": [int(can_be_tested(row)) for row in by_relevance(data)],
        "kwh": {place: said for place, row in enumerate(by_relevance(data)) if (said := figures.kwh_text(row))},
        "energy": _counted(page),
        "changes": _changes(page),
        "unpadded": {
            place: figures.unpadded_per_gpu(row) for place, row in enumerate(by_relevance(data)) if row.padding
        },
    }
    return script("dlperfNumber", document)


def _changes(page: Page) -> dict[str, str]:
    """Return the address of what a user of a framework that we measured can change, by its titles."""
    found = {}
    for row in page.data.current:
        guide = CHANGES.get(family_of(row.framework))
        if guide and page.data.is_ours(row.campaign):
            path, _, anchor = guide.partition("#")
            title = page.data.framework_title(row.framework, row.campaign)
            found[title] = f"{at.html_address(page.path, path)}#{anchor}"
    return found


def _commands(page: Page) -> list[tuple[str, str]]:
    """Return the command that measures each result again, and the program that it runs where dlperf lacks the result's.

    That program is the one of our best result of the case, at the same precision where there is one.
    """
    rows = by_relevance(page.data)
    own = [row for row in reversed(rows) if page.data.is_ours(row.campaign) and row.framework in page.data.frameworks]
    of_case = {row.case: row.framework for row in own}
    at_precision = {(row.case, row.precision): row.framework for row in own}
    return [_command(page, row, at_precision.get((row.case, row.precision), of_case.get(row.case))) for row in rows]


def _command(page: Page, row: ConfigurationResult, other: str | None) -> tuple[str, str]:
    if not _is_rate(row):
        return "", ""
    command = commands_again(page, row)[0]
    if command or other is None or not is_published(row.campaign):
        return command, ""
    return measuring_again(row, other), page.data.framework_title(other)


def work(data: SiteData, case: str) -> Work | None:
    """Return the arithmetic of one sample of a case; None where it is not known."""
    entry = data.cases[case]
    first, second = (entry.gflops({"sequence_length": length}) for length in LENGTHS)
    return None if first is None or second is None else Work(first, (second - first) / (LENGTHS[1] - LENGTHS[0]))


def accelerators(data: SiteData) -> dict[str, Accelerator]:
    """Return the accelerator that most results with each short name ran on, else the first of that name."""
    counted: dict[str, Counter[str]] = {}
    for row in data.current:
        entry = data.hardware.get(row.hardware)
        if entry and entry.accelerator and entry.accelerator in data.accelerators:
            counted.setdefault(chip(data, row), Counter())[entry.accelerator] += 1
    named = {name: data.accelerators[counts.most_common(1)[0][0]] for name, counts in counted.items()}
    for accelerator in data.accelerators.values():
        named.setdefault(short_name(accelerator.title), accelerator)
    return {name: named[name] for name in sorted({chip(data, row) for row in data.current}) if name in named}


def _peaks(data: SiteData, accelerator: Accelerator) -> dict[str, float]:
    known = ((name, accelerator.peak_of(precision)) for name, precision in data.precisions.items())
    return {name.upper(): peak for name, peak in known if peak}


def _is_rate(row: ConfigurationResult) -> bool:
    return bool(row.value) and counts_samples(row.unit)


def _table(page: Page) -> TableView:
    """Return the best results of each model and accelerator, and how much one GPU trains on in an hour."""
    data = page.data
    columns = (
        *(ColumnView(page._("Model"), words=True), ColumnView(page._("Hardware"), words=True)),
        *(ColumnView(page._("Best of our measurements")), ColumnView(page._("Best of third-party results"))),
        *(ColumnView(page._("MFU of the best")), ColumnView(page._("Millions per GPU-hour"), place="value")),
        ColumnView(page._("kWh per million")),
        ColumnView(page._("Unit"), words=True, place="aside"),
    )
    gpus = accelerators(data)
    ranked = ranked_models(data, filter(_is_rate, data.current))
    rows = [_row(page, gpus, same) for members in ranked for same in _by_chip(data, members)]
    return TableView(columns, tuple(rows))


def _by_chip(data: SiteData, rows: Sequence[ConfigurationResult]) -> list[tuple[ConfigurationResult, ...]]:
    """Return the best results of each accelerator, the fastest first."""
    return [*grouped(best_rows(data, rows), lambda row: chip(data, row)).values()]


def _row(page: Page, gpus: Mapping[str, Accelerator], ranked: Sequence[ConfigurationResult]) -> tuple[object, ...]:
    found = best_of_origins(page.data, ranked)
    best = found.best
    return (
        page.data.case_title(best.case),
        chip(page.data, best),
        *best_cells(page, found),
        _utilisation(page, best, utilisation(page.data, gpus, best)),
        four_digits(figures.unpadded_per_gpu(best) * SECONDS_PER_HOUR / figures.MILLION),
        figures.kwh_text(best),
        best.unit,
    )


def _utilisation(page: Page, row: ConfigurationResult, share: float | None) -> FigureView | str:
    """Return the utilisation; one near the peak says that it counts work that a program need not do."""
    said = figures.percent(share)
    if share is None or share < NEAR_PEAK:
        return said
    counted = page._("of the work as counted: a program may do less, such as FP32 convolutions by Winograd's algorithm")
    return FigureView(said, at.html_address(page.path, at.configuration_page(row)), caveat=counted)


def utilisation(data: SiteData, gpus: Mapping[str, Accelerator], row: ConfigurationResult) -> float | None:
    """Return the utilisation of a result; of a third-party one by the same convention, where its work is known."""
    case, machine = data.cases.get(row.case), data.hardware.get(row.hardware)
    gpu = data.accelerators.get((machine and machine.accelerator) or "") or gpus.get(chip(data, row))
    if row.mfu is not None or row.value is None or case is None or gpu is None:
        return row.mfu
    peak = _peaks(data, gpu).get(row.precision.upper())
    return mfu(case.gflops(dict(row.axes)), row.value, row.gpus_total, peak)
