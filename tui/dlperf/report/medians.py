"""Format what several GPUs reached, each on its own, as one throughput."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dlperf.messages import Language
from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.data.together import joint
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
    one = joint(tuple(results))
    spread = figures.spread(one.spread).replace(" %", f"{md.NO_BREAK}%")
    trials = language.gettext("median of {count} GPUs", count=str(len(results))) + f" · {spread}"
    return replace(figures.figure(language, page, one, best=best), trials=trials)
