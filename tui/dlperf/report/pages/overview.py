"""The chart of the home page: the best result of each accelerator and family of frameworks, for each GPU."""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from dlperf.catalog.palette import family_number
from dlperf.catalog.units import is_rate
from dlperf.messages import N_
from dlperf.messages.numbers import four_digits
from dlperf.report import figures
from dlperf.report.answer import CHIP, chip
from dlperf.report.best import best_of, is_training, numerics
from dlperf.report.data import SiteData, grouped
from dlperf.report.pages.page import COLUMNS, Page
from dlperf.report.pages.results.pictures import bars
from dlperf.report.site import locations as at
from dlperf.report.views import FigureView
from dlperf.table.model import ConfigurationResult

METRICS = {
    "per_gpu": N_("Throughput per GPU"),
    "value": N_("Throughput"),
    "mfu": COLUMNS["mfu"],
    "per_joule": COLUMNS["samples_per_joule"],
    "efficiency": COLUMNS["efficiency"],
}
"""Column of the scripts' data, or the throughput of one GPU → its title."""
SIDE_BY_SIDE = 2
MOST_BARS = 6
"""Of one accelerator; the script of the page shows all."""


def model_charts(page: Page) -> list[dict[str, object]]:
    """Return the charts of the models that were measured here and run on the most accelerators."""
    data = page.data
    rates = [row for row in data.current if row.value and is_rate(row.unit, row.direction) and is_training(row)]
    return [_model_chart(page, rows) for rows in ranked_models(data, rates)[:SIDE_BY_SIDE]]


def ranked_models(data: SiteData, rows: Iterable[ConfigurationResult]) -> list[tuple[ConfigurationResult, ...]]:
    """Return the results of each model in one unit, those first that were measured here and on most accelerators."""
    models = grouped(rows, lambda row: (row.case, row.unit))
    return sorted(models.values(), key=lambda members: _interest(data, members), reverse=True)


def family(row: ConfigurationResult) -> str:
    """Return what results of one family of frameworks share."""
    number = family_number(row.framework)
    return row.framework if number is None else str(number)


def _interest(data: SiteData, rows: Iterable[ConfigurationResult]) -> tuple[bool, int]:
    """Return the sort key of models: measured here on accelerators, then the number of kinds of these."""
    members = tuple(rows)
    own = {row.hardware for row in members if data.is_ours(row.campaign)}
    here = any(entry.accelerator for name in own if (entry := data.hardware.get(name)))
    return here, len({chip(data, row) for row in members if CHIP.fullmatch(chip(data, row))})


def _model_chart(page: Page, rows: Iterable[ConfigurationResult]) -> dict[str, object]:
    shown = _best_per_gpu(page.data, rows)
    baseline = next((row for row in shown if page.data.is_ours(row.campaign)), shown[0])
    drawn = [
        replace(bar, aside=_conditions(page, row), times=f"{row.score / baseline.score:.2f}×")
        for bar, row in zip(bars(page, shown), shown, strict=True)
    ]
    of_chip = grouped(zip(shown, drawn, strict=True), lambda pair: chip(page.data, pair[0]))
    return {
        "title": page.data.case_title(shown[0].case),
        "unit": shown[0].unit,
        "groups": [(name, [bar for _, bar in pairs]) for name, pairs in of_chip.items()],
    }


def _best_per_gpu(data: SiteData, rows: Iterable[ConfigurationResult]) -> list[ConfigurationResult]:
    """Return the best results for each GPU, the fastest first, with the value of one GPU."""
    per_gpu = [replace(row, value=_per_gpu(row), printed="", trials=()) for row in best_rows(data, rows)]
    of_chip = grouped(per_gpu, lambda row: chip(data, row))
    return [row for members in of_chip.values() for row in members[:MOST_BARS]]


def best_rows(data: SiteData, rows: Iterable[ConfigurationResult]) -> list[ConfigurationResult]:
    """Return the best result of each accelerator and family of frameworks for one GPU, the fastest first.

    Our own are the best at each precision: a framework is seen beside others of equal numerics.
    """
    same = grouped(
        filter(is_training, rows),
        lambda row: (chip(data, row), family(row), numerics(row) if data.is_ours(row.campaign) else ()),
    )
    return sorted((best_of(data, members) for members in same.values()), key=figures.unpadded_per_gpu, reverse=True)


def _per_gpu(row: ConfigurationResult) -> float:
    """Return the value of one GPU without what counts padding."""
    return (row.value or 0.0) * (1 - row.padding) / row.gpus_total


class Best(NamedTuple):
    """The best result of ours, of a sound program if any, and the best one of others."""

    own: ConfigurationResult | None
    others: ConfigurationResult | None

    @property
    def best(self) -> ConfigurationResult:
        """The higher of both, for one GPU."""
        return max(filter(None, self), key=figures.unpadded_per_gpu)


def best_of_origins(data: SiteData, rows: Iterable[ConfigurationResult]) -> Best:
    """Return the best results, those of GPUs that were measured together as one."""
    ranked = best_rows(data, map(data.joint, rows))
    ours = [row for row in ranked if data.is_ours(row.campaign)]
    own = next((row for row in ours if not row.program_caveats), ours[0] if ours else None)
    return Best(own, next((row for row in ranked if not data.is_ours(row.campaign)), None))


def best_cells(page: Page, found: Best, with_chip: bool = False) -> list[object]:
    """Return the throughput for one GPU of both results."""
    return [_best_cell(page, row, with_chip) if row else "" for row in found]


def _best_cell(page: Page, row: ConfigurationResult, with_chip: bool) -> FigureView:
    machine = [chip(page.data, row)] if with_chip else []
    conditions = *machine, figures.precision_text(page.language, row), page.gpus_text(row), *_unpadded(page, row)
    return FigureView(
        four_digits(_per_gpu(row)),
        at.html_address(page.path, at.configuration_page(row)),
        below=" · ".join((page.data.framework_title(row.framework, row.campaign), *conditions)),
        caveat=figures.caveat_text(page.language, row),
    )


def _conditions(page: Page, row: ConfigurationResult) -> str:
    language = page.language
    words = (
        figures.precision_text(language, row),
        figures.batch_words(language, row),
        page.gpus_text(row),
        *_unpadded(page, row),
    )
    return " · ".join(filter(None, words))


def _unpadded(page: Page, row: ConfigurationResult) -> tuple[str, ...]:
    """Return what is said of a value that leaves out padding, which the printed value of a result counts."""
    return (page._("without padding"),) if row.padding else ()
