"""The best of results, the same on every page, and which results are of a program that a later one replaced."""

from collections.abc import Sequence

from dlperf.messages import N_, Language
from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.answer import chip
from dlperf.report.data import SiteData, grouped
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.trials import recorded

TASK = "task"
"""Axis of results that do other work than pre-training, such as LoRA or an agent: they are no best of a model."""
WORK = (TASK, "sequence_length", "routing")
"""Axes that say what is trained; the others say how."""
PROGRAMS = "programs."
"""How the names of the files of a program begin in what its trials recorded."""


def is_training(row: ConfigurationResult) -> bool:
    """Return whether a result does the work of its model, not LoRA or an agent."""
    return TASK not in dict(row.axes)


def numerics(row: ConfigurationResult) -> tuple[object, ...]:
    """Return the precision with its recipe."""
    return row.precision, figures.recipe_of(row)


def best_of(data: SiteData, members: Sequence[ConfigurationResult]) -> ConfigurationResult:
    """Return the highest result; if it has caveats, the highest of its precision and GPUs that has none.

    Of our own, only those with most support count.
    """
    most = max(map(data.support, members))
    rows = [row for row in members if data.support(row) == most]
    best = max(rows, key=figures.unpadded_per_gpu)
    point = numerics(best), best.gpus_total
    sure = [row for row in rows if (numerics(row), row.gpus_total) == point and not row.caveats]
    return max(sure, key=figures.unpadded_per_gpu, default=best) if best.caveats else best


def earlier_programs(data: SiteData) -> frozenset[tuple[str, str, str]]:
    """Return campaign, id and unit of our results whose best on the same work is of a later, other program."""
    own = [row for row in data.current if row.value and data.is_ours(row.campaign)]
    best = {work: best_of(data, rows) for work, rows in grouped(own, lambda row: _work(data, row)).items()}
    measured = [row for row in data.trained if row.value and data.is_ours(row.campaign)]
    pairs = ((row, best.get(_work(data, row))) for row in measured)
    return frozenset((row.campaign, row.id, row.unit) for row, found in pairs if found and _replaced(data, row, found))


def program_words(language: Language, data: SiteData, row: ConfigurationResult) -> str:
    """Return what a framework's name does not say of a program: that it is tuned, or an earlier one."""
    words = ((N_("tuned"), row.tuning == "tuned"), (N_("earlier program"), data.is_earlier(row)))
    return md.BETWEEN.join(language.gettext(said) for said, holds in words if holds)


def _replaced(data: SiteData, row: ConfigurationResult, by: ConfigurationResult) -> bool:
    own, other = (recorded(one, PROGRAMS) for one in (row, by))
    return own != other and data.created(row.campaign) < data.created(by.campaign)


def _work(data: SiteData, row: ConfigurationResult) -> tuple[object, ...]:
    """Return what results of one program share, whatever its version and settings."""
    axes = tuple(axis for axis in row.axes if axis[0] in WORK)
    return row.case, row.unit, chip(data, row), row.framework, numerics(row), row.gpus_total, row.batch_size, axes
