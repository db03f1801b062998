"""The page of a model: the results of all sources on one case, by accelerator."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dlperf.catalog.hardware import UNSTATED
from dlperf.messages import Language
from dlperf.report import figures
from dlperf.report.answer import base_precision, chip
from dlperf.report.best import is_training
from dlperf.report.data import KINDS, SiteData, distinct, grouped
from dlperf.report.data.together import by_host
from dlperf.report.pages.hardware import shared_title
from dlperf.report.pages.overview import best_rows
from dlperf.report.pages.page import Cell, Page
from dlperf.report.pages.reports.stacks import is_sound, which_stack
from dlperf.report.pages.your_number import accelerators, utilisation
from dlperf.report.site import locations as at
from dlperf.report.views import FigureView, Link, TableView
from dlperf.table.families import family_of
from dlperf.table.model import ConfigurationResult

LENGTH = "sequence_length"
MEMORY = "peak_memory_per_gpu"
COLUMNS = (
    *("precision", "framework", "origin", "per_gpu", "of_best", "unit", LENGTH, "batch_size", "nodes_gpus", "axes"),
    *("mfu", MEMORY, "hardware", "source"),
)
MANY_STACKS = 3
CONSTANT = ("origin", "unit", LENGTH, "hardware")

Rows = Sequence[ConfigurationResult]


class OnChip(NamedTuple):
    """The results on one accelerator."""

    title: str
    anchor: str
    table: TableView
    failed: tuple[Link, ...]
    """Our configurations without a value."""
    machines: tuple[str, ...]
    """What did not run on the same GPUs, though its hardware has one name."""


def model(language: Language, data: SiteData, case: str, results: Sequence[ConfigurationResult]) -> str:
    """Return the page, with the accelerators that were measured here first.

    Sources are not judged: their conditions stand beside each result.
    """
    page = Page(language, data, at.model_page(case))
    ordered = by_precision(data.joint_where_alone(results))
    here = {chip(data, row) for row in ordered if data.kind(row.campaign) == "measured"}
    chips = grouped(ordered, lambda row: chip(data, row))
    failed = grouped(_without_value(data, case, results), lambda row: chip(data, row))
    names = sorted(chips, key=lambda name: (name not in here, -max(map(_per_gpu, chips[name]))))
    return page.render(
        "model.md.j2",
        title=page._("{case}, all sources", case=data.case_title(case)),
        shared=shared_title(page, case, results),
        your_number=page.your_number(case),
        which_stack=which_stack(page, case),
        untried=_untried(page, case),
        stacks=len({family_of(row.framework) for row in ordered if data.is_ours(row.campaign)}) >= MANY_STACKS,
        narrow=any(map(figures.recipe_of, ordered)),
        methodology=at.relative(page.path, at.METHODOLOGY),
        chips=[_on_chip(page, name, chips[name], failed.get(name, ())) for name in names],
    )


def _untried(page: Page, case: str) -> str:
    """Return the frameworks of the catalogue that train the case and were not run on it."""
    ran = {row.framework for row in page.data.results if row.case == case}
    able = (name for name, entry in page.data.frameworks.items() if any(one.case == case for one in entry.recipes))
    return page.language.separator.join(page.data.framework_title(name) for name in able if name not in ran)


def _on_chip(page: Page, name: str, rows: Rows, failed: Rows) -> OnChip:
    return OnChip(
        name,
        at.slug(name.lower()),
        _table(page, rows),
        failed=tuple(_failure(page, row) for row in failed),
        machines=tuple(_machines(page, rows)),
    )


def _without_value(data: SiteData, case: str, results: Rows) -> list[ConfigurationResult]:
    """Return our configurations that ran and gave no value, unless their program gave one of the same precision."""
    known = {(row.framework, row.hardware, row.precision) for row in results}
    reported = (row for (_, name), rows in data.reports.items() if name == case for row in rows)
    ran = (row for row in reported if row.value is None and row.trials and data.is_ours(row.campaign))
    return [row for row in ran if (row.framework, row.hardware, row.precision) not in known]


def _failure(page: Page, row: ConfigurationResult) -> Link:
    figure = page.figure(row)
    hardware = page.data.hardware_title(row.hardware, row.campaign)
    conditions = page.language.separator.join((figures.precision_text(page.language, row), hardware))
    title = page.data.framework_title(row.framework, row.campaign)
    return Link(title, figure.address, aside=page.language.colon.join((conditions, figure.value)))


def _machines(page: Page, rows: Rows) -> Iterator[str]:
    """Yield the campaigns of each machine, where the results of one hardware entry on several GPUs are of more."""
    several = [row for row in rows if row.gpus_total > 1]
    for hardware, found in grouped(several, lambda row: row.hardware).items():
        machines = [distinct(row.campaign for row in same) for same in by_host(found)]
        if len(machines) > 1:
            title = page.data.hardware_title(hardware)
            groups = page.language.semicolon.join(map(page.language.separator.join, machines))
            yield page._(
                "{hardware}, {count} machines: {groups}.", hardware=title, count=str(len(machines)), groups=groups
            )


def by_precision(results: Sequence[ConfigurationResult]) -> list[ConfigurationResult]:
    """Return the precision at which most frameworks ran first, an unknown one last; within it the highest value.

    What leaves out work of the model, as LoRA does, comes last in its precision; padding does not count.
    """
    families = {
        name: {family_of(row.framework) for row in rows} for name, rows in grouped(results, base_precision).items()
    }

    def standing(row: ConfigurationResult) -> tuple[object, ...]:
        name = base_precision(row)
        common = (row.unit, name == UNSTATED, -len(families[name]), name, row.precision)
        return *common, not is_training(row), -figures.unpadded_per_gpu(row)

    return sorted(results, key=standing)


def _per_gpu(row: ConfigurationResult) -> float:
    return figures.per_gpu(row) or row.score


def _table(page: Page, rows: Sequence[ConfigurationResult]) -> TableView:
    cells = {
        "origin": lambda row: page._(KINDS[page.data.kind(row.campaign)]),
        LENGTH: lambda row: str(dict(row.axes).get(LENGTH, "")),
        "axes": lambda row: figures.axes_text(page.language, (axis for axis in row.axes if axis[0] != LENGTH)),
    }
    return page.listed(rows, COLUMNS, cells | quality_cells(page, rows), constant=CONSTANT)


def quality_cells(page: Page, rows: Sequence[ConfigurationResult]) -> dict[str, Cell]:
    """Return what a value is worth: its share of the best of the same work, MFU and peak memory.

    One that nothing else of its work stands beside has no share.
    """
    compared = [row for row in rows if is_training(row) and is_sound(row)]
    several = {key: same for key, same in grouped(compared, _work).items() if len(same) > 1}
    best = {key: _best(page.data, same) for key, same in several.items()}

    def of_best(row: ConfigurationResult) -> FigureView | str:
        if best and is_training(row) and not is_sound(row):
            return FigureView(page._("left out for a caveat"), _address(page, row), missing=True)
        highest = best.get(_work(row))
        return _share(page, row, highest) if highest and figures.per_gpu(row) and row in compared else ""

    gpus = accelerators(page.data)
    return {
        "of_best": of_best,
        "mfu": lambda row: figures.percent(utilisation(page.data, gpus, row) if is_training(row) else None),
        MEMORY: lambda row: figures.optional(figures.metric_value(row, MEMORY)),
    }


def _best(data: SiteData, rows: Rows) -> ConfigurationResult | None:
    """Return the result that home and Reports call the best, for one GPU."""
    sound = [row for row in rows if not row.program_caveats]
    return max(best_rows(data, sound), key=lambda row: figures.per_gpu(row) or 0.0, default=None)


def _share(page: Page, row: ConfigurationResult, best: ConfigurationResult) -> FigureView | str:
    """Return the share of the best, and why it does not count padding or is no best though it is higher."""
    share = figures.unpadded_per_gpu(row) / figures.unpadded_per_gpu(best)
    reasons = [page._("without padding")] if row.padding else []
    if share > 1:
        reasons.append(_why_no_best(page, row, best))
    below = page.language.separator.join(reasons)
    return FigureView(figures.percent(share), _address(page, row), below=below) if below else figures.percent(share)


def _why_no_best(page: Page, row: ConfigurationResult, best: ConfigurationResult) -> str:
    if not row.program_caveats and page.data.support(row) < page.data.support(best):
        return page._("fewer trials than the best")
    return page._("not the best for its trials or caveats")


def _address(page: Page, row: ConfigurationResult) -> str:
    return at.html_address(page.path, at.configuration_page(row))


def _work(row: ConfigurationResult) -> tuple[object, ...]:
    """Return what results must have in common for a share of the best."""
    return row.unit, row.precision, figures.recipe_of(row), dict(row.axes).get(LENGTH)
