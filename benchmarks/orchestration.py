"""What dlperf itself costs while trials run: time added to each trial, many nodes at once, lag of live logs.

    PYTHONPATH=tests python benchmarks/orchestration.py [overhead] [nodes] [tails]

Everything goes through a real OpenSSH server on 127.0.0.1 with OpenSSH's default limits. The aims: a no-op trial costs
at most 60 ms beside its command; 64 nodes are served by less than one core; 16 logs of 1000 lines/s each arrive
complete, half of the lines in less than 0.3 s. A figure of a machine that does other work at the time means nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shlex
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from dlperf.executors.base import Observation, Trial
from dlperf.executors.direct import DirectExecutor
from dlperf.plan import Launch, Node
from dlperf.runs.paths import TrialPaths
from dlperf.runs.records import State
from sshd import of_operator, prepare

POLL_SECONDS = 0.05
TAIL_SECONDS = 0.1


def main() -> None:
    asked = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        server = prepare(Path(folder) / "sshd")
        os.environ |= of_operator(server.operator)
        os.environ.pop("SSH_AUTH_SOCK", None)
        server.start()
        try:
            for name in asked:
                print(json.dumps({"benchmark": name, **asyncio.run(BENCHMARKS[name](Path(folder)))}))
        finally:
            server.stop()


async def overhead(folder: Path, count: int = 100) -> dict[str, float]:
    """No-op trials one after the other on one node: submit, poll, tail, collect."""
    node = Node("alpha", "ssh", "node-a", "127.0.0.1")
    executor = DirectExecutor()
    await _run(executor, _trial(folder, "warm", ":", (node,)))
    seconds = [await _timed(_run(executor, _trial(folder, f"noop{i}", ":", (node,)))) for i in range(count)]
    await executor.close()
    command = await _timed(_plain_command())
    added = [value - command for value in seconds]
    return {"trials": count, "command_s": command, "median_s": statistics.median(added), "worst_s": max(added)}


async def nodes(folder: Path, count: int = 64) -> dict[str, float]:
    """A trial on many nodes at once, each over a connection of its own; processor time is this process's."""
    plans = tuple(Node(f"n{index}", "ssh", f"node-{index}", "127.0.0.1") for index in range(count))
    executor = DirectExecutor()
    script = "i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo step $i; sleep 0.1; done"
    trial = _trial(folder, "many", script, plans)
    connect = await _timed(executor.submit(trial))
    started, processor = time.monotonic(), time.process_time()
    observation = await _until_finished(executor, trial)
    wall, used = time.monotonic() - started, time.process_time() - processor
    await executor.collect(trial)
    await executor.close()
    assert observation.state is State.SUCCEEDED, observation
    complete = sum(trial.paths.node(plan.name).log.read_bytes().count(b"\n") == 100 for plan in plans)
    return {"nodes": count, "submit_s": connect, "wall_s": wall, "cores": used / wall, "complete": complete}


async def tails(folder: Path, count: int = 16, rate: int = 1000, seconds: int = 10) -> dict[str, float]:
    """Logs that grow fast: lag is from the time that a line tells to the time when it is in the archive."""
    plans = tuple(Node(f"t{index}", "ssh", f"node-{index}", "127.0.0.1") for index in range(count))
    executor = DirectExecutor()
    trial = _trial(folder, "tails", shlex.join(["exec", sys.executable, "-c", _WRITER, str(rate), str(seconds)]), plans)
    await executor.submit(trial)
    lags: list[float] = []
    seen = dict.fromkeys((plan.name for plan in plans), 0)
    started, processor = time.monotonic(), time.process_time()
    while not (await executor.poll([trial]))[0].state.finished:
        await executor.tail([trial])
        lags += [lag for plan in plans for lag in _new_lags(trial, plan.name, seen)]
        await asyncio.sleep(TAIL_SECONDS)
    used = (time.process_time() - processor) / (time.monotonic() - started)
    await executor.collect(trial)
    await executor.close()
    lines = sum(trial.paths.node(plan.name).log.read_bytes().count(b"\n") for plan in plans)
    return {
        "tails": count,
        "lines": lines,
        "expected": count * rate * seconds,
        "median_lag_s": statistics.median(lags),
        "p99_lag_s": statistics.quantiles(lags, n=100)[98],
        "cores": used,
    }


_WRITER = (
    "import sys,time\n"
    "rate,seconds=int(sys.argv[1]),int(sys.argv[2])\n"
    "start=time.monotonic()\n"
    "for i in range(seconds*100):\n"
    "    time.sleep(max(0,start+i/100-time.monotonic()))\n"
    "    sys.stdout.write(''.join('%.6f %080d\\n'%(time.time(),i) for _ in range(rate//100)));sys.stdout.flush()\n"
)


def _new_lags(trial: Trial, node: str, seen: dict[str, int]) -> list[float]:
    """The lag of every line that is new in a node's archived log."""
    path = trial.paths.node(node).log
    if not path.is_file():
        return []
    with path.open("rb") as stream:
        stream.seek(seen[node])
        data = stream.read()
    whole = data[: data.rfind(b"\n") + 1]
    seen[node] += len(whole)
    now = time.time()
    return [now - float(line.split(b" ", 1)[0]) for line in whole.splitlines()]


def _trial(folder: Path, name: str, script: str, plans: tuple[Node, ...]) -> Trial:
    launch = Launch("direct", plans, 1, "plain", (), ("sh", "-c", script))
    return Trial(f"benchmark-{time.time_ns()}.{name}", launch, TrialPaths(folder / "runs" / name))


async def _run(executor: DirectExecutor, trial: Trial) -> None:
    await executor.submit(trial)
    observation = await _until_finished(executor, trial)
    await executor.collect(trial)
    assert observation.state is State.SUCCEEDED, observation


async def _until_finished(executor: DirectExecutor, trial: Trial) -> Observation:
    while True:
        (observation,) = await executor.poll([trial])
        if observation.state.finished:
            return observation
        await executor.tail([trial])
        await executor.wait([trial], POLL_SECONDS)


async def _plain_command() -> None:
    process = await asyncio.create_subprocess_exec("sh", "-c", ":")
    await process.wait()


async def _timed(task: Awaitable[object]) -> float:
    started = time.monotonic()
    await task
    return time.monotonic() - started


BENCHMARKS: dict[str, Callable[[Path], Awaitable[dict[str, float]]]] = {
    "overhead": overhead,
    "nodes": nodes,
    "tails": tails,
}


def _arguments() -> list[str]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmarks", nargs="*", choices=[*BENCHMARKS, []], help="all of them if none is named")
    return parser.parse_args().benchmarks or list(BENCHMARKS)


if __name__ == "__main__":
    main()
