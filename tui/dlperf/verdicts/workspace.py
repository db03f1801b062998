"""Compare rows and the conditions under which they were measured, as ``dlperf compare`` does."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from dlperf.errors import DlperfError
from dlperf.opening import is_regular
from dlperf.plan import PlannedConfiguration
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.store import read_campaign
from dlperf.table.conditions import differences, row_conditions
from dlperf.table.load import Filters, load_results
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import Claim
from dlperf.verdicts.compare import Comparisons, compare, parse_selector

Plan = dict[str, PlannedConfiguration]


def planned_configurations(workspace: WorkspacePaths, name: str) -> Plan:
    """Return the planned configurations of a campaign by id; none for a third-party report."""
    paths = workspace.campaign(name) if "/" not in name else None
    if paths is None or not is_regular(paths.plan):
        return {}
    return {item.configuration.id: item for item in read_campaign(paths).configurations}


def stated_conditions(workspace: WorkspacePaths, rows: Sequence[ConfigurationResult]) -> list[dict[str, str]]:
    """Return what each of these results states of its conditions, with what its campaign has planned."""
    plans = {name: planned_configurations(workspace, name) for name in {row.campaign for row in rows}}
    return [row_conditions(row, plans[row.campaign].get(row.id)) for row in rows]


def compare_in_workspace(
    workspace: WorkspacePaths,
    a: str,
    b: str,
    complain: Callable[[DlperfError], object] | None = None,
    metric: str | None = None,
    loss: float | None = None,
) -> Comparisons:
    """Compare the rows of two selectors, with the conditions in which each pair differs.

    Args:
        complain: called for each campaign or report that cannot be read, which is left out.
        metric: the one to compare; the primary metric of each row if None.
        loss: relative loss that is sought; None for what the variation allows.

    Raises:
        RequestError: a selector matches nothing, or the two share no configuration.
    """
    rows = load_results(workspace, Filters(metrics=(metric,) if metric else ()), complain)
    found = compare(rows, parse_selector(a, rows), parse_selector(b, rows), loss=loss)
    return replace(found, pairs=tuple(with_differences(workspace, found.pairs)))


def with_differences(workspace: WorkspacePaths, pairs: Iterable[Claim]) -> Iterator[Claim]:
    """Yield pairs with the conditions in which the two sides of each differ."""
    plans: dict[str, Plan] = {}

    def planned(row: ConfigurationResult) -> PlannedConfiguration | None:
        if row.campaign not in plans:
            plans[row.campaign] = planned_configurations(workspace, row.campaign)
        return plans[row.campaign].get(row.id)

    for pair in pairs:
        yield replace(pair, differences=differences(pair.a, pair.b, planned(pair.a), planned(pair.b)))
