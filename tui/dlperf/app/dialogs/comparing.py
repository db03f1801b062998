"""Set results or trials side by side, with the conditions in which they differ."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from dlperf.app.dialogs.pages import ListPage
from dlperf.app.model.results.side_by_side import rows_by_trial, side_by_side, title_of
from dlperf.app.model.results.table import axes_of, figure_text
from dlperf.app.model.table import Column, Row
from dlperf.errors import DlperfError
from dlperf.messages import _
from dlperf.plan import PlannedConfiguration, Selection, TrialKey
from dlperf.runs.paths import WorkspacePaths
from dlperf.table.model import ConfigurationResult

if TYPE_CHECKING:
    from dlperf.app.screens.base import PlaceScreen


async def show_side_by_side(
    screen: PlaceScreen, rows: Sequence[ConfigurationResult], among: Sequence[ConfigurationResult] = ()
) -> None:
    """Show results in columns, the first as the baseline.

    Args:
        among: all results, by which something may be claimed of these; none for single trials.
    """
    from dlperf.verdicts.claims import context_of
    from dlperf.verdicts.compare import claims_together
    from dlperf.verdicts.workspace import stated_conditions

    tables: list[tuple[list[Column], dict[Hashable, Row]]] = []

    def compare() -> None:
        pairs = [(rows[0], row) for row in rows[1:] if among]
        claims = claims_together(pairs, context_of(among))
        tables.append(side_by_side(rows, stated_conditions(screen.workspace, rows), claims))

    if await screen.attempt(compare):
        screen.app.push_screen(ListPage(_("Side by side"), *tables[0], chooses=False))


async def choose_trial(
    screen: PlaceScreen, campaign: str, planned: PlannedConfiguration, key: TrialKey
) -> tuple[ConfigurationResult, ConfigurationResult] | None:
    """Let the user choose another trial of the same case; return this one and that one, None where none is chosen."""
    trials = await asyncio.to_thread(_read_trials, screen.workspace, campaign, planned, key)
    if not trials:
        screen.notify(_("The result is not written yet."))
        return None
    rows: dict[Hashable, Row] = {
        index: Row((title_of(row), figure_text(row), " · ".join(axes_of(row))))
        for index, row in enumerate(trials)
        if index
    }
    columns = (
        Column(_("trial"), 24, importance=9),
        Column(_("figure"), 20, importance=7),
        Column(_("configuration"), 30, importance=8, flexible=True),
    )
    chosen = await screen.app.push_screen_wait(
        ListPage(_("Compare {name} with", name=title_of(trials[0])), columns, rows)
    )
    return (trials[0], trials[chosen]) if isinstance(chosen, int) else None


def _read_trials(
    workspace: WorkspacePaths, campaign: str, planned: PlannedConfiguration, key: TrialKey
) -> list[ConfigurationResult]:
    from dlperf.table.load import Filters, load_results

    left_out: list[DlperfError] = []  # the Results screen names them
    rows = load_results(workspace, Filters(Selection(cases=(planned.configuration.case,))), left_out.append)
    return rows_by_trial(rows, campaign, key)
