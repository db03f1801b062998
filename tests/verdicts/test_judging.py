"""What is said of results that lack something, failed, or differ by less than is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from statistics import median
from typing import Any

import pytest

from claimable import PAIRS, STEADY, row
from dlperf.errors import ExitCode, RequestError
from dlperf.messages.finding import note, warning
from dlperf.table.model import ConfigurationResult, Status
from dlperf.verdicts.baselines import baseline_of, judge_reference
from dlperf.verdicts.claims import claim
from dlperf.verdicts.judging import Options, below, exit_code, judge_rows, outcome_of
from dlperf.verdicts.trend import judge_history
from dlperf.verdicts.trials import neighbours


@pytest.mark.parametrize(
    ("verdict", "outcome"), [("better", "same"), ("worse", "worse"), ("same", "same"), ("cannot_tell", "cannot_tell")]
)
def test_a_ratio_that_must_not_be_undercut_follows_the_same_trials(verdict: str, outcome: str) -> None:
    a, b = PAIRS[verdict]
    assert below(judge_rows(row(*a), row(*b, turn=1)), 0.98) == outcome


def test_results_of_two_protocols_are_compared_at_no_door() -> None:
    a, b = PAIRS["worse"]
    before, now = row(*a), replace(row(*b, campaign="two"), protocol="late")
    (reference,) = baseline_of("main", [before], [before]).references
    for judged in (judge_rows(before, now), judge_reference(reference, now)):
        assert (judged.outcome, below(judged, 0.98)) == ("cannot_tell", "cannot_tell")
        assert "protocol " in str(judged.verdict)
        assert not judged.wants_trials
    few = replace(now, trials=now.trials[:1])
    assert not judge_rows(before, few).wants_trials, "which no trial would change"
    assert "would decide" not in str(judge_rows(before, few).verdict)
    assert "unequal_setting" in [why.code for why in claim(before, now).reasons]


@pytest.mark.parametrize(
    ("verdict", "outcome"), [("better", "cannot_tell"), ("worse", "worse"), ("same", "cannot_tell")]
)
def test_what_is_left_of_trials_that_failed_may_be_worse_but_is_never_the_same(verdict: str, outcome: str) -> None:
    a, b = PAIRS[verdict]
    lost = warning("trials_failed", count=1, of=8)
    before, now = row(*a), replace(row(*b, turn=1), findings=(lost,))
    (reference,) = baseline_of("main", [row(*a)], [row(*a)]).references
    for judged in (judge_rows(before, now), judge_reference(reference, replace(now, campaign="two"))):
        assert (judged.outcome, below(judged, 0.98)) == (outcome, outcome)
        assert ("1 of 8 trials failed" in str(judged.verdict)) == (outcome == "cannot_tell")
        assert not judged.wants_trials
    assert "1 of 8 trials failed" in str(claim(before, now).verdict)


@pytest.mark.parametrize(("share", "outcome"), [(0.002, "better"), (1 / 30, "cannot_tell")])
def test_a_difference_of_a_second_of_short_windows_is_none(share: float, outcome: str) -> None:
    whole = note("coarse_clock", share=share, window=1 / share)
    a, b = (row(*(value,) * 5, turn=turn) for turn, value in enumerate((1024 / 31, 1024 / 30)))
    now = replace(b, trials=tuple(replace(trial, findings=(whole,)) for trial in b.trials))
    (reference,) = baseline_of("main", [a], [a]).references
    for judged in (judge_rows(a, now), judge_reference(reference, replace(now, campaign="two"))):
        assert judged.outcome == outcome
    assert claim(a, now).verdict.code == outcome
    assert judge_rows(row(*STEADY), row(*STEADY, turn=1)).outcome == "same"


def test_a_comparison_lacks_what_the_later_side_alone_does_not_have() -> None:
    lost = replace(row(*STEADY), value=None, status=Status("failed"))
    assert outcome_of(claim(row(*STEADY), lost)) == "missing"
    assert outcome_of(claim(lost, row(*STEADY))) == "same"


def test_nothing_that_was_judged_is_a_failure() -> None:
    assert exit_code([]) is ExitCode.MEASURED_FAILED
    assert exit_code(["better", "cannot_tell", "worse"]) is ExitCode.MEASURED_FAILED


def test_any_loss_counts_where_none_is_too_small() -> None:
    before, now = row(*STEADY), row(*(value * 0.9995 for value in STEADY), turn=1)
    assert judge_rows(before, now).outcome == "same"
    assert judge_rows(before, now, Options(loss=0.0)).outcome == "worse", "0.05 % slower in each pair"
    assert judge_rows(before, row(*STEADY[::-1], turn=1), Options(loss=0.0)).outcome == "cannot_tell"


@pytest.mark.parametrize("firsts", list(product("ab", repeat=5)))
def test_each_round_is_a_pair_whichever_version_ran_first_in_it(firsts: Sequence[str]) -> None:
    sides = []
    for name in "ab":
        side = row(*STEADY[:5])
        begun = (f"{number}:{int(first != name)}" for number, first in enumerate(firsts))
        trials = (replace(each, started=at) for each, at in zip(side.trials, begun, strict=True))
        sides.append(replace(side, trials=tuple(trials)))
    a, b = sides
    assert neighbours(a, b) == (list(STEADY[:5]), list(STEADY[:5]))
    without = replace(a, trials=a.trials[:2] + a.trials[3:])
    assert [len(side) for side in neighbours(without, b)] == [4, 4], "one trial fewer is one pair fewer"


def test_versions_whose_trials_alternated_stay_pairs_although_some_were_lost() -> None:
    before, now = row(*STEADY, *STEADY), row(*(value * 0.99 for value in (*STEADY, *STEADY)), turn=1)
    without = {number: replace(now, trials=now.trials[:number] + now.trials[number + 2 :]) for number in (0, 5)}
    for left in (now, *without.values()):
        found = judge_rows(before, left)
        assert (found.policy.looks, found.outcome) == (None, "worse")
    apart = replace(now, trials=tuple(replace(trial, started="2026-02") for trial in now.trials))
    assert judge_rows(before, apart).policy.looks == 2


@pytest.mark.parametrize(
    ("a", "b"), [(0.0, 0.3), (0.3, 0.0), (0.0, 0.0), (-2.0, -1.0), (0.3, (0.0, 0.2, 0.2, 0.2, 0.2))]
)
@pytest.mark.parametrize("direction", ["lower", "higher"])
def test_values_that_are_not_above_zero_have_no_verdict_at_any_door(a: Any, b: Any, direction: Any) -> None:
    sides = []
    for turn, given_values in enumerate((a, b)):
        values = given_values if isinstance(given_values, tuple) else (given_values,) * 5
        found = row(*STEADY[:5], turn=turn)
        trials = tuple(replace(trial, value=value) for trial, value in zip(found.trials, values, strict=True))
        sides.append(replace(found, trials=trials, value=median(values), direction=direction))
    before, now = sides
    assert outcome_of(claim(before, now)) == "cannot_tell"
    judged = judge_rows(before, now)
    assert (judged.outcome, below(judged, 0.98), judged.wants_trials) == ("cannot_tell", "cannot_tell", False)
    for said in (judged.verdict, claim(before, now).verdict):
        assert str(said) == "cannot tell: throughput is not above 0 in every trial, so that there is no ratio"
    of_days = [replace(side.trials[0], started=f"2026-01-{day:02}") for day, side in enumerate(sides * 8, 1)]
    days = [replace(now, trials=(trial,), value=trial.value) for trial in of_days]
    assert judge_history(days[-1], days).outcome == "cannot_tell"
    with pytest.raises(RequestError, match="throughput is not above 0"):
        baseline_of("main", [side for side in sides if min(side.values) <= 0], sides)


@pytest.mark.parametrize("lower", [False, True])
def test_one_unit_of_the_last_digit_that_was_printed_is_no_difference(lower: bool) -> None:
    def sides(b: float) -> tuple[ConfigurationResult, ConfigurationResult]:
        found = row(*(12.3,) * 7), row(*(b,) * 7, turn=1)
        return (replace(found[0], direction="lower"), replace(found[1], direction="lower")) if lower else found

    for before, now in (sides(12.2), sides(12.4)):
        apart = judge_rows(before, replace(now, campaign="two"))
        assert {judge_rows(before, now).outcome, apart.outcome, outcome_of(claim(before, now))} <= {
            "same",
            "cannot_tell",
        }
    before, now = sides(13.0 if lower else 11.6)
    judged = judge_rows(before, now)
    assert (judged.outcome, outcome_of(claim(before, now))) == ("worse", "worse")
    assert judged.found is not None
    assert judged.found.high - judged.found.low > 0.015, "each value may be half a unit more or less"
    (reference,) = baseline_of("main", [before], [before]).references
    assert judge_reference(reference, replace(before, campaign="two")).outcome == "same"
