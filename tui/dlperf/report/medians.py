"""Format what several GPUs reached, each on its own, as one throughput."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from dlperf.messages import Language
from dlperf.messages.numbers import four_digits
from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.data.together import apart, joint
from dlperf.report.views import FigureView
from dlperf.table.model import ConfigurationResult


def median_figure(
    language: Language, page: str, results: Sequence[ConfigurationResult], *, scaling: bool = False, best: bool = False
) -> FigureView:
    """Return the median of what each of several GPUs reached, with their number and how far they are apart.

    Args:
        scaling: as ``figure``.
        best: as ``figure``.
    """
    if len(results) == 1:
        return figures.figure(language, page, results[0], scaling=scaling, best=best)
    middle = median(result.value or 0.0 for result in results)
    nearest = min(results, key=lambda result: abs((result.value or 0.0) - middle))
    spread = figures.spread(apart(tuple(results))).replace(" %", f"{md.NO_BREAK}%")
    return replace(
        figures.figure(language, page, nearest, best=best),
        value=four_digits(middle),
        full=figures.exact(middle),
        trials=language.gettext("median of {count} GPUs", count=str(len(results))) + f" · {spread}",
        caveat=figures.caveat_text(language, joint(tuple(results))),
    )
