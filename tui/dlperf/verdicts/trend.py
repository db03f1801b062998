"""Judge a campaign by the history of its configurations: whether their level fell, and since which campaign."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median_low

from dlperf.errors import DlperfError
from dlperf.messages import message
from dlperf.runs.paths import Workspace
from dlperf.table.load import load_results
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.baselines import Judgement, last_start
from dlperf.verdicts.claims import claim
from dlperf.verdicts.history import LEAST_VALUES, last_change

Rows = list[ConfigurationResult]


def judge_trend(
    workspace: Workspace, campaign: str, last: int, complain: Callable[[DlperfError], object] | None = None
) -> list[Judgement]:
    """Judge the results of a campaign, each by the last campaigns with its configuration, in the order of their time.

    A result fails that has no value, a history too short to show anything, or a level worse than the one before.
    """
    rows = load_results(workspace, complain=complain)
    return [judge_history(row, history_of(row, rows)[-last:]) for row in rows if row.campaign == campaign]


def history_of(row: ConfigurationResult, rows: Sequence[ConfigurationResult]) -> Rows:
    """Return the measured results of the same configuration and protocol up to this one."""
    same = (each for each in rows if each.configuration == row.configuration and each.protocol == row.protocol)
    known = [each for each in same if each.value is not None and (each.metric, each.unit) == (row.metric, row.unit)]
    return sorted((each for each in known if last_start(each) <= last_start(row)), key=last_start)


def judge_history(row: ConfigurationResult, history: Rows) -> Judgement:
    """Judge a result by its history, of which it is the last."""
    if row.value is None:
        return Judgement(row.configuration, row.metric, row.status.in_full, failed=True)
    if len(history) < LEAST_VALUES:
        short = message("trend_short", count=len(history), least=LEAST_VALUES)
        return Judgement(row.configuration, row.metric, short, failed=True)
    change = last_change([each.value or 0.0 for each in history])
    if change is None:
        steady = message("trend_steady", count=len(history))
        return Judgement(row.configuration, row.metric, steady, failed=False, pair=claim(_middle(history), row))
    before, since = history[change.start : change.index], history[change.index :]
    pair = claim(_middle(before), _middle(since))
    verdict = message(
        "trend_changed",
        difference=(pair.ratio or 1.0) - 1,
        since=since[0].campaign,
        before=len(before),
        after=len(since),
        p=change.p,
    )
    return Judgement(row.configuration, row.metric, verdict, failed=pair.gain is not None and pair.gain < 1, pair=pair)


def _middle(rows: Rows) -> ConfigurationResult:
    """Return a result with the median value."""
    value = median_low([row.value or 0.0 for row in rows])
    return next(row for row in rows if row.value == value)
