"""What a careful reader must know."""

from itertools import accumulate
from statistics import fmean
from typing import Any

import pytest

from dlperf.evidence.telemetry import GpuReading
from dlperf.measured.findings.drift import trend
from dlperf.measured.findings.runs import checked_run, findings_of_run
from dlperf.measured.findings.telemetry import findings_of_telemetry, idle_share
from dlperf.measured.findings.trials import findings_of_scaling, findings_of_trials
from dlperf.measured.throughput.figure import figure_of
from dlperf.measured.throughput.reading import Reading
from dlperf.messages import message
from dlperf.messages.finding import note
from handmade_runs import run_of

SECONDS = [float(step) + 0.25 for step in range(1, 201)]


def findings(*, rule: str = "mean()", known: dict[str, Any] | None = None, asked: Any = None, **columns: Any):
    """Findings by code, of a run that would have none."""
    columns = {"value": [64.0] * 200, "time": SECONDS} | columns
    known = {"gpus": 2, "batch_size": 32} | (known or {})
    run = run_of(**columns)
    reading = Reading(run, **known)
    found = findings_of_run(checked_run(reading, figure_of(reading, rule), **(asked or {})))
    return {finding.code: finding for finding in found}


def test_a_sound_run_has_no_finding() -> None:
    assert findings() == {}


