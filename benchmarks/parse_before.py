"""What reading a log costs, beside an earlier commit: processor time, in turns.

    git worktree add --detach /tmp/before COMMIT
    python benchmarks/parse_before.py /tmp/before/tui LOG… [--rounds 7]

Each round reads each log once with either, in a fresh process each time, after a first reading that fills caches of
expressions. Prints the median of the ratios of the rounds, now over before: under 1 is faster.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

READ = """
import sys, time
from pathlib import Path
try:
    from dlperf.evidence.logs import LogReader
except ImportError:
    from dlperf.results.logs import LogReader
log, times = Path(sys.argv[1]), int(sys.argv[2])
LogReader().read(log)
start = time.process_time()
for _ in range(times):
    LogReader().read(log)
print((time.process_time() - start) / times)
"""
NOW = Path(__file__).parents[1] / "tui"
LARGE = 50_000_000
"""Bytes from which on a log is read once in a process."""


def seconds(tui: Path, log: Path) -> float:
    times = 1 if log.stat().st_size > LARGE else 5
    command = (sys.executable, "-c", READ, str(log), str(times))
    environment = {**os.environ, "PYTHONPATH": str(tui)}
    return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before", type=Path, help="the folder tui of the earlier commit")
    parser.add_argument("logs", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    print("| log | MB | before, s | now, s | now / before |\n|---|--:|--:|--:|--:|")
    for log in arguments.logs:
        pairs = [(seconds(arguments.before, log), seconds(NOW, log)) for _ in range(arguments.rounds)]
        before, now = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(after / earlier for earlier, after in pairs)
        megabytes = log.stat().st_size / 1e6
        print(f"| {log.name} | {megabytes:.1f} | {before:.3f} | {now:.3f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
