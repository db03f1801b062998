"""One run → one figure, with its second sources."""

import functools
from itertools import accumulate
from math import nan
from statistics import harmonic_mean

import pytest

from dlperf.measured.findings.runs import checked_run, findings_of_run
from dlperf.measured.throughput.estimators import parse_estimator
from dlperf.measured.throughput.figure import NATURAL, OTHER_ESTIMATORS, figure_of, pauses_of
from dlperf.measured.throughput.reading import Estimate, NotEstimable, Reading
from dlperf.measured.throughput.rules import ESTIMATORS, Rule
from handmade_runs import run_of

STEPS = {"from": 1, "to": 200}
SECONDS = [0.5 * step for step in range(1, 201)]


def test_a_mean_carries_the_speed_of_the_same_records_by_their_timestamps() -> None:
    run = run_of(value=[70.0] * 200, time=SECONDS)

    result = figure_of(Reading(run, gpus=2, batch_size=16), "skipmean(10)")

    assert result.value == result.value_printed == 70.0
    assert result.value_from_timestamps == pytest.approx(64.0)


def test_a_rate_carries_the_mean_printed_in_its_window() -> None:
    run = run_of(value=STEPS, time=SECONDS)

    result = figure_of(Reading(run, gpus=2, batch_size=16), "rate(skip=20, take=100)")

    assert result.value == result.value_from_timestamps == pytest.approx(64.0)
    assert result.value_printed == pytest.approx(harmonic_mean(range(21, 121)))


def test_gpus_that_hold_one_model_together_train_one_batch() -> None:
    assert Reading(run_of(value=STEPS), gpus=8, batch_size=16, accumulation=2, parts=4).global_batch_size == 64


def test_the_other_rules_stand_beside_the_figure() -> None:
    run = run_of(value=STEPS, time=SECONDS, summaries=[99.0])

    estimates = figure_of(Reading(run, gpus=2, batch_size=16), "mean()").estimates

    assert estimates["summary()"] == 99.0
    assert estimates["rate(skip=20)"] == pytest.approx(64.0)
    assert "mean()" not in estimates
    assert "hmean_epochs(1)" not in estimates


def test_every_kind_of_rule_is_among_them() -> None:
    others = [parse_estimator(text) for text in OTHER_ESTIMATORS]

    # time_window(20, 120) is the rate, and one printed value no training throughput
    assert {"time_window", "settled", "printed", *(rule.name for rule in others)} == set(ESTIMATORS)
    assert [str(rule) for rule in others] == list(OTHER_ESTIMATORS)


def test_without_a_batch_size_there_is_no_second_source() -> None:
    run = run_of(value=STEPS, time=SECONDS)

    assert figure_of(Reading(run), "mean()").value_from_timestamps is None


def test_a_rule_that_the_log_does_not_give_is_refused_with_its_reason() -> None:
    with pytest.raises(NotEstimable, match="no timestamps"):
        figure_of(Reading(run_of(value=STEPS), gpus=2, batch_size=16), "rate(skip=20)")


@pytest.mark.parametrize(
    ("columns", "known", "natural"),
    [
        ({"value": [64.0] * 200, "time": SECONDS}, {"gpus": 2, "batch_size": 16}, "rate(skip=20)"),
        ({"value": [64.0] * 200, "time": SECONDS}, {"gpus": 2, "batch_size": 4}, "steady(skip=20)"),
        ({"value": [64.0] * 200, "seconds_per_step": [0.5] * 200}, {"gpus": 2, "batch_size": 4}, "steady(skip=20)"),
        ({"value": STEPS}, {}, "steady(skip=20)"),
        ({"value": STEPS, "step": {"from": 1, "to": 200}}, {}, "steady(skip=20)"),
        ({"value": [1, 2, 3, 4], "step": [10, 20, 30, 40]}, {}, "steady(skip=20)"),
        ({"value": [1, 2, 3, 4], "step": [5, 10, 15, 20]}, {}, "steady(skip=20)"),
        ({"seconds_per_step": [1] * 40}, {"gpus": 2, "batch_size": 16}, "steady(skip=20)"),
        ({"value": [], "summaries": [5.0]}, {}, "summary()"),
        ({"value": [], "epochs": [4.0, 5.0]}, {}, "hmean_epochs(1)"),
    ],
)
def test_without_a_named_rule_the_log_gets_the_one_that_suits_it(columns, known, natural) -> None:
    assert figure_of(Reading(run_of(**columns), **known)).estimator == natural


