"""Judge a campaign by the history of its configurations: whether their level fell, and since which campaign."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import cycle, islice
from statistics import fmean, median, median_low

from dlperf.errors import DlperfError
from dlperf.messages import Message, message
from dlperf.runs.paths import WorkspacePaths
from dlperf.table.load import load_results
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import claim
from dlperf.verdicts.inference.level_change import LEAST_VALUES, LevelChange, last_change
from dlperf.verdicts.inference.policies import Policy
from dlperf.verdicts.inference.verdict import Sides, Verdict, judge
from dlperf.verdicts.judging import DEFAULTS, Judgement, Options, Outcome, describe_verdict
from dlperf.verdicts.refusals import failures, refusals
from dlperf.verdicts.trials import Recorded, last_start, machine_of, rounding_of

Rows = list[ConfigurationResult]

CAMPAIGNS = 30
"""Campaigns that are looked back on by default."""
RECENT = 5
"""Campaigns whose level is compared with that of those before, where no change is found."""
LEVELS = Policy(looks=1, least=3, most=RECENT)


def judge_trend(
    workspace: WorkspacePaths,
    campaign: str,
    last: int,
    complain: Callable[[DlperfError], object] | None = None,
    options: Options = DEFAULTS,
) -> list[Judgement]:
    """Judge the results of a campaign, each by the last campaigns with its configuration in the order of time."""
    rows = load_results(workspace, complain=complain)
    return [judge_history(row, history_of(row, rows), options, last) for row in rows if row.campaign == campaign]


def history_of(row: ConfigurationResult, rows: Sequence[ConfigurationResult]) -> Rows:
    """Return the measured results of the same configuration and protocol up to this one."""
    same = (each for each in rows if each.id == row.id and each.protocol == row.protocol)
    known = [each for each in same if each.value is not None and (each.metric, each.unit) == (row.metric, row.unit)]
    return sorted((each for each in known if last_start(each) <= last_start(row)), key=last_start)


def judge_history(
    row: ConfigurationResult, history: Rows, options: Options = DEFAULTS, last: int = CAMPAIGNS
) -> Judgement:
    """Judge a result by the last campaigns of its history, which ends with it: each was looked at once."""
    if row.value is None:
        return Judgement(row.id, row.metric, "missing", row.status.in_full)
    fit = [each for each in history if not any(refusals(each, row))]
    recent = fit[-last:]
    if len(recent) < LEAST_VALUES:
        short = message("trend_short", count=len(recent), least=LEAST_VALUES)
        unfit = [why for each in reversed(history) for why in refusals(each, row)]
        return _open(row, short, *unfit[:1])
    change = _change(recent, looks_of(history))
    found = _unchanged(row, recent, options) if change is None else _changed(row, recent, change, options)
    if found.found is not None and found.outcome == "cannot_tell":
        found = _with_needed(found, found.found, recent, looks_of(history), options, last)
    return _open(row, *failures(row)) if found.outcome in ("better", "same") and any(failures(row)) else found


def _change(history: Rows, looks: int) -> LevelChange | None:
    def rounded(before: slice, since: slice) -> float:
        return _rounded(history[before], history[since])

    return last_change([each.score for each in history], [machine_of(each) for each in history], looks, rounded)


def _rounded(before: Rows, since: Rows) -> float:
    """Return the relative difference that rounding alone may make on the machine on which it makes most."""

    def of(machine: Recorded, rows: Rows) -> Rows:
        return [each for each in rows if machine_of(each) == machine]

    machines = {machine_of(each) for each in before}
    return max((rounding_of(of(name, before), of(name, since)) for name in machines), default=0.0)


def _sides(before: Rows, since: Rows) -> Sides:
    """Return the evidence of campaigns on one machine."""
    a, b = ([each.score for each in side] for side in (before, since))
    return Sides(a, b, alike=True, rounding=_rounded(before, since))


def _open(row: ConfigurationResult, *why: Message) -> Judgement:
    return Judgement(row.id, row.metric, "cannot_tell", message("cannot_tell", why=why))


def looks_of(history: Rows) -> int:
    """Return how many campaigns of a history began within the year before the last one."""
    newest = last_start(history[-1])
    year = newest[:4]
    begin = f"{int(year) - 1:04d}{newest[4:]}" if year.isdecimal() else ""
    return sum(last_start(each) >= begin for each in history)


def _changed(row: ConfigurationResult, history: Rows, change: LevelChange, options: Options) -> Judgement:
    """Say what changed; the same where somebody named a larger loss and the interval of the change is within that."""
    before, since = history[change.start : change.index], history[change.index :]
    machine = _newest_that_changed(before, since, change.fell)
    left, right = ([each for each in side if machine_of(each) == machine] for side in (before, since))
    pair = claim(_middle(left), _middle(right))
    found = judge(_sides(left, right), options.of(LEVELS)) if options.loss else None
    if found is not None and found.code == "same":
        return Judgement(row.id, row.metric, "same", describe_verdict(found, row, "same"), pair, found)
    outcome: Outcome = "worse" if change.fell else "better"
    verdict = message(
        f"trend_{outcome}",
        difference=(pair.ratio or 1.0) - 1,
        since=since[0].campaign,
        before=len(before),
        after=len(since),
        p=change.p,
    )
    return Judgement(row.id, row.metric, outcome, verdict, pair)


def _newest_that_changed(before: Rows, since: Rows, fell: bool) -> Recorded:
    """Return the newest machine whose own level changed so: levels of different ones are never compared."""

    def level(rows: Rows, machine: Recorded) -> float | None:
        here = [each.score for each in rows if machine_of(each) == machine]
        return fmean(here) if here else None

    levels = ((name, level(before, name), level(since, name)) for name in map(machine_of, reversed(since)))
    return next(name for name, left, right in levels if left and right and (right < left) == fell)


def _unchanged(row: ConfigurationResult, history: Rows, options: Options) -> Judgement:
    """Compare the level of the last campaigns on the machine of the newest with that of those before on it."""
    before, recent = _levels(history)
    if len(before) < LEVELS.least:
        return _open(row, message("trend_other_machine", least=LEVELS.least, recent=RECENT))
    found = judge(_sides(before, recent), options.of(LEVELS))
    pair = claim(_middle(before), _middle(recent))
    if found is not None and found.code == "same" and _is_near(row, before, found.loss):
        kept = message("trend_kept", why=describe_verdict(found, row, "same"), recent=len(recent), before=len(before))
        return Judgement(row.id, row.metric, "same", kept, pair, found)
    # the test at one place does not know how often one looks
    unclear = message("trend_unclear", count=len(history))
    return Judgement(row.id, row.metric, "cannot_tell", unclear, pair, found) if found else _open(row, unclear)


def _levels(history: Rows) -> tuple[Rows, Rows]:
    """Return the campaigns on the machine of the newest: those before the last ones, and these."""
    here = [each for each in history if machine_of(each) == machine_of(history[-1])]
    return here[:-RECENT], here[-RECENT:]


def _with_needed(item: Judgement, found: Verdict, history: Rows, looks: int, options: Options, last: int) -> Judgement:
    """Say how many campaigns with the values of the last ones would decide, or that not even ``last`` of them would."""
    recent = _levels(history)[1]
    then = ([*history, *islice(cycle(recent), count)] for count in range(1, last + 1))
    decided = (count for count, rows in enumerate(then, 1) if _is_decided(rows[-last:], looks + count, options))
    more = next(decided, None)
    needed = message("trend_open", count=more) if more else message("trend_never", count=last)
    said = describe_verdict(found, history[-1], "cannot_tell", [item.verdict, needed])
    return replace(item, verdict=said, found=replace(found, more=more))


def _is_decided(history: Rows, looks: int, options: Options) -> bool:
    return _change(history, looks) is not None or _unchanged(history[-1], history, options).outcome == "same"


def _is_near(row: ConfigurationResult, before: Rows, loss: float) -> bool:
    """Return whether the newest result is nearer to the median before than the loss that the last ones exclude.

    The mean of the last ones would hide what it alone lost.
    """
    return abs(row.score / median([each.score for each in before]) - 1) < loss


def _middle(rows: Rows) -> ConfigurationResult:
    """Return a result with the median value."""
    value = median_low([row.value or 0.0 for row in rows])
    return next(row for row in rows if row.value == value)
