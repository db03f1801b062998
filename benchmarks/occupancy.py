"""How busy a campaign of many short trials keeps its machines.

    PYTHONPATH=tui:tests python benchmarks/occupancy.py [--trials 200] [--nodes 4] [--seconds 10]

``dlperf run`` drives the trials over as many nodes, each behind a real OpenSSH server on 127.0.0.1. A node is busy
while a payload runs there, by its ``exit.json``; the share is of the time from the first payload's start to the last
one's end on that node, so that every check, start, collection and archive counts as idle. The protocol asks for no
pause between trials. The aim: every node busy for at least 95 % of the time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from datetime import datetime
from pathlib import Path

from dlperf.runs.archive import TrialFiles
from dlperf.runs.journal import campaign_status
from dlperf.runs.records import State
from many_nodes import ManyNodes, many_nodes

STEPS = 20
"""Records that a trial prints."""


def main() -> None:
    asked = arguments()
    with tempfile.TemporaryDirectory() as folder:
        here = many_nodes(Path(folder), asked.nodes, STEPS, asked.seconds / STEPS)
        try:
            print(json.dumps(measure(here, asked.trials // asked.nodes)))
        finally:
            here.stop()


def measure(here: ManyNodes, repeats: int) -> dict[str, object]:
    hardware = ",".join(f"m{number}" for number in range(len(here.servers)))
    started = time.monotonic()
    engine = subprocess.Popen(
        here.command(*here.run_words(repeats), "-H", hardware), env=here.environment, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(engine.pid, 0)
    wall = time.monotonic() - started
    shares = busy_shares(here)
    trials = campaign_status(here.paths).trials.values()
    return {
        "nodes": len(here.servers),
        "trials": len(trials),
        "succeeded": sum(trial.state is State.SUCCEEDED for trial in trials),
        "exit_code": os.waitstatus_to_exitcode(status),
        "wall_s": wall,
        "least_busy_share": min(shares),
        "mean_busy_share": sum(shares) / len(shares),
        "engine_cores": (used.ru_utime + used.ru_stime) / wall,
        "engine_peak_mb": used.ru_maxrss / 1024,
        "load_at_end": os.getloadavg()[0],
    }


def busy_shares(here: ManyNodes) -> list[float]:
    """For each node: time with a payload over the time from its first payload to its last one's end."""
    shares = []
    for number in range(len(here.servers)):
        trials = map(here.paths.trial, campaign_status(here.paths).trials)
        exits = ((TrialFiles(paths), paths.node(f"m{number}").exit) for paths in trials)
        ends = [json.loads(files.read(path)) for files, path in exits if files.has(path)]
        busy = sum(end["duration_seconds"] for end in ends)
        first = min(datetime.fromisoformat(end["started"]) for end in ends)
        last = max(datetime.fromisoformat(end["ended"]) for end in ends)
        shares.append(busy / (last - first).total_seconds())
    return shares


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=10.0, help="that a payload takes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