def test_printed_values_that_contradict_time_and_stated_work_by_a_large_factor_are_not_used() -> None:
    steps, times = [100 * index for index in range(1, 6)], [28.0 * index for index in range(1, 6)]
    words = {"value": [50.0] * 5, "seconds_per_step": [28.0] * 5}  # 1,400 words of one update, in 100 times its time

    figure = figure_of(Reading(run_of(unit="tokens/s", window="interval", step=steps, time=times, **words)))

    assert figure.estimator == "rate(skip=20)"
    assert figure.value == pytest.approx(5000.0)


def test_the_first_record_of_a_long_interval_is_warm_up() -> None:
    run = run_of(value=[10.0, 50.0, 50.0, 50.0], step=[100, 200, 300, 400], window="interval")

    assert figure_of(Reading(run)).value == 50.0


def test_intervals_of_equal_work_count_by_their_time() -> None:
    run = run_of(value=[50.0, 100.0] * 50, step=[10 * index for index in range(1, 101)], window="interval")

    assert figure_of(Reading(run)).value == pytest.approx(66.667, abs=0.1)


def test_an_evaluation_within_a_step_does_not_change_the_value() -> None:
    steps = {"value": [437.0] * 99 + [1.0] + [437.0] * 100, "seconds_per_step": [0.08] * 99 + [35.0] + [0.08] * 100}

    assert figure_of(Reading(run_of(**steps), gpus=1, batch_size=35)).value == pytest.approx(437.0)


def test_an_evaluation_between_records_does_not_change_the_value() -> None:
    times = [index + 30.0 * (index > 100) for index in range(200)]

    assert figure_of(Reading(run_of(value=[64.0] * 200, time=times), gpus=2, batch_size=32)).value == 64.0


def test_a_mean_of_the_last_steps_that_a_pause_lowers_does_not_count() -> None:
    times = [10.0 * index + 200.0 * (index > 50) for index in range(100)]  # a pause of 200 s before record 51
    printed = [6.4] * 51 + [5.0] * 5 + [6.4] * 44  # the mean of the last five steps

    figure = figure_of(Reading(run_of(value=printed, time=times), gpus=2, batch_size=32))

    assert (figure.estimator, figure.value) == ("steady(skip=20)", pytest.approx(6.4))


def test_a_pause_that_the_value_leaves_out_does_not_make_the_printed_rates_differ_from_the_time() -> None:
    speeds = [8.0] * 5 + [9.0] * 3 + [3.0, 6.0]  # one record of less than half the usual speed
    run = run_of(value=speeds, time=accumulate(64 / speed for speed in speeds))

    reading = Reading(run, gpus=8, batch_size=8)
    figure = figure_of(reading, "steady(skip=20)")

    assert figure.value_printed == pytest.approx(figure.value_from_timestamps)
    assert "printed_rate" not in [finding.code for finding in findings_of_run(checked_run(reading, figure))]


@pytest.mark.parametrize("unknown", ["time", "value"])
def test_a_run_that_a_checkpoint_continues_warms_up_again(unknown: str) -> None:
    seconds = [20.0] * 10 + [2.0] * 90  # from step 5001 on
    columns = {"value": [64 / each for each in seconds], "time": list(accumulate(seconds))}
    del columns[unknown]

    run = run_of(**columns, step={"from": 5001, "to": 5100}, metadata={"global_batch_size": 64})

    assert figure_of(Reading(run)).value == pytest.approx(32.0)


def test_a_running_mean_of_step_times_that_holds_a_long_warm_up_is_not_used() -> None:
    times = [100.0 + index for index in range(60)]
    means = [time / (index + 1) for index, time in enumerate(times)]
    figure = figure_of(Reading(run_of(seconds_per_step=means, time=times, window="cumulative"), batch_size=32, gpus=2))
    assert (figure.estimator, figure.value) == ("rate(skip=20)", 64.0)


def test_a_log_that_lacks_one_fact_says_which() -> None:
    with pytest.raises(NotEstimable, match="batch size or GPU count unknown"):
        figure_of(Reading(run_of(seconds_per_step=[1] * 40)))


def test_a_log_that_suits_no_rule_says_why() -> None:
    with pytest.raises(NotEstimable, match="the records have no timestamps"):
        figure_of(Reading(run_of(value=[], step=[])))


def test_a_log_of_one_epoch_says_that_it_is_too_short() -> None:
    with pytest.raises(NotEstimable, match=r"too few epoch results \(1\)"):
        figure_of(Reading(run_of(value=[], step=[], epochs=[5.0])))