@pytest.mark.parametrize(
    ("code", "case", "words"),
    [
        ("too_few_samples", {"value": [64.0] * 5, "time": SECONDS[:5]}, "records used: 5"),
        ("drift", {"value": [66.0 - 0.02 * i for i in range(200)]}, "falls by 6.0 %"),
        ("end_stall", {"value": [64.0] * 199 + [10.0]}, "without it the mean is 64.00, not 63.73"),
        ("printed_rate", {"value": [65.0] * 200}, "printed 65.00, computed from timestamps 64.00 images/s (+1.6 %)"),
        ("several_runs", {"asked": {"runs_in_log": 2}}, "run 1 of 2"),
        (
            "sequence_length_mismatch",
            {"metadata": {"sequence_length": 8192}, "known": {"sequence_length": 2048}},
            "declared sequence length 2048, but the log has 8192",
        ),
        ("batch_size_mismatch", {"metadata": {"batch_size": 16}}, "declared batch size 32, but the log has 16"),
        ("batch_size_mismatch", {"seconds_per_step": [0.5] * 200}, "declared batch size 32, but the log has 16"),
        ("gpu_count_mismatch", {"metadata": {"gpus": 8}}, "declared 2 GPUs, but the log has 8"),
        ("nan_loss", {"notes": ["nan_loss"]}, "the loss is not a finite number"),
        ("reader_bound", {"reader_share": [0.45] * 200}, "45 % of the time"),
        ("above_flop_limit", {"asked": {"flop_limit": 60.0}}, "64.00 images/s is above the 60.00"),
        (
            "pauses",
            {"value": [64.0] * 99 + [1.0] + [64.0] * 100, "time": [t + 63 * (t > 100) for t in SECONDS]},
            "took more than twice the usual time, the first in line 100",
        ),
        ("missing_end_marker", {"complete": False}, "the log has no end marker"),
        ("interleaved_ranks", {"step": [i // 4 for i in range(200)]}, "every step is printed 4 times"),
        ("mixed_programs", {"step": [index + 50 * (index % 4 == 3) for index in range(200)]}, "forward again 49 times"),
        ("mixed_settings", {"notes": ["mixed_settings"]}, "those that differ are not used"),
        ("unit_dialect", {"notes": ["unit_dialect"]}, "older name of its unit"),
    ],
)
def test_a_run_is_found_odd(code: str, case: dict[str, Any], words: str) -> None:
    finding = findings(**case)[code]

    assert words in str(finding.message)
    assert "\n" not in str(finding.message)


def test_a_batch_size_from_times_of_two_digits_is_the_declared_one() -> None:
    assert "batch_size_mismatch" not in findings(seconds_per_step=[0.993] * 200)  # 64 images/s: 31.8 on each GPU
    assert "batch_size_mismatch" in findings(seconds_per_step=[0.97] * 200)


def test_what_cannot_be_is_an_error_and_what_is_usual_a_note() -> None:
    found = findings(asked={"flop_limit": 60.0, "runs_in_log": 2})

    assert (found["above_flop_limit"].severity, found["several_runs"].severity) == ("error", "note")


@pytest.mark.parametrize(
    "columns",
    [
        {"value": [64.0 + (-1) ** i for i in range(200)]},
        {"value": [64.0 + 0.005 * i for i in range(200)], "time": [t * 64 / 64.5 for t in SECONDS]},
    ],
    ids=["noise", "less than two per cent"],
)
def test_a_steady_speed_does_not_drift(columns: dict[str, Any]) -> None:
    assert "drift" not in findings(**columns)


def smoothed(seconds: list[float], over: int) -> dict[str, Any]:
    """A log whose rates are means over the last records, of 64 samples each."""
    means = [fmean(seconds[max(index - over + 1, 0) : index + 1]) for index in range(len(seconds))]
    return {"value": [64 / mean for mean in means], "time": list(accumulate(seconds)), "step": range(len(seconds))}


def test_a_drift_is_the_same_to_the_last_digit_whatever_python_computes_it() -> None:
    """``statistics.linear_regression`` gives -0.01006729379005066 from Python 3.12 on."""
    found = trend([107.4, 105.4, 93.7, 94.9, 106.9, 91.8, 109.7, 108.6, 110.0, 90.2])
    assert found is not None
    assert found.change == -0.010067293790050655


def test_a_pause_that_the_printed_means_smooth_is_no_drift() -> None:
    found = findings(**smoothed([1.0, 1.01] * 95 + [1.0, 2.8] + [1.0, 1.01] * 4, over=10), rule="steady(skip=20)")
    assert "drift" not in found
    assert str(found["pauses"].message).startswith(
        "1 of the records took more than twice the usual time, the first in line 192"
    )


def test_pauses_that_only_the_times_of_a_log_show_are_said_to_be_left_out() -> None:
    times = list(accumulate([1.0] * 150 + [30.0] + [1.0] * 49))
    found = findings(value=[64.0] * 200, time=times, rule="steady(skip=20)", known={"gpus": None})
    assert str(found["pauses"].message).endswith("and what the log prints does not give it with them")


def test_a_pause_before_the_first_measured_record_is_counted() -> None:
    times = list(accumulate([1.0] * 20 + [30.0] + [1.0] * 99 + [30.0] + [1.0] * 79))
    found = findings(value=[64.0] * 200, time=times, rule="steady(skip=20)")
    assert str(found["pauses"].message).startswith("2 of the records")


def test_a_launch_that_continues_a_checkpoint_in_the_same_run_is_named() -> None:
    steps, times = [*range(1, 101), *range(81, 181)], [*range(100), *range(5000, 5100)]
    found = findings(step=steps, time=[float(second) for second in times], rule="rate(skip=20)")
    assert "the step goes back 1×, first in line 101" in str(found["step_back"].message)
    assert "step_back" not in findings(step=[*range(1, 101)] * 2, epoch=[1.0] * 100 + [2.0] * 100)


def test_a_step_that_is_slow_again_and_again_is_no_stall_at_the_end() -> None:
    found = findings(value=[16.0 if step % 5 == 4 else 64.0 for step in range(50)], time=SECONDS[:50])
    assert "end_stall" not in found


def test_two_programs_that_print_the_same_steps_at_two_speeds_give_no_value() -> None:
    steps = [step for step in range(1, 101) for _ in range(2)]
    shared = {"step": steps, "rule": "rate(skip=20)", "known": {"gpus": 4, "batch_size": 16}}
    apart = sorted([*map(float, range(1, 101)), *(0.5 * step for step in range(1, 101))])
    programs = findings(value=[64.0, 128.0] * 100, time=apart, **shared)
    ranks = findings(value=[64.0] * 200, time=list(map(float, steps)), **shared)
    assert [found["interleaved_ranks"].severity for found in (programs, ranks)] == ["error", "warning"]


def test_a_single_epoch_holds_the_warm_up() -> None:
    assert "records used: 1; 2 or more" in str(
        findings(value=[64.0], time=[60.0], window="epoch")["too_few_samples"].message
    )
    assert "too_few_samples" not in findings(value=[64.0] * 3, time=[60.0, 120.0, 180.0], window="epoch")


def test_a_step_of_few_words_is_no_pause() -> None:
    found = findings(value=[64.0] * 99 + [10.0] + [64.0] * 100, unit="words/s", rule="steady(skip=20)")
    assert "pauses" not in found


def test_a_running_mean_that_forgets_the_warm_up_is_no_drift() -> None:
    columns = smoothed([5.0] * 20 + [1.0] * 180, over=200)
    assert "drift" not in findings(**columns, window="cumulative", rule="steady(skip=20)")


def test_a_drift_beside_a_pause_is_found() -> None:
    seconds = [1.0 + 0.0004 * index for index in range(200)]
    seconds[150] = 9.0
    assert "drift" in findings(**smoothed(seconds, over=1), rule="steady(skip=20)")


def test_a_last_record_as_slow_as_another_is_no_stall() -> None:
    assert "end_stall" not in findings(value=[64.0] * 100 + [10.0] + [64.0] * 98 + [10.5])


def test_five_records_of_a_hundred_steps_are_enough() -> None:
    few = {"value": [64.0] * 5, "step": [100, 200, 300, 400, 500], "time": [100, 200, 300, 400, 500.5]}

    assert "too_few_samples" not in findings(**few)


def test_a_format_without_an_end_line_is_not_expected_to_print_one() -> None:
    assert "missing_end_marker" not in findings(complete=False, marks_end=False)


def test_a_run_that_resumes_from_a_checkpoint_is_one_program() -> None:
    step = [*range(1, 80), *range(60, 120), *range(100, 161)]
    assert "mixed_programs" not in findings(step=step)


def test_one_record_an_epoch_with_the_same_step_number_is_no_sign_of_ranks() -> None:
    epochs = {"value": [64.0] * 20, "step": [100] * 20, "epoch": {"from": 1, "to": 20}}
    epochs["time"] = SECONDS[:20]

    assert "interleaved_ranks" not in findings(**epochs)


def test_whole_seconds_are_no_evidence_against_a_printed_rate_over_a_short_window() -> None:
    whole = [float(index) for index in range(1, 21)]

    assert "printed_rate" not in findings(value=[66.0] * 20, time=whole)
    assert "printed_rate" in findings(value=[66.0] * 20, time=[second + 0.5 for second in whole])


def test_a_run_without_a_figure_still_has_findings() -> None:
    found = findings_of_run(
        checked_run(Reading(run_of(value=[], notes=["nan_loss", "odd_thing"], complete=False)), None)
    )

    assert [finding.code for finding in found] == ["missing_end_marker", "nan_loss", "odd_thing"]


def test_trials_that_differ_are_found() -> None:
    (finding,) = findings_of_trials([100.0, 101.0, 110.0])

    assert finding.code == "trial_spread"
    assert "100.0 … 110.0, coefficient of variation 5.3 %" in str(finding.message)


def test_trials_that_agree_are_not() -> None:
    assert findings_of_trials([100.0, 101.0, 100.5], repeats=3) == ()


def test_fewer_trials_than_the_protocol_asks_for_are_found() -> None:
    assert [f.code for f in findings_of_trials([100.0], repeats=5)] == ["too_few_trials"]


def test_a_super_linear_point_is_found() -> None:
    """FleetX VGG16 AMP, batch 32: 407.69 on one GPU, 3332.17 on eight, 102 %: within the limit. Twice that is not."""
    assert findings_of_scaling({1: 407.69, 8: 3332.17}) == {1: (), 8: ()}

    codes = {gpus: [f.code for f in found] for gpus, found in findings_of_scaling({1: 407.69, 8: 6664.34}).items()}
    assert codes == {1: [], 8: ["super_linear", "efficiency_rises"]}


def test_an_efficiency_that_rises_again_points_at_the_figure_before() -> None:
    """PLSC ArcFace: from 8 to 16 GPUs every GPU gets 17 % faster."""
    found = findings_of_scaling({1: 397.78, 4: 1539.66, 8: 2545.3, 16: 5953.84, 32: 11084.53})

    assert {gpus: [f.code for f in fs] for gpus, fs in found.items() if fs} == {16: ["efficiency_rises"]}
    assert str(found[16][0].message) == "each of 16 GPUs is 17 % faster than each of 8: the result of 8 may be too low"


@pytest.mark.parametrize(
    ("mask", "code", "severity"),
    [
        (0x08, "hw_slowdown", "warning"),
        (0x40, "hw_thermal_slowdown", "warning"),
        (0x80, "hw_power_brake", "warning"),
        (0x20, "sw_thermal_slowdown", "warning"),
        (0x04, "sw_power_cap", "note"),
    ],
)
def test_a_throttled_gpu_is_found(mask: int, code: str, severity: str) -> None:
    readings = [GpuReading("a:0", 0), GpuReading("a:1", mask), GpuReading("a:1", None)]

    (finding,) = findings_of_telemetry(readings)

    assert (finding.code, finding.severity) == (code, severity)
    assert "on GPU a:1, in 50 % of the samples" in str(finding.message)


@pytest.mark.parametrize("mask", [0x0, 0x1, 0x2, 0x10, 0x100, None])
def test_an_idle_or_synchronised_gpu_is_not_throttled(mask: int | None) -> None:
    assert findings_of_telemetry([GpuReading("a:0", mask)]) == ()


def clocks(**means: float) -> list[GpuReading]:
    """Six readings of each GPU, around its mean."""
    return [
        GpuReading(f"a:{gpu[1:]}", sm_clock_mhz=mean + away)
        for gpu, mean in means.items()
        for away in (-9, 9, -5, 5, 0, 0)
    ]


def test_a_gpu_that_is_slower_than_the_others_is_found() -> None:
    (finding,) = findings_of_telemetry(clocks(g0=1880, g1=1760, g2=1880, g3=1865))

    assert finding == note("slower_gpu", gpu=message("one_gpu", name="a:1"), clock=1760.0, others=1875.0)
    assert str(finding.message) == "GPU a:1 ran at 1,760 MHz, the others at 1,875 MHz and wait for it at every step"


@pytest.mark.parametrize(
    "readings",
    [
        clocks(g0=1900, g1=1950, g2=1945),
        clocks(g0=1500),
        clocks(g0=1900, g1=1500)[:-2],
        [*clocks(g0=1900), GpuReading("b:0")],
    ],
    ids=["all much alike", "alone", "too few readings", "one that does not tell"],
)
def test_gpus_of_which_none_is_known_to_be_slower(readings: list[GpuReading]) -> None:
    assert findings_of_telemetry(readings) == ()


def test_a_gpu_that_waits_for_its_host_is_found() -> None:
    readings = [GpuReading(gpu, utilization_percent=busy) for gpu in ("a:0", "a:1") for busy in (99, 97, 99, 96, 99)]
    assert findings_of_telemetry(readings) == ()
    (finding,) = findings_of_telemetry([*readings, *[GpuReading("a:1", utilization_percent=70)] * 5])
    assert (finding.code, finding.severity) == ("idle_gpu", "note")
    assert str(finding.message) == "no kernel ran on GPU a:1 in 16 % of the window: it waited"
    assert idle_share(readings) == pytest.approx(0.02), "recorded below what is noted, too"
    assert idle_share(readings[:4]) is None


def test_a_contended_gpu_is_found() -> None:
    readings = [GpuReading("a:0", 0, 0), GpuReading("a:1", 0, 2), GpuReading("b:0", 0, 1)]

    (finding,) = findings_of_telemetry(readings)

    assert (finding.code, finding.severity) == ("contended_gpu", "warning")
    assert str(finding.message) == "other processes used 2 GPUs (a:1, b:0) while the trial was measured"
