"""Differences in conditions between the frameworks of a report."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from dlperf.catalog.hardware import Numerics
from dlperf.evidence.identify import catalog_id
from dlperf.measured.losses import Losses, common_steps
from dlperf.messages import N_, Language
from dlperf.report import figures
from dlperf.report.answer import contest_of
from dlperf.report.data import distinct, grouped
from dlperf.report.pages.page import Page
from dlperf.report.pages.reports.conditions import (
    Results,
    declared_of,
    framework_of,
    listed,
    machine_of,
    options_of,
    side_by_side,
    software_of,
)
from dlperf.report.pages.results.derivation import types_text
from dlperf.report.views import Link, TableView
from dlperf.runs.published import Fact, PublishedReport
from dlperf.table.conditions import merged
from dlperf.table.model import ConfigurationResult

IMAGE = N_("Image")
"""Label of a container image, the same in every column."""
SHOWN = ("gpu.uuid", "gpu.vbios", "libraries.nccl", "libraries.cudnn", "libraries.cublas")
"""Conditions of the trials beside those of the machines."""
LOSS_STEPS = 3
REPLACED = ((N_("NCCL of the machine"), "libraries.nccl"), (N_("cuDNN of the machine"), "libraries.cudnn"))
"""What a machine has is not shown where it is known what was loaded."""


@dataclass(frozen=True)
class SettingDifference:
    """Conditions of the frameworks on one machine: those that differ as a table, and the names of the others."""

    hardware: Link
    unequal: TableView
    equal: Sequence[str]
    types: str
    """Data types, the same in the logs of all."""
    planned: Sequence[str]
    """Equal in the catalogue, of which not every program reports what it does."""
    alone: Sequence[str]
    """Of which one framework says something, and several others nothing."""


def fairness(page: Page, results: Results) -> list[SettingDifference]:
    """Return how the conditions differ between frameworks: of our own on each machine, of a third party at once.

    Empty for a single framework.
    """
    report = page.data.published.get(results[0].campaign)
    machines = [results] if report else grouped(_contested(results), lambda row: row.hardware).values()
    return [_difference(page, report, rows) for rows in machines if len({framework_of(row) for row in rows}) > 1]


def _difference(page: Page, report: PublishedReport | None, results: Results) -> SettingDifference:
    by_framework = grouped(results, framework_of)
    losses = {} if report else _losses(page, by_framework)
    known = {
        name: published_facts(page, report, rows)
        if report
        else _of_precisions(page, rows, partial(_measured_facts, page, name)) | losses.get(name, {})
        for name, rows in by_framework.items()
    }
    names = distinct(name for facts in known.values() for name in facts)
    told = {name: [facts[name] for facts in known.values() if facts.get(name)] for name in names}
    alone = [name for name in names if len(told[name]) == 1 and len(known) > 2]
    same = [name for name in names if len(told[name]) == len(known) and len(set(told[name])) == 1]
    unequal = [name for name in names if told[name] and name not in (*alone, *same)]
    catalogued = {name: set[str]() if report else _catalogued(page, rows) for name, rows in by_framework.items()}
    unreported = set[str]().union(*catalogued.values())
    equal, planned = ([name for name in same if (name in unreported) == wanted] for wanted in (False, True))
    columns = {
        page.framework_link(framework, results[0].campaign): {
            name: _stated(page, name, facts.get(name, ""), catalogued[framework]) for name in unequal
        }
        for framework, facts in known.items()
    }
    machine = page.hardware_link(results[0].hardware, results[0].campaign)
    table = side_by_side(page, page._("Item"), columns)
    types = {name: told[name][0] for name in equal if name in Numerics.model_fields}
    equal = [name for name in equal if name not in types]
    equal, planned, alone = (list(map(page.fact, group)) for group in (equal, planned, alone))
    return SettingDifference(machine, table, equal, types_text(page, types), planned, alone)


def _of_precisions(page: Page, results: Results, facts_of: Callable[[Results], dict[str, str]]) -> dict[str, str]:
    """Return the facts of one framework; one that is not the same at all precisions names that of each value."""
    known = {
        precision: facts_of(rows)
        for precision, rows in grouped(results, lambda row: figures.precision_text(page.language, row)).items()
    }
    names = distinct(name for facts in known.values() for name in facts)
    return {
        name: _named(page, {precision: facts.get(name, "") for precision, facts in known.items()}) for name in names
    }


def _named(page: Page, values: Mapping[str, str]) -> str:
    """Return a value that all precisions share, else each with its precision before it."""
    first, *others = distinct(values.values())
    named = (f"{precision}{page.language.colon}{value or '–'}" for precision, value in values.items())
    return page.language.semicolon.join(named) if others else first


def _stated(page: Page, name: str, value: str, catalogued: Collection[str]) -> str:
    """Return a value; of a data type that the programs do not report, that it is planned."""
    if value and name in catalogued and name in Numerics.model_fields:
        return page._("{value}, as planned", value=value)
    return value or "–"


def _catalogued(page: Page, results: Results) -> set[str]:
    """Return the options of one framework's recipes that its programs do not report."""
    options = options_of(page, results[0].framework, results)
    return options.keys() - frozenset.intersection(*(row.reported_numerics for row in results))


