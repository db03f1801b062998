"""What launchers and loggers put before lines changes no value, and is kept as rank and time."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite, isnan

import pytest
from fixtures import LOGS, name
from hypothesis import given, settings
from hypothesis import strategies as st

from dlperf.formats.registry import parser_for, recognise
from dlperf.formats.samples import Run
from dlperf.measured.throughput.figure import figure_of
from dlperf.measured.throughput.reading import NotEstimable, Reading


def clock(number: int) -> str:
    return f"{number // 60 % 60:02}:{number % 60:02}"


WRAPPERS: dict[str, Callable[[int], str]] = {
    "srun --label": lambda number: "0: ",
    "torchrun --tee": lambda number: "[default0]:",
    "stern": lambda number: "train-7d9f8-x2x4z main ",
    "docker compose": lambda number: "trainer-1  | ",
    "kubectl": lambda number: f"2026-03-01T10:{clock(number)}.123456789Z ",
    "container runtime": lambda number: f"2026-03-01T10:{clock(number)}.123456789+00:00 stdout F ",
    "MPICH": lambda number: "[0] ",
    "Ray on nodes": lambda number: "(TrainWorker pid=4242, ip=10.0.0.7) ",
    "ts": lambda number: f"Nov 27 06:{clock(number)} ",
    "pdsh": lambda number: "node01: ",
    "indentation": lambda number: "    ",
    "a tab": lambda number: "\t",
    "torchrun twice": lambda number: "[default0]:[rank0]: ",
    "ts and srun": lambda number: f"Nov 27 06:{clock(number)} 3: ",
}
LONG_LINES = ("detectron2/terminal", "megatron/with-times")
LONG = [log for log in LOGS if log.read_bytes().count(b"\n") > 1]


def wrapped(data: bytes, wrapper: str) -> bytes:
    lines = data.split(b"\n")
    return b"\n".join(WRAPPERS[wrapper](number).encode() + line if line else b"" for number, line in enumerate(lines))


def runs(data: bytes, cut: int = 0) -> list[Run]:
    found = recognise(data)
    assert found is not None
    parser = parser_for(found.format_id, wrapping=found.wrapping)
    parser.feed(data[:cut])
    parser.feed(data[cut:])
    parser.finish()
    return parser.runs


def described(found: list[Run]) -> list[object]:
    return [
        (run.format, value(run), len(run.samples), run.metadata.batch_size, run.metadata.precision) for run in found
    ]


def value(run: Run) -> float | None:
    try:
        return round(figure_of(Reading(run, gpus=8, batch_size=4)).value, 6)
    except NotEstimable:
        return None


@pytest.mark.parametrize("log", LONG, ids=name)
def test_a_log_behind_a_prefix_gives_the_same_value(log):
    data = log.read_bytes()
    plain = described(runs(data))
    assert [wrapper for wrapper in WRAPPERS if described(runs(wrapped(data, wrapper))) != plain] == []


@given(log=st.sampled_from(LONG), wrapper=st.sampled_from(list(WRAPPERS)), cut=st.integers(0, 4000))
@settings(max_examples=100)
def test_a_log_behind_a_prefix_gives_the_same_in_any_chunking(log, wrapper, cut):
    data = wrapped(log.read_bytes(), wrapper)
    assert described(runs(data, cut)) == described(runs(data))


STEPS = [f"step {step:5d} | loss: 7.04 | lr 8e-05 | norm: 1.1 | dt: 500.00ms | tok/sec: 1000.00" for step in range(9)]


def test_one_record_of_each_step_counts_and_the_ranks_are_the_gpus():
    text = "".join(f"{rank}: {line}\n" for line in STEPS for rank in range(4))
    (run,) = runs(text.encode())
    assert (len(run.samples), run.metadata.gpus) == (9, 4)


@pytest.mark.parametrize(
    ("prefixes", "records", "gpus"),
    [
        (["[1,0]<stdout>:", "[1,1]<stdout>:", "[1,2]<stderr>:"], 9, 3),
        (["[0]<stdout>:", "[1]<stdout>:"], 9, 2),
        (["trainer-1  | ", "trainer-2  | "], 9, None),
        (["train-1  | ", "finetune-1  | "], 18, None),
        (["(TrainWorker pid=42, ip=10.0.0.1) ", "(TrainWorker pid=43, ip=10.0.0.2) "], 9, None),
        (["[pod/train-master-0/pytorch] ", "[pod/train-worker-0/pytorch] "], 9, None),
        (["node01: ", "node02: "], 9, None),
        (["node01: [default0]:", "node01: [default1]:", "node02: [default0]:", "node02: [default1]:"], 9, 4),
        (["0: [rank0]:", "0: [rank1]:", "1: [rank2]:", "1: [rank3]:"], 9, 4),
        (["[default0]:", "[default1]:", "[default0]:", "[default1]:"], 10, None),
    ],
)
def test_records_of_a_step_count_once_and_ranks_only_where_each_prints_once(prefixes, records, gpus):
    (run,) = runs("".join(prefix + line + "\n" for line in STEPS for prefix in prefixes).encode())
    assert (len(run.samples), run.metadata.gpus) == (records, gpus)


@pytest.mark.parametrize(
    ("prefixes", "gpus"),
    [
        (["train-7d9f8-x2x4z main ", "train-7d9f8-b7q9d main "], None),
        (["[trainer 0] ", "[trainer 1] "], None),
        (["[0] ", "[1] "], 2),
        (["rank 0: ", "rank 1: "], 2),
        (["[node01] [INFO] "], None),
    ],
)
def test_words_before_every_line_are_taken_off_where_no_format_reads_them(prefixes, gpus):
    (run,) = runs("".join(prefix + line + "\n" for line in STEPS for prefix in prefixes).encode())
    assert (len(run.samples), value(run), run.metadata.gpus) == (9, 1000.0, gpus)


def test_words_that_say_what_a_record_is_are_no_prefix():
    assert recognise("".join(f"eval {line}\n" for line in STEPS).encode()) is None


def test_steps_of_each_epoch_go_on_for_each_rank():
    line = "[1,{1}]<stdout>:Epoch[{0}] Batch [20]\tSpeed: 2300.5 samples/sec\n"
    (run,) = runs("".join(line.format(epoch, rank) for epoch in range(9) for rank in range(2)).encode())
    assert (len(run.samples), run.metadata.gpus) == (9, 2)


@pytest.mark.parametrize(
    "prefix",
    [
        "[1,mpirank:0,algo-1]<stdout>:",
        "[pod/train-0/trainer] ",
        "[2026-03-28, 10:00:00 UTC] {subprocess.py:93} INFO - ",
        "2026-03-28T10:00:00.123456Z 00O ",
        "2026-03-28T10:00:00+0000 ",
        "[prterun-node01-4242@1,0]<stdout>: ",
        "(task, pid=3721) ",
        "(worker1, rank=1, pid=3721, ip=10.0.0.2) ",
    ],
)
def test_prefixes_of_services_are_taken_off(prefix):
    (run,) = runs("".join(f"{prefix}{line}\n" for line in STEPS).encode())
    assert (len(run.samples), value(run)) == (9, 1000.0)


@pytest.mark.parametrize("prefix", ["[2026-03-28 10:00:00] ", "2026-03-28T10:00:00+0000 "])
def test_a_time_before_the_time_of_the_program_is_taken_off(prefix):
    line = "[titan] 2026-03-28 10:00:0{0},000 - root - INFO - step: {0} loss: 7.9 memory: 30.0GiB(37%) tps: 4,096\n"
    (run,) = runs("".join(prefix + line.format(step) for step in range(9)).encode())
    assert (run.format, len(run.samples), run.samples.time[8] - run.samples.time[0]) == ("torchtitan", 9, 8.0)


def test_the_time_of_an_arrival_is_kept_and_does_not_replace_a_printed_rate():
    text = "".join(f"2026-03-01T10:00:{5 * step:02}.500000000Z {line}\n" for step, line in enumerate(STEPS))
    (run,) = runs(text.encode())
    assert run.timed_on_arrival
    assert run.samples.time[1] - run.samples.time[0] == pytest.approx(5.0)
    assert value(run) == 1000.0


@pytest.mark.parametrize(
    "prefix",
    [
        "2024-06-14 21:07:{:02},004 train.py ",
        "2024-06-14 21:07:{:02} | INFO     | __main__:main:12 - ",
        "[2024-06-14 21:07:{:02},004][__main__][INFO] - ",
        "I0614 21:07:{:02}.004000 140494 train.py:265] ",
    ],
)
def test_the_time_of_a_logger_is_the_programs_own(prefix):
    (run,) = runs("".join(prefix.format(step) + line + "\n" for step, line in enumerate(STEPS)).encode())
    assert not run.timed_on_arrival
    assert run.samples.time[1] - run.samples.time[0] == 1.0


def test_a_level_and_a_name_alone_have_no_time():
    (run,) = runs("".join(f"INFO:root:{line}\n" for line in STEPS).encode())
    assert all(map(isnan, run.samples.time))
    assert all(map(isfinite, run.samples.value))


@pytest.mark.parametrize("prefix", ["", "0: ", "[1,0]<stdout>:"])
def test_the_time_of_a_logger_is_read_by_formats_that_have_none_of_their_own(prefix):
    record = "a process   0 step {:8}] Average step time: 1.0 seconds"
    line = prefix + "I1127 03:08:{:02}.498354 140 trainer.py:420] " + record + "\n"
    (run,) = runs("".join(line.format(step, step) for step in range(5)).encode())
    assert run.samples.time[4] - run.samples.time[0] == 4.0


@pytest.mark.parametrize("width", [72, 80, 132])
@pytest.mark.parametrize(
    "log", [log for log in LOGS if name(log) in ("detectron2/terminal", "megatron/with-times")], ids=name
)
def test_lines_that_a_terminal_cut_are_joined(log, width):
    plain = re.sub(rb"\x1b\[\d+m", b"", log.read_bytes())
    cut = [line[start : start + width] for line in plain.split(b"\n") for start in range(0, len(line) or 1, width)]
    assert described(runs(b"\n".join(cut))) == described(runs(plain))


def test_lines_that_a_terminal_cut_are_joined_among_six_times_as_many_others():
    (log,) = (log for log in LOGS if name(log) == "detectron2/terminal")
    plain = re.sub(rb"\x1b\[\d+m", b"", log.read_bytes())
    cut = [line[start : start + 80] for line in plain.split(b"\n") for start in range(0, len(line) or 1, 80)]
    others = [b"UserWarning: a tensor is copied"] * (6 * sum(len(line) == 80 for line in cut))
    assert described(runs(b"\n".join(cut + others))) == described(runs(plain))
