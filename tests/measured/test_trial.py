"""What the files of a trial come to."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from causes import cause_of
from dlperf.derived.timeline import measure_trial
from dlperf.measured.model import TrialResult
from dlperf.messages import Message, message
from dlperf.plan import PlannedConfiguration, TrialKey
from dlperf.runs.archive import sha256_of
from dlperf.runs.paths import TrialPaths
from dlperf.runs.records import State, TrialRecord, TrialStatus
from dlperf.runs.store import write_record
from handmade_trials import START, own_log, planned, write_trial
from kept_records import read_record

GPU_HEADER = "time,gpu,utilization_percent,memory_used_mib,power_watts,sm_clock_mhz,memory_clock_mhz,throttle_reasons"

FAILURES = Path(__file__).parents[1] / "data" / "failures"
EXIT_1 = message("exit_code", code_value=1)


@pytest.fixture
def paths(tmp_path: Path) -> TrialPaths:
    return TrialPaths(tmp_path / "trial")


def measured(
    paths: TrialPaths,
    plan: PlannedConfiguration | None = None,
    state: State = State.SUCCEEDED,
    cause: str | Message | None = None,
) -> TrialResult:
    plan = plan or planned()
    told = cause_of(cause) if cause else None
    return measure_trial(paths, plan, TrialStatus(TrialKey(plan.configuration.id, 1), state, told))


def codes(result: TrialResult) -> set[str]:
    return {finding.code for finding in result.findings}


def test_a_trial_has_the_figure_of_its_protocol_with_the_lines_that_gave_it(paths: TrialPaths):
    write_trial(paths, {"n0/out.log": own_log(160.0)})
    result = measured(paths)
    assert result.value == pytest.approx(160.0)
    assert (result.estimator, result.unit, result.samples) == ("rate(skip=20, take=100)", "images/s", 10)
    assert (result.first_step, result.last_step, result.first_line, result.last_line) == (20, 120, 3, 13)
    assert (result.log, result.log_sha256) == ("nodes/n0/out.log", sha256_of(paths.node("n0").log))
    assert result.estimates["mean()"] == pytest.approx(160.0)
    assert result.findings == ()


def with_numerics(log: str, **types: str) -> str:
    first, rest = log.split("\n", 1)
    return f"{first}\n{first.split(' run ')[0]} numerics {json.dumps(types)}\n{rest}"


def test_the_data_types_of_a_step_come_from_its_log(paths: TrialPaths):
    write_trial(paths, {"n0/out.log": with_numerics(own_log(160.0), compute="bf16", residual="fp32")})
    result = measured(paths, replace(planned(), numerics={"compute": "bf16", "reduction": "fp32"}))
    assert (result.numerics, result.findings) == ({"compute": "bf16", "residual": "fp32"}, ())
    assert result.value == pytest.approx(160.0)


def test_a_trial_that_computed_with_other_data_types_than_the_catalogue_states_has_no_value(paths: TrialPaths):
    write_trial(paths, {"n0/out.log": with_numerics(own_log(160.0), compute="bf16", residual="fp32")})
    result = measured(paths, replace(planned(), numerics={"compute": "bf16", "residual": "bf16"}))
    assert (result.value, codes(result)) == (None, {"no_figure"})
    assert "residual fp32, not bf16" in str(result.findings[0].message)


def test_what_is_compiled_is_a_condition(paths: TrialPaths):
    write_trial(paths, {"n0/out.log": own_log(160.0).replace('{"model"', '{"compiled": "step", "model"', 1)})
    assert measured(paths).conditions == {"compiled": "step"}


def test_a_result_that_was_written_is_read_back_the_same(paths: TrialPaths):
    write_trial(paths, {"n0/out.log": own_log(160.0)})
    result = measured(paths)
    write_record(paths.result, result)
    assert read_record(paths.result, TrialResult) == result


def test_a_gzipped_log_is_measured_as_it_lies(paths: TrialPaths):
    write_trial(paths, {"n0/exit.json": "{}"})
    paths.node("n0").compressed_log.write_bytes(gzip.compress(own_log(160.0).encode()))
    result = measured(paths)
    assert result.value == pytest.approx(160.0)
    assert result.log == "nodes/n0/out.log.gz"


def test_the_log_of_a_rank_is_measured_where_the_node_s_own_holds_no_records(paths: TrialPaths):
    write_trial(paths, {"n0/out.log": "launching\n", "n0/ranks/worker.10": "", "n0/ranks/worker.2": own_log(160.0)})
    result = measured(paths)
    assert (result.value, result.log) == (pytest.approx(160.0), "nodes/n0/ranks/worker.2")


@pytest.mark.parametrize("earlier", ["out.log.replaced-1", "out.log.1", "ranks/worker.0.replaced-2"])
def test_a_log_in_several_parts_is_a_caveat_and_the_last_part_counts(paths: TrialPaths, earlier: str):
    write_trial(paths, {"n0/out.log": own_log(160.0), f"n0/{earlier}": own_log(80.0)})
    result = measured(paths)
    assert (result.value, result.log) == (pytest.approx(160.0), "nodes/n0/out.log")
    (finding,) = result.findings
    assert (finding.code, finding.message.parameters["logs"]) == ("log_replaced", f"nodes/n0/{earlier}")


def test_telemetry_that_a_full_disk_refused_is_a_caveat(paths: TrialPaths):
    write_trial(paths, {"n0/out.log": own_log(160.0), "n0/exit.json": '{"telemetry_rows_lost": 7}'})
    (finding,) = measured(paths).findings
    assert (finding.code, finding.message.parameters["rows"]) == ("telemetry_lost", 7)


def test_a_renamed_log_counts_where_nothing_followed(paths: TrialPaths):
    write_trial(paths, {"n0/out.log": "", "n0/out.log.1": own_log(160.0), "n0/out.log.replaced-1": own_log(80.0)})
    assert (measured(paths).value, measured(paths).log) == (pytest.approx(160.0), "nodes/n0/out.log.1")


def test_node_0_is_the_first_of_the_plan_and_not_of_the_alphabet(paths: TrialPaths):
    plan = planned(1, nodes=2)
    write_trial(paths, {"n0/out.log": own_log(100.0), "n1/out.log": own_log(50.0), "a/out.log": own_log(1.0)})
    assert measured(paths, plan).log == "nodes/n0/out.log"


def test_a_link_is_no_log(paths: TrialPaths, tmp_path: Path):
    outside = tmp_path / "outside.log"
    outside.write_text(own_log(160.0))
    write_trial(paths, {"n0/exit.json": "{}"})
    paths.node("n0").log.symlink_to(outside)
    assert measured(paths).log is None


def test_a_log_of_another_format_than_planned_is_recognised(paths: TrialPaths):
    write_trial(paths, {"n0/out.log": "epoch: 0 loss: 1\n" + own_log(160.0)})
    plan = planned()
    other = PlannedConfiguration(plan.configuration, plan.launch, "paddleclas", plan.unit, plan.protocol, 1)
    assert measured(paths, other).value == pytest.approx(160.0)


def test_a_trial_that_succeeded_without_records_says_why_it_has_no_figure(paths: TrialPaths):
    write_trial(paths, {"n0/out.log": "nothing to see\n"})
    result = measured(paths)
    assert result.value is None
    assert not result.usable
    assert [finding.severity for finding in result.findings if finding.code == "no_figure"] == ["error"]


def test_a_trial_without_any_file_has_no_figure(paths: TrialPaths):
    assert measured(paths).value is None


def test_a_failed_trial_has_no_figure_though_its_log_has_records(paths: TrialPaths):
    write_trial(paths, {"n0/out.log": own_log(160.0)})
    result = measured(paths, state=State.FAILED, cause="exit code 1")
    assert result.value is None
    assert str(result.cause).startswith("exit code 1; last output: DLPERF 2026-01-31T12:02:10.000000Z summary ")
    assert result.estimates


def test_the_cause_of_a_failure_is_read_from_the_end_of_the_log(paths: TrialPaths):
    tail = "RuntimeError: CUDA error: out of memory\n"
    write_trial(paths, {"n0/out.log": own_log(160.0) + tail})
    assert str(measured(paths, state=State.FAILED, cause="exit code 1").cause) == "exit code 1: out of memory"


def test_the_cause_is_read_from_the_log_of_the_node_that_failed(paths: TrialPaths):
    write_trial(paths, {"n0/out.log": own_log(160.0) + "ncclRemoteError: peer closed\n", "n1/out.log": "MemoryError\n"})
    failed = measured(
        paths, planned(nodes=2), state=State.FAILED, cause="node n1: exit code 1; last output: MemoryError"
    )
    assert str(failed.cause) == "node n1: exit code 1: out of memory"


def test_what_slurm_printed_tells_the_cause_where_no_log_does(paths: TrialPaths):
    write_trial(paths, {"n0/out.log": own_log(160.0)})
    paths.job_log.write_text("slurmstepd: error: Detected 1 oom_kill event in StepId=7.0\n")
    failed = measured(paths, state=State.FAILED, cause="signal 9 (SIGKILL)")
    assert str(failed.cause) == "signal 9 (SIGKILL): out of memory"


def test_the_run_that_the_record_names_is_measured_of_several_in_a_log(paths: TrialPaths):
    write_trial(paths, {"n0/out.log": own_log(160.0) + own_log(320.0)})
    assert measured(paths).value == pytest.approx(320.0)
    write_record(paths.trial, TrialRecord("t", "c", planned().configuration, 1, log_run=1))
    result = measured(paths)
    assert result.value == pytest.approx(160.0)
    assert "several_runs" in codes(result)


def test_a_log_of_other_batch_size_and_gpus_than_declared_is_found(paths: TrialPaths):
    write_trial(paths, {"n0/out.log": own_log(160.0, batch_size=8, gpus=4)})
    assert {"batch_size_mismatch", "gpu_count_mismatch"} <= codes(measured(paths))


def test_a_figure_above_the_dense_peak_stays_out_of_medians(paths: TrialPaths):
    write_trial(paths, {"n0/out.log": own_log(160.0)})
    plan = planned(gflops_per_sample=100.0, peaks={"fp32": 5.0})
    result = measured(paths, plan)
    assert "above_flop_limit" in codes(result)
    assert not result.usable


def test_the_duration_is_that_of_the_node_that_took_longest(paths: TrialPaths):
    write_trial(paths, {"n0/exit.json": '{"duration_seconds": 7.5}', "n1/exit.json": '{"duration_seconds": 9}'})
    assert measured(paths).duration_seconds == 9.0


@pytest.mark.parametrize("shift_hours", [0, 8], ids=["same clock", "log in another time zone"])
def test_power_and_clock_are_means_over_the_measured_window_of_all_gpus(paths: TrialPaths, shift_hours: int):
    first = START.timestamp() - shift_hours * 3600
    rows = [GPU_HEADER + ",foreign_processes"]
    for second in range(14):
        watts, clock = (300, 1800) if 2 <= second <= 12 else (50, 345)
        rows += [f"{first + second:.3f},{gpu},99,1000,{watts},{clock + 100 * gpu},900,0x0,0" for gpu in (0, 1)]
    write_trial(paths, {"n0/out.log": own_log(80.0), "n0/telemetry.csv": "\n".join(rows)})
    result = measured(paths)
    assert result.power_watts == pytest.approx(600.0)
    assert result.sm_clock_mhz == pytest.approx(1850.0)
    assert result.samples_per_joule == pytest.approx(80.0 / 600.0)


def test_a_throttled_or_contended_gpu_is_found(paths: TrialPaths):
    first = START.timestamp()
    rows = [f"{first + second:.3f},0,99,1000,300,1400,900,0x0000000000000040,1" for second in range(14)]
    telemetry = "\n".join([GPU_HEADER + ",foreign_processes", *rows, "garbled,,"])
    write_trial(paths, {"n0/out.log": own_log(80.0), "n0/telemetry.csv": telemetry})
    assert {"hw_thermal_slowdown", "contended_gpu"} <= codes(measured(paths))


@pytest.mark.parametrize(
    ("foreign", "seconds", "found"),
    [("30.0", 1, True), ("2.0", 1, False), ("", 1, False), ("60.0", 10, True), ("20.0", 10, False)],
)
def test_other_processes_on_a_machine_without_gpus_are_found(
    paths: TrialPaths, foreign: str, seconds: int, found: bool
):
    """Few readings must show more load."""
    rows = [f"{START.timestamp() + second:.3f},90,1000,{foreign}" for second in range(0, 14, seconds)]
    telemetry = "\n".join(["time,cpu_percent,memory_used_mib,foreign_cpu_percent", *rows])
    write_trial(paths, {"n0/out.log": own_log(80.0), "n0/telemetry.csv": telemetry})
    assert ("contended_cpu" in codes(measured(paths))) is found


def test_power_and_clock_are_unknown_where_there_is_no_gpu(paths: TrialPaths):
    telemetry = "time,cpu_percent,memory_used_mib\n1769860800.0,50.0,100\n"
    write_trial(paths, {"n0/out.log": own_log(80.0), "n0/telemetry.csv": telemetry})
    result = measured(paths)
    assert (result.power_watts, result.sm_clock_mhz) == (None, None)


def test_a_result_is_plain_json(paths: TrialPaths):
    write_trial(paths, {"n0/out.log": own_log(160.0)})
    write_record(paths.result, measured(paths))
    assert json.loads(paths.result.read_text())["value"] == pytest.approx(160.0)


def test_the_node_of_the_rank_that_failed_is_named_where_mpirun_started_all(paths: TrialPaths):
    plan = planned(gpus=1, nodes=2)
    plan = replace(plan, launch=replace(plan.launch, launcher="mpirun"))
    write_trial(paths, {"n0/out.log": (FAILURES / "mpirun_exception.txt").read_text(), "n1/out.log": ""})
    failed = measured(paths, plan, state=State.FAILED, cause="node n0: exit code 1")
    assert str(failed.cause) == "node n0: exit code 1: node n1: ValueError: bad shape (3, 4)"


def test_the_log_of_another_node_explains_a_failure_that_the_node_s_own_does_not(paths: TrialPaths):
    write_trial(paths, {"n0/out.log": "loss 1.0\n", "n1/out.log": "ValueError: bad shape\n"})
    failed = measured(paths, planned(nodes=2), state=State.FAILED, cause="node n0: exit code 1")
    assert str(failed.cause) == "node n0: exit code 1: node n1: ValueError: bad shape"


@pytest.mark.parametrize("log", ["", "loss 1.0\n"])
def test_slurm_s_log_is_quoted_where_no_node_has_a_log(paths: TrialPaths, log: str):
    write_trial(paths, {"n0/out.log": log})
    paths.job_log.write_text("no Python 3.6 or newer on n2\nsrun: error: n2: task 1: Exited with exit code 1\n")
    said = "last output: loss 1.0" if log else "log of the job: no Python 3.6 or newer on n2"
    assert str(measured(paths, state=State.FAILED, cause=EXIT_1).cause) == f"exit code 1; {said}"


def test_what_slurm_printed_is_not_quoted_twice(paths: TrialPaths):
    said = "slurmstepd: error: execve(): train: No such file or directory"
    write_trial(paths, {"n0/exit.json": "{}"})
    paths.job_log.write_text(f"{said}\n")
    failed = measured(paths, state=State.FAILED, cause=message("job_log", cause=EXIT_1, said=said))
    assert str(failed.cause) == f"exit code 1: {said}"


SIZES = {
    "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 71.32GiB with allocator "
    "GPU_0_bfc on device 0. [executable_name='jit_train_step']": "71.32GiB",
    "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB. GPU 1 has a total": "3.91 GiB",
    "W bfc_allocator.cc:371] Allocator (GPU_0_bfc) ran out of memory trying to allocate 16.02GiB (rounded": "16.02GiB",
}


@pytest.mark.parametrize(("line", "size"), SIZES.items(), ids=SIZES.values())
def test_a_gpu_without_memory_is_the_cause_though_the_program_shuts_down_at_length(
    paths: TrialPaths, line: str, size: str
):
    """As MaxText does, which prints a line for each process of the machine, and a warning of its interpreter."""
    end = (
        "I1128 03:53:24.9 140 multihost_dataloading.py:148] CLEANUP: Error checking PID 2: name 'open' is not defined\n"
    )
    warning = "  warnings.warn('resource_tracker: There appear to be %d '\n"
    write_trial(paths, {"n0/out.log": f"Traceback (most recent call last):\n{line}\n{end * 700}{warning}"})
    plan = planned()
    axes = (("checkpointing", "selective"),)
    point = replace(plan.configuration, precision="bf16", batch_size=8, axes=axes)
    plan = replace(plan, configuration=point, numerics={"weights": "fp32"})
    assert str(measured(paths, plan, State.FAILED, EXIT_1).cause) == (
        f"exit code 1: out of memory: could not allocate {size} on a GPU; "
        "change batch_size=8, checkpointing=selective, precision=bf16, or take more or larger GPUs"
    )
    plan = replace(plan, configuration=replace(point, batch_size=1, axes=()), numerics={"weights": "bf16"})
    assert str(measured(paths, plan, State.FAILED, EXIT_1).cause).endswith(f"{size} on a GPU; take more or larger GPUs")