def test_no_rule_is_applied_twice_to_a_run_however_many_ask_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    applied: list[tuple[str, tuple[object, ...]]] = []

    def counted(name: str, rule: Rule) -> Rule:
        def apply(reading: Reading, **arguments: object) -> Estimate:
            result = rule(reading, **arguments)
            applied.append((name, tuple(arguments.items())))
            return result

        return functools.wraps(rule)(apply)

    for name, rule in ESTIMATORS.items():
        monkeypatch.setitem(ESTIMATORS, name, counted(name, rule))
    reading = Reading(run_of(value=STEPS, seconds_per_step=[0.5] * 200), gpus=2, batch_size=16)
    findings_of_run(checked_run(reading, figure_of(reading)))

    assert len(applied) == len(set(applied)) > 3


def test_a_cut_bar_of_an_epoch_weighs_the_steps_that_it_shows() -> None:
    steps, seconds = [100.0, 100.0, 98.0, 99.0, 60.0], [0.5, 0.1, 0.2, 0.1, 0.4]
    run = run_of(window="epoch", step=steps, epoch=[1, 2, 3, 4, 5], seconds_per_step=seconds)

    result = figure_of(Reading(run, gpus=1, batch_size=1), "goodput(skip=20)")

    assert result.value == pytest.approx(sum(steps[1:]) / sum(map(float.__mul__, steps[1:], seconds[1:])))


def test_time_in_which_nothing_is_processed_is_a_pause_however_often_it_comes() -> None:
    counts, times = [0, 100, 100, 200, 200, 300], [0, 10, 15, 25, 30, 40]
    run = run_of(unit="samples/s", window="interval", step=[0, 1, 1, 2, 2, 3], samples=counts, time=times)

    result = figure_of(Reading(run), "rate(skip=0)")

    assert (result.value, result.goodput, result.steady) == pytest.approx((300 / 40, 300 / 40, 10.0))
    assert result.pauses == "with"


@pytest.mark.parametrize("pauses", [(), (100,)])
def test_a_rate_that_is_a_thousandth_of_that_by_the_clock_has_a_dot_between_its_thousands(pauses) -> None:
    times = [second * 0.5 + 600.0 * sum(second > pause for pause in pauses) for second in range(200)]
    run = run_of(unit="tokens/s", metadata={"tokens_per_step": 3277}, value=[6.554] * 200, time=times, step=STEPS)
    assert figure_of(Reading(run)).value == pytest.approx(6554.0)


def test_pauses_are_found_by_samples_where_steps_have_no_numbers() -> None:
    times = [10.0 * record + 60.0 * (record // 10) for record in range(1, 41)]
    run = run_of(
        unit="tokens/s", window="interval", step=[nan] * 40, samples=[1e5 * n for n in range(1, 41)], time=times
    )
    result = figure_of(Reading(run))
    assert (result.value, result.pauses) == (pytest.approx(1e4), "without")


def test_a_clock_counts_where_the_log_states_batch_and_accumulation() -> None:
    stated = {"global_batch_size": 64, "batch_size": 64, "gpus": 1, "accumulation_steps": 1}
    columns = {"value": [64.0] * 200, "time": [second * 2.0 for second in range(200)], "step": STEPS}
    assert figure_of(Reading(run_of(unit="samples/s", metadata=stated, **columns))).value == pytest.approx(32.0)
    stated["accumulation_steps"] = None
    assert figure_of(Reading(run_of(unit="samples/s", metadata=stated, **columns))).value == pytest.approx(64.0)


def test_only_of_rules_that_settle_it_a_value_is_with_or_without_pauses() -> None:
    said = {rule: pauses_of(rule) for rule in (*NATURAL, *OTHER_ESTIMATORS, "printed()", "of_a_package(5)", "")}
    assert {rule for rule, pauses in said.items() if not pauses} == {
        *("hmean_epochs(1)", "summary()", "tipc(skip=10)", "printed()", "of_a_package(5)", ""),
    }
    assert {rule for rule, pauses in said.items() if pauses == "without"} == {"steady(skip=20)", "steady_rate(skip=20)"}


def test_the_mean_of_a_whole_run_holds_its_pauses() -> None:
    result = figure_of(Reading(run_of(value=[2.0], window="run")))
    assert (result.value, result.goodput, result.steady, result.pauses) == (2.0, 2.0, None, "with")
