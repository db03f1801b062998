"""Names of frameworks, hardware and models as reports print them."""

import re
from collections.abc import Mapping

from dlperf.evidence.identify import catalog_id
from dlperf.messages import N_, Language
from dlperf.runs.published import PublishedReport

SEVERAL = N_("several frameworks")
"""In the place of a framework, where a source lists more than one."""
LAYERS = re.compile(r"(?P<model>.+), (?P<count>\d+) layers")
"""Matches the name of a model that was cut to its first layers."""


def printed_names(published: Mapping[str, PublishedReport], language: Language) -> dict[tuple[str, str, str], str]:
    """Return names printed in reports by axis, id and campaign; for an empty campaign, of the first report."""
    names: dict[tuple[str, str, str], str] = {}
    for campaign, report in published.items():
        for figure in report.figures:
            named = {"framework": figure.framework, "hardware": figure.hardware, "case": figure.model}
            for axis, printed in named.items():
                told = _localized(printed, language)
                names[axis, catalog_id(printed), campaign] = told
                names.setdefault((axis, catalog_id(printed), ""), told)
    return names


def _localized(printed: str, language: Language) -> str:
    """Return a name with the words translated that belong to no name."""
    if printed == SEVERAL:
        return language.gettext(printed)
    cut = LAYERS.fullmatch(printed)
    return language.gettext("{model}, {count} layers", **cut.groupdict()) if cut else printed
