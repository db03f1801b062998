"""What the history of a configuration says of its newest result."""

from __future__ import annotations

from dataclasses import replace

import pytest

from claimable import CONDITIONS, claimable
from dlperf.catalog.axes import Configuration, field_values
from dlperf.measured.model import TrialResult
from dlperf.messages.finding import warning
from dlperf.table.model import ConfigurationResult, MetricResult, Status
from dlperf.verdicts.judging import Options
from dlperf.verdicts.trend import history_of, judge_history, looks_of

POINT = Configuration("box", "numpy", "lenet5", "fp32", 32, 1, 1)


def row(number: int, value: float, **fields: object) -> ConfigurationResult:
    known = {"unit": "images/s", "status": Status("measured"), "value": value, **fields}
    found = replace(
        claimable(ConfigurationResult(**field_values(POINT), campaign=f"c{number}", **known), value), value=value
    )
    started = f"2026-01-{number + 1:02}T00:00:00Z"
    return replace(found, trials=tuple(replace(trial, started=started) for trial in found.trials))


def history(*values: float, **fields: object) -> list[ConfigurationResult]:
    return [row(number, value, **fields) for number, value in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "fields", "outcome", "verdict"),
    [
        (
            [100.0, 101.0] * 7 + [90.0] * 5,
            {},
            "worse",
            "worse: -10.00 % since c14 (14 campaigns before, 5 since, p = 0.000",
        ),
        (
            [100.0, 101.0] * 7 + [110.0] * 5,
            {},
            "better",
            "better: +10.00 % since c14 (14 campaigns before, 5 since, p = 0.000",
        ),
        ([100.0, 101.0] * 7 + [110.0] * 5, {"unit": "ms", "direction": "lower"}, "worse", "worse: +10.00 % since c14"),
        ([100.0, 100.1] * 8, {}, "same", "same: "),
        ([100.0, 112.0] * 8, {}, "cannot_tell", "cannot tell: "),
        ([100.0, 100.3] * 8 + [97.0], {}, "cannot_tell", "cannot tell: "),
        ([100.0, 100.3] * 8 + [94.0], {}, "cannot_tell", "cannot tell: "),
        ([100.0] * 13, {}, "cannot_tell", "cannot tell: 14 campaigns are needed to see a trend, not 13"),
    ],
    ids=[
        "slower",
        "faster",
        "more of what should be low",
        "steady",
        "too noisy",
        "the last alone by 3 %",
        "the last alone by 6 %",
        "too few",
    ],
)
def test_a_level_that_fell_is_worse_and_a_history_that_shows_nothing_cannot_be_told(values, fields, outcome, verdict):
    rows = history(*values, **fields)
    found = judge_history(rows[-1], rows)
    assert (found.outcome, str(found.verdict)[: len(verdict)]) == (outcome, verdict)


def test_a_change_within_the_loss_that_is_named_is_none():
    rows = history(*[100.0, 100.1] * 7, *[99.0, 99.1] * 3)
    assert judge_history(rows[-1], rows).outcome == "worse"
    assert judge_history(rows[-1], rows, Options(loss=0.05)).outcome == "same"
    assert judge_history(rows[-1], rows, Options(loss=0.005)).outcome == "worse"


def test_a_unit_of_the_last_digit_that_was_printed_is_no_change_of_level():
    rows, finer = (history(*[before] * 10, *[since] * 8) for before, since in ((12.3, 12.2), (12.301, 12.201)))
    found = judge_history(rows[-1], rows)
    assert (found.outcome, judge_history(finer[-1], finer).outcome) == ("same", "worse")
    assert found.found is not None
    assert found.found.loss > 0.0081
    two_units = history(*[12.3] * 10, *[12.1] * 8)
    assert judge_history(two_units[-1], two_units).outcome == "worse"


def test_a_level_that_was_kept_names_the_campaigns_that_show_it():
    rows = history(*[100.0, 100.1] * 8)
    assert str(judge_history(rows[-1], rows).verdict).endswith("(of the last 5 campaigns against 11 before them)")


@pytest.mark.parametrize("last", [97.0, 96.0, 94.0])
def test_the_campaigns_that_would_decide_do_if_they_repeat_the_last_ones(last):
    values = [100.0, 100.3, 99.9, 100.2] * 4 + [last]
    rows = history(*values)
    found = judge_history(rows[-1], rows).found
    assert found is not None
    more = found.more or 0
    decided = [
        judge_history(rows[-1], rows).outcome
        for rows in (history(*values, *(values[-5:] * 4)[:count]) for count in (more - 1, more))
    ]
    assert decided[-1] in ("worse", "same")
    assert decided[0] == "cannot_tell"


def test_a_history_that_varies_too_much_says_that_no_campaigns_of_its_level_would_decide():
    rows = history(*[100.0, 112.0] * 8)
    found = judge_history(rows[-1], rows)
    assert "not even 30 more campaigns of this level would decide: name a larger --loss" in str(found.verdict)
    assert found.found is not None
    assert found.found.more is None
    assert judge_history(rows[-1], rows, Options(loss=0.3)).outcome == "same"


