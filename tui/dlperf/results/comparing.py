"""``dlperf compare``: rows and conditions are read here, and compared by pure functions."""

from __future__ import annotations

from dataclasses import replace

from dlperf.results.compare import Comparisons, compare, parse_selector
from dlperf.results.conditions import ConditionsReader, differences
from dlperf.results.load import load_results
from dlperf.runs.paths import Workspace


def compare_in_workspace(workspace: Workspace, a: str, b: str) -> Comparisons:
    """Compare what two selectors mean in a workspace; each pair says under which differing conditions.

    Raises:
        RequestError: a selector means nothing here, or the two share no configuration.
    """
    rows = load_results(workspace)
    found = compare(rows, parse_selector(a, rows), parse_selector(b, rows))
    conditions = ConditionsReader(workspace)
    pairs = (
        replace(pair, differences=differences(pair.a, pair.b, conditions.read(pair.a), conditions.read(pair.b)))
        for pair in found.pairs
    )
    return replace(found, pairs=tuple(pairs))