def _contested(results: Results) -> list[ConfigurationResult]:
    """Return results with a competitor on the same hardware and precision, or all that have a value."""
    measured = [row for row in results if row.value is not None]
    contests = grouped(measured, contest_of)
    several = {contest for contest, rows in contests.items() if len({row.framework for row in rows}) > 1}
    return [row for row in measured if contest_of(row) in several] or measured


def _measured_facts(page: Page, framework: str, results: Results) -> dict[str, str]:
    loaded = {name: value for name, value in merged(page.data.with_together(results)).items() if name in SHOWN}
    replaced = {page._(name) for name, known in REPLACED if known in loaded}
    of_the_machine = {name: value for name, value in machine_of(page, results).items() if name not in replaced}
    return {
        **software_of(page, framework, results),
        **options_of(page, framework, results),
        **declared_of(page, results),
        **of_the_machine,
        **loaded,
        page._("Settings"): " / ".join(
            distinct(figures.varying_axes(page.language, row, page.stated) for row in results)
        ),
        page._("Batch per GPU"): listed(page.language, (figures.batch_text(row) for row in results)),
        page._("SM clock while measured"): _clocks(page.data.with_together(results)),
    }


def _losses(page: Page, by_framework: Mapping[str, Results]) -> dict[str, dict[str, str]]:
    """Return the loss at the last steps that all trials have, of the most GPUs and samples that all frameworks ran.

    That of each precision is named apart.
    """
    points = {
        name: grouped(rows, lambda row: (row.gpus_total, row.batch_size or 0)) for name, rows in by_framework.items()
    }
    largest = max(set.intersection(*(set(rows) for rows in points.values())), default=(0, 0))
    measured = {
        name: [row for row in page.data.with_together(rows.get(largest, ())) if _printed(row)]
        for name, rows in points.items()
    }
    steps = common_steps([losses for rows in measured.values() for row in rows for losses in _printed(row)])[
        -LOSS_STEPS:
    ]
    return {
        name: _of_precisions(
            page, rows, lambda same: {_at(page, step): _range(step, [*chain(*map(_printed, same))]) for step in steps}
        )
        for name, rows in measured.items()
        if rows
    }


def _printed(row: ConfigurationResult) -> list[Losses]:
    """Return the losses of the trials that printed some."""
    return [trial.losses for trial in row.usable_trials if trial.losses]


def _at(page: Page, step: int) -> str:
    return page._("Loss at step {step}", step=f"{step:,}")


def _range(step: int, trials: Sequence[Losses]) -> str:
    losses = [dict(trial)[step] for trial in trials]
    return "–".join(distinct(f"{loss:.3g}" for loss in (min(losses), max(losses))))


def _clocks(results: Iterable[ConfigurationResult]) -> str:
    """Return the range of the trials' mean clock in MHz, since GPUs of one kind differ by some percent."""
    trials = [trial for row in results for trial in row.usable_trials]
    mhz = [round(trial.sm_clock_mhz) for trial in trials if trial.sm_clock_mhz is not None]
    return f"{'–'.join(f'{clock:,}' for clock in distinct((min(mhz), max(mhz))))} MHz" if mhz else ""


def published_facts(page: Page, report: PublishedReport, results: Results) -> dict[str, str]:
    """Return what a report states about one framework: software, batch sizes, precisions, estimator and logs."""
    language, first = page.language, results[0]
    name = page.data.framework_title(first.framework, first.campaign)
    printed = [figure for figure in report.figures if catalog_id(figure.framework) == first.framework]
    stated = {_name_of(language, fact): fact.value for fact in _facts_of(report, name)}
    images = [fact.value for group in report.environment for fact in group.facts if fact.en == name]
    logs = sum(bool(figure.log) for figure in printed)
    return {
        **stated,
        **({page._("Image"): images[0]} if images and page._("Image") not in stated else {}),
        page._("Batch per GPU"): listed(
            language, (str(row.batch_size) for row in results if row.batch_size is not None)
        ),
        page._("Precision"): listed(language, (figure.precision for figure in printed)),
        page._("Nodes × GPUs"): listed(
            language, (f"{row.nodes} × {row.gpus}" for row in results if row.value is not None)
        ),
        page._("Estimator"): listed(language, (figure.estimator for figure in printed if figure.estimator)),
        page._("Results with a raw log"): f"{logs} / {len(printed)}",
    }


def _name_of(language: Language, fact: Fact) -> str:
    """Return the source's name of a fact, except that all images have the same name."""
    if fact.en == IMAGE:
        return language.gettext(IMAGE)
    return fact.localized(language.code)


def _facts_of(report: PublishedReport, framework: str) -> list[Fact]:
    groups = [(group.framework, group.facts) for group in report.environment]
    groups += [(run.framework, run.facts) for run in report.conditions]
    return [fact for about, facts in groups if about == framework for fact in facts]
