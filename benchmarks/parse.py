"""How fast logs are parsed, beside ``grep -c`` and a straightforward loop over lines with one regular expression.

    PYTHONPATH=tui python benchmarks/parse.py [--size 1000] [--repeats 3] [--folder DIR]

Writes logs of ``--size`` megabytes, in which every tenth line or every line is a record, and reads each of them
``--repeats`` times, in a fresh process each time. Prints the medians as a Markdown table, and ends with exit code 1
where two readers do not count the same records. A figure of a machine that does other work at the time means nothing.
Memory grows with the records, by 72 bytes for each while it parses.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from dlperf.formats.registry import parser_for

READ_SIZE = 1 << 20
HEADER = """# How fast logs are parsed

Logs of {size} MB, {machine}; medians of {repeats} readings.
Measured: the command `dlperf parse LOG` from its start to its end: format found out, parsed, figure by all
estimators, findings. Loop: over the lines with one regular
expression, keeping one number of each record. Grep: `grep -c` of a text that all records hold.

| records in | records | parsed MB/s | measured MB/s | loop MB/s | grep MB/s | parsed to loop | parsed to grep | \
parsed peak MB | measured peak MB | loop peak MB |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"""
NOISE = (
    "I0727 12:48:30.482651  6042 eager_method.cc:140] Warning:: 0D Tensor cannot be used as 'Tensor.numpy()[0]' . "
    "In order to avoid this problem, 0D Tensor will be changed to 1D numpy currently: {}\n"
)


@dataclass(frozen=True)
class Shape:
    """A format to write logs in."""

    format: str
    line: str
    needle: str
    """What grep counts."""
    record: str
    """What the loop over lines searches for."""


SHAPES = (
    Shape(
        "paddleclas",
        "[2023/07/28 {hour:02}:{minute:02}:{second:02}] ppcls INFO: epoch:{epoch}   train step:{step} lr: 0.100000, "
        "loss:  {loss:.4f} top1:  0.0000 top5: -0.0156 batch_cost: {cost:.5f} s, reader_cost: {wait:.5f} s, "
        "ips: {rate:.5f} samples/sec.\n",
        " train step:",
        r"\[([\d/]+ [\d:]+)\] ppcls INFO: epoch:(\d+) +train step:(\d+) .*loss: +(\S+) .*batch_cost: ([\d.]+) s, "
        r"reader_cost: ([\d.]+) s, ips: ([\d.]+) samples",
    ),
    Shape(
        "dllogger",
        "DLL 2023-08-04 {hour:02}:{minute:02}:{second:02}.892809 - Epoch: {epoch} Iteration: {step}  train.loss : "
        "{loss:.5f} None train.compute_ips : {compute:.2f} images/s train.total_ips : {rate:.2f} images/s "
        "train.lr : 0.1  train.grad_scale : 1.00000 None\n",
        " Iteration: ",
        r"DLL ([\d-]+ [\d:.]+) - Epoch: (\d+) Iteration: (\d+)  train.loss : (\S+) .*train.total_ips : ([\d.]+)",
    ),
    Shape(
        "paddlenlp-bert",
        "total step: {step}, epoch: {epoch}, batch: {step}, loss: {loss:.6f}, avg_reader_cost: {wait:.5f} sec, "
        "avg_batch_cost: {cost:.5f} sec, avg_samples: 96.00000, ips: {rate:.5f} sequences/sec\n",
        "total step: ",
        r"total step: (\d+), epoch: (\d+), batch: \d+, loss: (\S+), avg_reader_cost: ([\d.]+) sec, "
        r"avg_batch_cost: ([\d.]+) sec, avg_samples: [\d.]+, ips: ([\d.]+) sequences",
    ),
)


@dataclass(frozen=True)
class Reading:
    """One reading of a log."""

    seconds: float
    peak_megabytes: float
    records: int


def main() -> int:
    arguments = _arguments()
    print(HEADER.format(size=arguments.size, repeats=arguments.repeats, machine=_machine()))
    agree = True
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for shape in SHAPES:
            for every in (10, 1):
                log = Path(folder) / "log"
                size = _write(log, shape, every, arguments.size * 1_000_000)
                agree &= _compare(f"{shape.format}, 1 line in {every}", log, size, shape, arguments.repeats)
    return 0 if agree else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", type=int, default=1000, help="megabytes of each log")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--folder", type=Path, help="where the logs are written; the system's temporary folder if absent"
    )
    return parser.parse_args()


def _compare(name: str, log: Path, size: int, shape: Shape, repeats: int) -> bool:
    """Print the row of one log; whether all readers count the same."""
    readings = [[_measured(reader, log, shape) for _ in range(repeats)] for reader in (_grep, _loop, _parse, _measure)]
    seconds = [statistics.median(reading.seconds for reading in each) for each in readings]
    grep, loop, parsed, measured = (size / median / 1e6 for median in seconds)
    _, *peaks = (max(reading.peak_megabytes for reading in each) for each in readings)
    loop_peak, parsed_peak, measured_peak = peaks
    counts = {reading.records for each in readings for reading in each}
    print(
        f"| {name} | {min(counts)} | {parsed:.0f} | {measured:.0f} | {loop:.0f} | {grep:.0f} "
        f"| {parsed / loop:.2f} | {parsed / grep:.2f} | {parsed_peak:.0f} | {measured_peak:.0f} | {loop_peak:.0f} |",
        flush=True,
    )
    return len(counts) == 1


def _machine() -> str:
    """Processor, cores, load and Python of this machine."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    processor = model[1] if model else platform.processor()
    load = os.getloadavg()[0]
    return f"{processor}, {os.cpu_count()} cores, load {load:.1f} at the start, Python {platform.python_version()}"


