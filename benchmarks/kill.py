"""Whether an ended trial leaves anything behind: processes of its own, or memory on a GPU.

    python benchmarks/kill.py [--rounds 3] [--hardware H --framework F --case C --precision P --batch-size B --gpus G]

Each round starts a trial, waits for its first log line of training, and ends it: by ``dlperf cancel``, and by SIGKILL
to its supervisor, which then cannot clean up itself. Afterwards no process may carry the trial's mark and, where there
is nvidia-smi, none may be on a GPU that was not there before, and no GPU may hold more memory than before. Exit code 1
where something is left. One node of this machine; nothing else may use its GPUs meanwhile.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from selection import Bench, arguments, bench

SLACK_MIB = 16
"""What the driver itself may keep or free between two readings."""


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--patience", type=float, default=60.0, help="seconds until everything must be gone")
    asked = parser.parse_args()
    outcomes = []
    with bench(asked) as ready:
        for number in range(asked.rounds):
            for how, end in (("cancel", cancel), ("kill", kill_supervisor)):
                outcome = tried(ready, f"{how}-{number}", end, asked.patience)
                outcomes.append(outcome)
                print(json.dumps({"round": number, "how": how, **outcome}), flush=True)
    if any(outcome["left"] for outcome in outcomes):
        raise SystemExit(1)


def tried(ready: Bench, name: str, end: Callable[[Bench, str], None], patience: float) -> dict[str, object]:
    """Start a trial, end it, and say what is left and how long the rest took to go."""
    before = on_gpus()
    engine = ready.start(name)
    await_training(ready, name, patience)
    running = len(marked(name))
    begun = time.monotonic()
    end(ready, name)
    left = leftovers(name, before)
    while left and time.monotonic() - begun < patience:
        time.sleep(0.1)
        left = leftovers(name, before)
    seconds = time.monotonic() - begun
    ready.dlperf("cancel", name, check=False)  # a lost trial is begun anew, which is of no interest here
    engine.wait()
    return {"processes": running, "gone_after_s": round(seconds, 2), "left": left}


def await_training(ready: Bench, name: str, patience: float) -> None:
    """Until the trial has logged a step."""
    deadline = time.monotonic() + 10 * patience  # compilers take their time
    while time.monotonic() < deadline:
        logs = (ready.folder / "runs" / name).glob("*/1/nodes/*/out.log")
        if any(b" step=" in log.read_bytes() for log in logs):
            return
        time.sleep(0.02)
    raise SystemExit(f"{name} logged no step")


def cancel(ready: Bench, name: str) -> None:
    ready.dlperf("cancel", name)


def kill_supervisor(ready: Bench, name: str) -> None:
    """SIGKILL to the supervisor and to nothing else."""
    (record,) = (ready.folder / ".dlperf").glob(f"{name}-*/*/supervisor.json")
    os.kill(json.loads(record.read_text())["pid"], signal.SIGKILL)


def marked(name: str) -> list[int]:
    """The processes whose environment carries the mark of the first trial of this campaign."""
    mark = re.compile(rb"DLPERF_TRIAL=" + re.escape(name.encode()) + rb"-[^/]*\.1/")
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                variables = (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if any(map(mark.match, variables)):
                found.append(int(folder.name))
    return found


def on_gpus() -> tuple[set[str], list[int]]:
    """The processes that compute on GPUs, and the MiB in use on each; nothing where there is no nvidia-smi."""
    if shutil.which("nvidia-smi") is None:
        return set(), []
    processes = _smi("--query-compute-apps=pid")
    return set(processes), [int(memory) for memory in _smi("--query-gpu=memory.used")]


def _smi(query: str) -> list[str]:
    command = ["nvidia-smi", query, "--format=csv,noheader,nounits"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def leftovers(name: str, before: tuple[set[str], list[int]]) -> list[str]:
    """In words, everything of a trial that is still there."""
    processes, memory = on_gpus()
    left = [f"process {pid}" for pid in marked(name)]
    left += [f"process {pid} on a GPU" for pid in sorted(processes - before[0])]
    return left + [
        f"{now - earlier} MiB on GPU {index}"
        for index, (now, earlier) in enumerate(zip(memory, before[1], strict=True))
        if now > earlier + SLACK_MIB
    ]


if __name__ == "__main__":
    main()
