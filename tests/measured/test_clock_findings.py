"""Times of a log are compared with when its lines arrived: a clock that was set makes no value."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from dlperf.derived.timeline import measure_trial
from dlperf.evidence.gather import gather
from dlperf.evidence.logs import BUILTIN_FORMATS
from dlperf.measured.findings.telemetry import disturbance
from dlperf.measured.model import TrialResult
from dlperf.nodes.bootstrap import supervisor_archive
from dlperf.plan import TrialKey
from dlperf.runs.paths import TrialPaths
from dlperf.runs.records import State, TrialStatus
from handmade_trials import planned, write_trial

STEPS, BATCH = 60, 8
PROTOCOL = {"id": "test", "estimator": "rate(skip=10)"}
RUN = 'DLPERF 2026-01-01T00:00:00.000000Z run {"batch_size": 4, "gpus": 2, "steps": 60, "unit": "images/s"}\n'


def _line(step: int, seconds: float) -> str:
    whole = int(seconds)
    moment = f"2026-01-01T{whole // 3600 % 24:02}:{whole // 60 % 60:02}:{seconds % 60:09.6f}Z"
    return f"DLPERF {moment} step={step} samples={step * BATCH}\n"


def _measured(
    paths: TrialPaths, log_format: str = "dlperf", gpus: int = 2, unit: str = "images/s", **protocol: str
) -> TrialResult:
    item = replace(planned(gpus, protocol=PROTOCOL | protocol), format=log_format, unit=unit)
    if unit == "tokens/s":
        item = replace(item, configuration=replace(item.configuration, axes=(("sequence_length", 2048),)))
    return measure_trial(paths, item, TrialStatus(TrialKey(item.configuration.id, 1), State.SUCCEEDED))


def _trial(
    folder: Path, moved: float, interval: float, block: int, at: int = 30, until: int = STEPS + 1
) -> TrialResult:
    """A trial that prints a record every ``interval`` seconds, in blocks of bytes, whose clock is set at a step."""
    log, pending, rows, arrived = RUN, "", [f"0.000,{len(RUN)},out.log"], len(RUN)
    look = 0.0
    for step in range(1, STEPS + 1):
        now = step * interval
        pending += _line(step, 100 + now + (moved if at <= step < until else 0.0))
        if len(pending) >= block or step == STEPS:
            log, pending = log + pending, ""
        if now >= look and len(log) != arrived:
            look, arrived = now + 0.1, len(log)
            rows.append(f"{now + 0.03 * (step % 3):.3f},{arrived},out.log")
    rows.append(f"{STEPS * interval + 0.2:.3f},{len(log)},out.log")
    ended = {"duration_seconds": STEPS * interval + 0.5}
    table = "seconds,bytes,log\n" + "".join(f"{row}\n" for row in dict.fromkeys(rows))
    write_trial(TrialPaths(folder), {"n0/out.log": log, "n0/out.times": table, "n0/exit.json": json.dumps(ended)})
    return _measured(TrialPaths(folder))


def _codes(result: TrialResult) -> dict[str, str]:
    return {finding.code: finding.severity for finding in result.findings}


@pytest.mark.parametrize("interval", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("block", [1, 400, 4096])
def test_times_that_agree_with_the_arrival_of_lines_are_no_finding(tmp_path: Path, interval: float, block: int):
    result = _trial(tmp_path, 0.0, interval, block)
    assert result.value == pytest.approx(BATCH / interval, rel=0.01)
    assert "clock_moved" not in _codes(result)


@pytest.mark.parametrize(
    ("moved", "interval", "at"),
    [(3600.0, 0.05, 30), (3600.0, 1.0, 30), (0.6, 0.05, 30), (-0.5, 0.05, 30), (30.0, 1.0, 30), (0.6, 0.05, 12)],
)
def test_a_clock_that_was_set_by_much_gives_no_value(tmp_path: Path, moved: float, interval: float, at: int):
    result = _trial(tmp_path, moved, interval, 1, at)
    assert _codes(result)["clock_moved"] == "error"
    assert not result.usable


@pytest.mark.parametrize(("at", "until"), [(20, 40), (12, 14), (50, 60)])
def test_a_clock_that_was_set_and_set_back_gives_no_value(tmp_path: Path, at: int, until: int):
    """At the end of the window it is right again, but the time before it was set back counts."""
    result = _trial(tmp_path, 3600.0, 0.5, 1, at, until)
    assert _codes(result)["clock_moved"] == "error"
    assert not result.usable


@pytest.mark.parametrize(
    ("rate", "severity"),
    [
        (lambda step, seconds, moved: BATCH, "note"),
        (lambda step, seconds, moved: BATCH / (1 + (moved if step == 30 else 0.0)), "warning"),
        (lambda step, seconds, moved: BATCH * step / seconds, "error"),
    ],
    ids=["of a clock that was not set", "of one step alone", "since the start"],
)
def test_a_printed_rate_that_the_arrival_of_lines_contradicts_is_of_the_clock_that_was_set(tmp_path, rate, severity):
    log, rows = RUN, ["seconds,bytes,log"]
    for step in range(1, STEPS + 1):
        moved = 100.0 if step >= 30 else 0.0
        line = _line(step, 100 + step + moved)
        log += line.replace(line.split()[-1], f"throughput={rate(step, step + moved, moved):.4f}")
        rows.append(f"{step + 0.03 * (step % 3):.3f},{len(log)},out.log")
    write_trial(TrialPaths(tmp_path), {"n0/out.log": log, "n0/out.times": "\n".join(rows) + "\n"})
    result = _measured(TrialPaths(tmp_path), estimator="window(10, 60)")
    assert _codes(result)["clock_moved"] == severity
    assert result.usable is (severity != "error")


@pytest.mark.parametrize(("moved", "interval"), [(0.2, 0.05), (-0.2, 0.05), (2.0, 1.0), (50.0, 20.0)])
def test_a_clock_that_was_set_a_little_is_a_caveat(tmp_path: Path, moved: float, interval: float):
    result = _trial(tmp_path, moved, interval, 1)
    assert _codes(result)["clock_moved"] == "warning"
    assert result.usable


@pytest.mark.parametrize("moved", [3600.0, 2.0, -2.0])
def test_the_length_of_a_window_is_that_of_a_clock_that_was_not_set(tmp_path: Path, moved: float):
    right = _trial(tmp_path / "right", 0.0, 1.0, 1).window_seconds
    assert right == pytest.approx(50.0)
    assert _trial(tmp_path / "moved", moved, 1.0, 1).window_seconds == pytest.approx(right, abs=0.2)


def test_a_window_longer_than_its_trial_gives_no_value_though_nothing_is_known_of_arrivals(tmp_path: Path):
    _trial(tmp_path, 3600.0, 0.05, 1)
    (tmp_path / "nodes/n0/out.times").unlink()
    assert _codes(_measured(TrialPaths(tmp_path)))["clock_moved"] == "error"


@pytest.mark.parametrize(
    "content", ["", "garbage", "seconds,bytes,log\nx,y,out.log\n", "seconds,bytes,log\n1,9,out.log\n2,5,out.log\n"]
)
def test_a_record_of_arrivals_that_is_none_says_nothing(tmp_path: Path, content: str):
    _trial(tmp_path, 0.3, 0.05, 1)
    (tmp_path / "nodes/n0/out.times").write_text(content)
    assert "clock_moved" not in _codes(_measured(TrialPaths(tmp_path)))


TIMELESS = "iter {step} | step {step}: loss train: 1.0, val: n/a | iter time: 9.00 ms\n"


@pytest.mark.parametrize(
    ("interval", "block", "code"), [(0.5, 1, "timed_by_arrival"), (0.5, 600, "arrival_too_coarse")]
)
def test_a_log_without_times_is_measured_by_the_arrival_of_its_lines(tmp_path, interval, block, code):
    log, pending, rows = "", "", ["seconds,bytes,log"]
    for step in range(1, STEPS + 1):
        pending += TIMELESS.format(step=step)
        if len(pending) >= block or step == STEPS:
            log, pending = log + pending, ""
            rows.append(f"{step * interval + 0.03 * (step % 3):.3f},{len(log)},out.log")
    ended = {"duration_seconds": STEPS * interval, "started": "2026-01-01T00:00:00Z"}
    telemetry = ["time,gpu,power_watts", *(f"{1767225600 + moment},0,{300 + moment % 2}" for moment in range(30))]
    files = {
        "out.log": log,
        "out.times": "\n".join(rows),
        "exit.json": json.dumps(ended),
        "telemetry.csv": "\n".join(telemetry),
    }
    write_trial(TrialPaths(tmp_path), {f"n0/{name}": text for name, text in files.items()})
    result = _measured(TrialPaths(tmp_path), "litgpt")
    assert result.value == pytest.approx(BATCH / interval, rel=0.005 if block == 1 else 0.05)
    assert code in _codes(result)
    assert result.power_watts == pytest.approx(300.5, abs=0.1)


@pytest.mark.parametrize(("printed", "says"), [(500.0, False), (9.0, True)])
def test_a_printed_rate_of_a_log_without_times_is_held_against_the_arrival_of_its_lines(tmp_path, printed, says):
    log, rows = "", ["seconds,bytes,log"]
    for step in range(1, STEPS + 1):
        log += TIMELESS.replace("9.00", str(printed)).format(step=step)
        rows.append(f"{step * 0.5 + 0.03 * (step % 3):.3f},{len(log)},out.log")
    write_trial(TrialPaths(tmp_path), {"n0/out.log": log, "n0/out.times": "\n".join(rows) + "\n"})
    result = _measured(TrialPaths(tmp_path), "litgpt", estimator="window(10, 60)")
    assert result.value == pytest.approx(BATCH * 1000 / printed)
    assert ("printed_rate" in _codes(result)) is says


def _megatron(times: bool) -> str:
    clock = datetime(2026, 1, 1)
    return "".join(
        f" {f'[{clock + timedelta(seconds=step):%Y-%m-%d %H:%M:%S.%f}] ' if times else ''}"
        f"iteration {step:8}/      60 | "
        f"consumed samples: {step * BATCH:12} | elapsed time per iteration (ms): 1000.0 | "
        f"global batch size:     {BATCH} | lm loss: 1.0E+01 |\n"
        for step in range(1, STEPS + 1)
    )


@pytest.mark.parametrize("timed", [False, True])
def test_a_log_has_its_own_times_where_its_last_run_has_them(tmp_path: Path, timed: bool):
    log = _megatron(times=not timed) + _megatron(times=timed)
    write_trial(
        TrialPaths(tmp_path),
        {"n0/out.log": log, "n0/out.times": f"seconds,bytes,log\n1,{len(log) // 2},out.log\n2,{len(log)},out.log\n"},
    )
    evidence = gather(TrialPaths(tmp_path), replace(planned(protocol=PROTOCOL), format="megatron"), BUILTIN_FORMATS)
    assert len(evidence.runs) == 2
    assert evidence.has_own_times is timed


@pytest.mark.parametrize("moved", [0.0, 3600.0])
def test_a_real_supervisor_records_what_shows_a_clock_that_was_set(tmp_path: Path, moved: float):
    result = _supervised(tmp_path, moved=moved)
    assert ("clock_moved" in _codes(result)) is bool(moved)
    assert result.usable is not bool(moved)
    assert "halted" not in _codes(result)


SUSPENDED = """
    if step == 30:
        time.sleep(1.5)
        os.kill(os.getppid(), signal.SIGSTOP)
        time.sleep(3.0)
        os.kill(os.getppid(), signal.SIGCONT)
        time.sleep(0.3)
