"""The curve of a run: what its log prints, else what its counts and timestamps give."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import pytest

from dlperf.formats.registry import parser_for
from dlperf.formats.samples import Summary
from dlperf.measured.findings.runs import checked_run, findings_of_run
from dlperf.measured.run import StatedFacts, measure_run
from dlperf.measured.throughput.curve import curve_of
from dlperf.measured.throughput.estimators import estimate
from dlperf.measured.throughput.figure import figure_of
from dlperf.measured.throughput.reading import Reading
from handmade_runs import run_of


def rates_of(reading: Reading) -> list[float | None]:
    return [None if isnan(rate) else rate for rate in curve_of(reading, None, from_timestamps=True).rates]


def test_a_printed_rate_is_the_curve():
    run = run_of(scope="per_gpu", value=[10, 20], time=[0, 1], samples=[64, 128])
    assert rates_of(Reading(run, gpus=8)) == [80.0, 160.0]


def test_without_a_printed_rate_counted_samples_and_timestamps_give_it():
    run = run_of(time=[0, 2, 4, 5], samples=[64, 128, 256, 320])
    assert rates_of(Reading(run)) == [None, 32.0, 64.0, 64.0]


def test_without_counted_samples_steps_and_batch_size_give_it():
    run = run_of(step=[10, 20, 30], time=[0, 1, 3])
    assert rates_of(Reading(run, gpus=8, batch_size=4)) == [None, 320.0, 160.0]


def test_a_clock_of_whole_seconds_gives_one_rate_each_second():
    run = run_of(time=[0, 0, 0, 1, 1, 2], samples=[10, 20, 30, 40, 50, 60])
    assert rates_of(Reading(run)) == [None, None, None, 30.0, None, 20.0]


def test_records_of_one_step_on_several_ranks_give_one_rate():
    run = run_of(time=[0, 0.1, 2, 2.1, 4, 4.1], samples=[10, 10, 20, 20, 30, 30])
    assert rates_of(Reading(run)) == [None, None, 5.0, None, 5.0, None]


def test_what_lies_between_two_epochs_or_starts_is_no_rate():
    epochs = run_of(step=[1, 2, 1, 2], epoch=[1, 1, 2, 2], time=[0, 1, 60, 61])
    assert rates_of(Reading(epochs, gpus=1, batch_size=8)) == [None, 8.0, None, 8.0]
    restarted = run_of(time=[0, 1, 2, 3], samples=[8, 16, 8, 16])
    assert rates_of(Reading(restarted)) == [None, 8.0, None, 8.0]


def test_without_a_batch_size_there_is_no_curve():
    assert rates_of(Reading(run_of(time=[0, 1]))) == []
    assert rates_of(Reading(run_of(unit="tokens/s", time=[0, 1]), gpus=1, batch_size=8)) == []


def test_printed_rates_that_contradict_a_value_by_timestamps_are_not_its_curve():
    run = run_of(value=[90.0] * 3, time=[0, 1, 2], samples=[100, 200, 300])
    reading = Reading(run)
    assert list(curve_of(reading, estimate(reading, "mean()"), from_timestamps=False).rates) == [90.0] * 3
    assert list(curve_of(reading, estimate(reading, "rate()"), from_timestamps=True).rates)[1:] == [100.0, 100.0]


def test_varying_steps_that_print_rate_and_time_have_a_curve_by_timestamps():
    run = run_of(unit="tokens/s", value=[50, 100, 200], seconds_per_step=[1, 1, 1], time=[0, 2, 4], epoch=[1, 1, 1])
    assert list(Reading(run).timed_rates)[1:] == [50.0, 100.0]


def test_records_without_a_unit_of_their_own_count_beside_a_summary_in_the_unit_of_the_plan():
    run = replace(run_of(unit="samples/s", value=[8.0] * 40), summaries=[Summary("total", 7.0, "images/s", 41)])
    measured = measure_run(run, StatedFacts(gpus=1), "window(20,30)", "images/s")
    assert (measured.value, measured.run.unit) == (8.0, "images/s")


@pytest.mark.parametrize(("printed", "value"), [(250_000.0, 500_000.0), (500_000.0, 500_000.0), (400_000.0, 400_000.0)])
def test_a_printed_rate_of_one_micro_batch_is_multiplied_where_time_and_work_of_a_step_prove_it(printed, value):
    parser = parser_for("nanochat")
    parser.feed(b"Total batch size 500,000 => gradient accumulation steps: 2\n")
    record = "step {:05d}/00100 (1.00%) | loss: 3.36 | lrm: 1.00 | dt: 1000.00ms | tok/sec: {:,.0f} | mfu: 49.25\n"
    parser.feed("".join(record.format(step, printed) for step in range(100)).encode())
    parser.finish()
    reading = Reading(parser.runs[0])
    figure = figure_of(reading)
    codes = {finding.code for finding in findings_of_run(checked_run(reading, figure))}
    assert (figure.value, "micro_batch_rate" in codes) == (pytest.approx(value), value > printed)
