"""A campaign over 64 nodes for ten minutes, while processes are killed and files are spoiled by a seed.

    PYTHONPATH=tui:tests python benchmarks/chaos.py [--nodes 64] [--seconds 600] [--seed 1]

Each node is an OpenSSH server on 127.0.0.1 with a home of its own. Once a second something is killed with -9: every
session of a server, a server for up to five seconds, the engine (the next one is started by ``dlperf resume``), or a
supervisor; or files of a running trial become garbage, lists, FIFOs, links or unreadable, its log gets a line of 20
MB, ``~/.dlperf`` is removed, an agent answers garbage for a while, or a node dies and stays down; another machine
answers at the address of a node, with another key; a link carries nothing for a while; a disk takes no more files; the
lease is removed, or names a process that is none. The same seed gives the same faults. There are more trials than the
nodes can do in that time; when it is over, what is left is cancelled. At the end every trial is looked up on its node:
started once if at all, ended with a state that a fault or the cancelling explains, its archived log the same bytes
(where the node's was spoiled: without a gap), its seal whole; no wrong machine got anything; no engine ended
that was not killed; and no process or temporary folder is left. The aims: nothing wrong, the engine under one core and
300 MB.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from after_faults import examine
from faults import KILLS, OTHERS, TRUST, Chaos, schedule
from many_nodes import many_nodes

TRIAL_SECONDS = 20
DEADLINE_SECONDS = 150.0
"""Of a trial, so that one on a dead node ends within the ten minutes."""
FILES = 2000
"""That the disk of a node takes."""


def main() -> None:
    asked = arguments()
    repeats = math.ceil(asked.seconds / TRIAL_SECONDS) + 1  # on each node, one after the other: more than it can do
    with tempfile.TemporaryDirectory() as folder:
        here = many_nodes(Path(folder), asked.nodes, TRIAL_SECONDS, 1.0, DEADLINE_SECONDS, FILES)
        try:
            chaos = Chaos(here, schedule(asked.seed, asked.nodes, asked.seconds, asked.every, KILLS | OTHERS | TRUST))
            wall = chaos.run(repeats, patience=6 * asked.seconds + 300, seconds=asked.seconds)
            found, ended = examine(here, chaos.damage), chaos.engines_ended()
        finally:
            here.stop()
    counted = {name: len(value) if isinstance(value, list) else value for name, value in asdict(found).items()}
    cost = {"engine_cores": sum(chaos.meter.cpu.values()) / wall, "engine_peak_mb": chaos.meter.peak_kb / 1024}
    faults = {f"fault_{kind}": count for kind, count in sorted(chaos.done.items())}
    print(
        json.dumps(
            {
                "nodes": asked.nodes,
                "seed": asked.seed,
                "wall_s": wall,
                "faults_s": chaos.lasted,
                **faults,
                **counted,
                "spoiled": len(chaos.damage.spoiled),
                "engine_exits": len(ended),
                "unhealed": len(chaos.unhealed),
                **cost,
            }
        )
    )
    if not found.good or chaos.unhealed or ended:
        sys.exit(f"{found}\n{chaos.unhealed}\nengines that ended by themselves: {ended}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=600.0, help="for which something is killed")
    parser.add_argument("--every", type=float, default=1.0, help="seconds between two faults, on average")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