"""
"""A program that stops its supervisor and does nothing meanwhile, as if both were suspended."""


def test_a_trial_that_was_suspended_while_it_was_measured_is_disturbed(tmp_path: Path):
    result = _supervised(tmp_path, SUSPENDED, stall_seconds=3.0)
    assert _codes(result)["halted"] == "warning"
    halted = next(finding.message for finding in result.findings if finding.code == "halted")
    assert halted.parameters["seconds"] == pytest.approx(3.0, abs=1.2)
    assert disturbance(result.findings) == halted
    ended = json.loads((tmp_path / "trial/nodes/n0/exit.json").read_text())
    assert ended["state"] == "succeeded"


def test_a_halt_outside_the_measured_window_is_no_finding(tmp_path: Path):
    result = _supervised(tmp_path, SUSPENDED.replace("30", "2"), stall_seconds=3.0)
    assert result.value is not None
    assert "halted" not in _codes(result)


def _supervised(folder: Path, extra: str = "", moved: float = 0.0, stall_seconds: float = 60.0) -> TrialResult:
    """Measure a program under a real supervisor, whose clock is set at step 30."""
    program, node, script = folder / "supervisor.pyz", folder / "trial/nodes/n0", folder / "train.py"
    program.write_bytes(supervisor_archive())
    node.mkdir(parents=True)
    script.write_text(
        f"import os, signal, time, datetime\nprint({RUN!r}, end='', flush=True)\n"
        f"for step in range(1, {STEPS + 1}):\n"
        f"    time.sleep(0.05){extra}\n"
        f"    moment = datetime.datetime.utcfromtimestamp(time.time() + ({moved} if step >= 30 else 0.0))\n"
        f"    print(f'DLPERF {{moment.isoformat()}}Z step={{step}} samples={{step * {BATCH}}}', flush=True)\n"
    )
    job = {"mark": f"clock/{moved}", "command": [sys.executable, str(script)], "deadline_seconds": 60}
    job |= {"stall_seconds": stall_seconds, "container": None, "gpu_indices": []}
    (node / "job.json").write_text(json.dumps(job))
    subprocess.run([sys.executable, "-I", "-S", str(program), "run", str(node)], check=True, timeout=60)
    return _measured(TrialPaths(folder / "trial"))


AUTOMODEL = (
    "{:%Y-%m-%d %H:%M:%S} | INFO | root | step {} | epoch 0 | loss 5.7935 | grad_norm 1.0428 | lr 3.00e-04 | "
    "mem 20.78 GiB | tps 28523.64(28523.64/gpu) | num_label_tokens 8192\n"
)


@pytest.mark.parametrize(("every", "severity"), [(0.6, "warning"), (6.0, "note"), (30.0, None)])
def test_whole_seconds_in_a_short_window_are_a_caveat_of_a_value_by_time(tmp_path, every: float, severity: str):
    moments = (datetime(2026, 11, 27, 20, 45) + timedelta(seconds=step * every) for step in range(STEPS))
    write_trial(TrialPaths(tmp_path), {"n0/out.log": "".join(map(AUTOMODEL.format, moments, range(STEPS)))})
    by_time, printed = (
        _measured(TrialPaths(tmp_path), "nemo-automodel", gpus=1, unit="tokens/s", estimator=f"{rule}(skip=10)")
        for rule in ("rate", "tipc")
    )
    assert None not in (by_time.value, printed.value)
    assert _codes(by_time).get("coarse_clock") == severity
    assert "coarse_clock" not in _codes(printed)
    said = "the log's times are whole seconds: one is 3.3 % of the measured window of 30 s"
    assert (said in [str(finding.message) for finding in by_time.findings]) == (severity == "warning")