def on(rows: list[ConfigurationResult], gpus: str) -> list[ConfigurationResult]:
    return [
        replace(each, trials=tuple(replace(trial, conditions=CONDITIONS | {"gpu.uuid": gpu}) for trial in each.trials))
        for each, gpu in zip(rows, gpus, strict=True)
    ]


def test_a_level_that_fell_when_the_machine_changed_cannot_be_told():
    rows = on(history(*[100.0, 101.0] * 7, *[90.0] * 5), "a" * 14 + "b" * 5)
    found = judge_history(rows[-1], rows)
    assert found.outcome == "cannot_tell"
    assert "fewer than 3 campaigns before the last 5 ran on their machine" in str(found.verdict)
    rows = on(history(*[100.0, 101.0] * 7, *[90.0, 91.0] * 4), "ab" * 11)
    assert judge_history(rows[-1], rows).outcome == "worse", "both machines ran before and after"


def test_the_difference_that_is_printed_is_that_of_one_machine_on_both_sides_of_the_change():
    machines = "aaabaabaabaabb" + "abbabbabbabbab"
    levels = [100.0, 100.1] * 7 + [93.0, 93.1] * 7
    values = [level * (1.2 if name == "b" else 1.0) for level, name in zip(levels, machines, strict=True)]
    rows = on(history(*values), machines)
    found = judge_history(rows[-1], rows)
    assert (found.outcome, found.verdict.code) == ("worse", "trend_worse")
    assert found.verdict.parameters["difference"] == pytest.approx(-0.07, abs=2e-3)


def test_a_level_that_fell_on_one_machine_is_printed_although_the_newest_one_became_faster():
    machines = "aaab" * 7
    moved = [{"a": 0.95, "b": 1.02}[name] if place >= 16 else 1.0 for place, name in enumerate(machines)]
    values = [by * level for by, level in zip(moved, [100.0, 100.1] * 14, strict=True)]
    rows = on(history(*values), machines)
    found = judge_history(rows[-1], rows)
    assert (found.outcome, found.verdict.code) == ("worse", "trend_worse")
    assert found.verdict.parameters["difference"] == pytest.approx(-0.05, abs=2e-3)


def test_the_more_often_a_year_looks_the_clearer_a_change_has_to_be():
    values = [100.0, 101.0] * 7 + [100.5] + [90.0] * 5
    rows = history(*values)
    old = [replace(each, trials=of_year(each, "2024")) for each in rows * 40]
    this = [replace(each, trials=of_year(each, "2025-12")) for each in rows * 40]
    assert looks_of([*old, *rows]) == len(rows)
    assert judge_history(rows[-1], [*old, *rows], last=20).outcome == "worse"
    assert judge_history(rows[-1], [*this, *rows], last=20).outcome == "cannot_tell", "820 looks within a year"


def of_year(each: ConfigurationResult, begin: str) -> tuple[TrialResult, ...]:
    return tuple(replace(trial, started=begin + (trial.started or "")[len(begin) :]) for trial in each.trials)


def test_a_result_without_a_value_fails():
    missing = replace(row(12, 1.0), value=None, status=Status("failed"))
    assert judge_history(missing, history(*[100.0] * 12)).outcome == "missing"


def test_a_history_is_of_one_configuration_and_protocol_in_order_and_ends_with_the_result():
    rows = history(*[1.0] * 5)
    others = [replace(rows[0], framework="other"), replace(rows[0], protocol="quick"), replace(rows[0], value=None)]
    assert [each.campaign for each in history_of(rows[3], [*reversed(rows), *others])] == ["c0", "c1", "c2", "c3"]


def test_the_machine_of_the_newest_result_alone_is_compared_with_itself():
    rows = on(history(*[100.0, 100.1] * 10, *[106.0] * 3, *[100.0] * 2), "b" * 20 + "a" * 5)
    found = judge_history(rows[-1], rows)
    assert found.outcome == "cannot_tell", "it lost 5.7 % there"


def test_a_trend_is_of_campaigns_that_the_metric_may_be_compared_in():
    kept = MetricResult("final_loss", 100.0, "images/s", needs=("equal_steps",))
    rows = [replace(each, metric="final_loss", metrics=(kept,)) for each in history(*[100.0, 100.1] * 8)]

    def ending(each: ConfigurationResult, step: int) -> ConfigurationResult:
        return replace(each, trials=tuple(replace(trial, last_step=step) for trial in each.trials))

    found = judge_history(ending(rows[-1], 200), [ending(each, 100) for each in rows[:-1]] + [ending(rows[-1], 200)])
    assert str(found.verdict) == (
        "cannot tell: 14 campaigns are needed to see a trend, not 1; "
        "final_loss needs equal numbers of steps, here 100 to 200"
    )
    few = [ending(each, 200) for each in rows[:2]]
    alike = [ending(each, 100) for each in rows[2:]]
    assert judge_history(alike[-1], [*few, *alike]).outcome == "same", "the two others are left out"


def test_trials_that_failed_leave_open_whether_the_level_is_kept():
    rows = history(*[100.0, 100.1] * 8)
    newest = replace(rows[-1], findings=(warning("trials_failed", count=1, of=2),))
    found = judge_history(newest, [*rows[:-1], newest])
    assert str(found.verdict) == "cannot tell: 1 of 2 trials failed or gave no value"