def _measured(reader: Callable[[Path, Shape], int], log: Path, shape: Shape) -> Reading:
    """Run a reader in its own process, so that its peak memory is its own."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_timed, (reader, log, shape))


def _timed(reader: Callable[[Path, Shape], int], log: Path, shape: Shape) -> Reading:
    start = time.perf_counter()
    records = reader(log, shape)
    seconds = time.perf_counter() - start
    who = resource.RUSAGE_CHILDREN if reader in (_grep, _measure) else resource.RUSAGE_SELF
    return Reading(seconds, resource.getrusage(who).ru_maxrss / 1000, records)


def _grep(log: Path, shape: Shape) -> int:
    result = subprocess.run(["grep", "-c", "--", shape.needle, str(log)], capture_output=True, text=True, check=True)
    return int(result.stdout)


def _loop(log: Path, shape: Shape) -> int:
    pattern = re.compile(shape.record)
    rows = []
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            match = pattern.search(line)
            if match:
                rows.append(float(match[match.lastindex or 0]))
    return len(rows)


def _parse(log: Path, shape: Shape) -> int:
    gc.set_threshold(100_000)
    parser = parser_for(shape.format)
    with log.open("rb") as stream:
        while data := stream.read(READ_SIZE):
            parser.feed(data)
    parser.finish()
    return sum(len(run.samples) for run in parser.runs)


def _measure(log: Path, shape: Shape) -> int:
    command = [sys.executable, "-m", "dlperf", "parse", str(log), "--gpus", "8", "--batch-size", "256", "--json"]
    (run,) = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return int(run["samples"])


def _write(log: Path, shape: Shape, every: int, size: int) -> int:
    """Write a log of about ``size`` bytes; the bytes written."""
    written = 0
    with log.open("w", encoding="ascii") as stream:
        for line in _lines(shape, every):
            written += stream.write(line)
            if written >= size:
                return written
    return written


def _lines(shape: Shape, every: int) -> Iterator[str]:
    number = 0
    while True:
        second = number // 3
        yield shape.line.format(
            hour=second // 3600 % 24,
            minute=second // 60 % 60,
            second=second % 60,
            epoch=number // 5000,
            step=number % 5000 + 1,
            loss=7.0 / (1 + number % 97),
            rate=390 + number % 13 * 0.37,
            compute=391 + number % 13 * 0.37,
            cost=0.64841 + number % 11 * 0.00123,
            wait=0.00067 + number % 7 * 0.00011,
        )
        for index in range(every - 1):
            yield NOISE.format(index)
        number += 1


if __name__ == "__main__":
    sys.exit(main())
