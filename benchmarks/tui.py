"""How the terminal UI bears what it is used for: first picture, a burst into the log, many trials, idling, large logs.

    PYTHONPATH=tui:tests python benchmarks/tui.py [paint] [keys] [burst] [trials] [idle] [machines] [large]
                                                  [--peers DIR] [--size 2000]

Each runs the real program in a terminal of 120×40. The aims: a first picture of a workspace of 100 campaigns within
0.35 s, beside `posting` and `harlequin` started the same way (from virtual environments that are made in ``--peers`` if
they are not there); any key answered within 50 ms on every screen, also on the first visit; with 100 000 lines/s
written into the log in view, a key answered within 50 ms in 99 of 100 cases, memory bounded; 256 trials that change
five times a second for less than half a core; idling for less than 0.7 % of a core; machines with 64 nodes for less
than 1 %; a log of 2 GB open, and shown at its end, at once. A figure of a machine that does other work means little.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from terminal import Terminal, children_of, cpu_seconds_of

from app.builder import (
    POINTS,
    CampaignBuilder,
    engine_of,
    finished_campaign,
    large_campaign,
    make_workspace,
    planned,
    training_log,
)
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import State, TrialProgress

OURS = [sys.executable, "-c", "from dlperf.app import main; main()"]
PEERS = {"posting": ["posting", "tree-sitter<0.26"], "harlequin": ["harlequin"]}
"""What is installed for each; the newest tree-sitter crashes posting at its first picture."""
ROUNDS = 5
LINES_PER_SECOND = 100_000
BURST_SECONDS = 10
TRIALS, UPDATES_PER_SECOND = 256, 5
NODES = 64
WATCHED_SECONDS, SETTLED_SECONDS = 30.0, 6.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all if absent")
    parser.add_argument("--peers", type=Path, default=Path(tempfile.gettempdir()) / "dlperf-benchmark-peers")
    parser.add_argument("--size", type=int, default=2000, help="megabytes of the large log")
    options = parser.parse_args()
    for name in options.names or BENCHMARKS:
        with tempfile.TemporaryDirectory() as folder:
            found = BENCHMARKS[name](make_workspace(Path(folder)), options)
        print(json.dumps({"benchmark": name} | found), flush=True)


@contextmanager
def program(workspace: WorkspacePaths, *keys: str, command: list[str] = OURS) -> Iterator[Terminal]:
    """The program with a picture, and these keys pressed."""
    terminal = Terminal(command, workspace.root)
    try:
        terminal.seconds_to_picture()
        for key in keys:
            terminal.rest(0.5)
            terminal.press(key)
        yield terminal
    finally:
        terminal.close()


# --------------------------------------------------------------------------------------------------------------- paint


def paint(workspace: WorkspacePaths, options: argparse.Namespace) -> dict[str, object]:
    """The first picture of a workspace of 100 campaigns, beside peers, started in turns."""
    for day in range(100):
        finished_campaign(workspace, f"nightly-{day:03}", day=day)
    programs = {"dlperf": OURS} | {name: [str(peer(options.peers, name)), *arguments(name)] for name in PEERS}
    started: dict[str, list[tuple[float, float]]] = {name: [] for name in programs}
    for _, (name, command) in itertools.product(range(ROUNDS + 1), programs.items()):
        terminal = Terminal(command, workspace.root)
        started[name].append((terminal.seconds_to_picture(), terminal.cpu_seconds()))
        terminal.close()
    found: dict[str, object] = {}
    for name, each in started.items():
        wall, processor = zip(*each[1:], strict=True)
        found |= {f"{name} s": statistics.median(wall), f"{name} processor s": statistics.median(processor)}
    return found


def peer(folder: Path, name: str) -> Path:
    """A peer's program, installed where it is not there yet."""
    path = folder / name / "bin" / name
    if not path.exists():
        venv.create(folder / name, with_pip=True)
        subprocess.run([path.with_name("pip"), "install", "-q", *PEERS[name]], check=True)
    return path


def arguments(name: str) -> list[str]:
    return ["--no-download-tzdata", ":memory:"] if name == "harlequin" else []


# ---------------------------------------------------------------------------------------------------------------- keys


def keys(workspace: WorkspacePaths, options: argparse.Namespace) -> dict[str, object]:
    """Milliseconds from a key to what only its answer shows, and processor time; screens on their first visit."""
    for day in range(20):
        finished_campaign(workspace, f"nightly-{day:03}", day=day)
    answers = {"2": "Precision", "3": "Trials", "4": "Results: ", "5": "Build output", "3\r": "Environment"}
    found: dict[str, object] = {}
    with program(workspace) as terminal:
        terminal.rest(5)
        for pressed, text in answers.items():
            for key in pressed[:-1]:
                terminal.press(key)
                terminal.rest(1)
            cpu = terminal.cpu_seconds()
            terminal.press(pressed[-1])
            found[f"{text.strip()} ms"] = terminal.seconds_until(text) * 1000
            terminal.rest(1)
            found[f"{text.strip()} processor ms"] = (terminal.cpu_seconds() - cpu) * 1000
    return found


# --------------------------------------------------------------------------------------------------------------- burst


def running_trial(workspace: WorkspacePaths) -> tuple[CampaignBuilder, Path]:
    """A campaign of one trial that runs, and its log."""
    builder = CampaignBuilder(workspace, "one", [planned(POINTS[0], 1)])
    builder.state(builder.trials[0], State.RUNNING, 1)
    return builder, builder.log(builder.trials[0], training_log(1000.0, 20))


def write_burst(log: Path, seconds: float) -> None:
    """Write ``LINES_PER_SECOND`` lines a second, a hundredth of them every hundredth of a second."""
    start, batch = time.perf_counter(), LINES_PER_SECOND // 100
    with log.open("a") as stream:
        for tick in range(round(seconds * 100)):
            first = tick * batch
            stream.write("".join(f"step {first + index} of the burst {'.' * 80}\n" for index in range(batch)))
            stream.flush()
            time.sleep(max(0.0, start + (tick + 1) / 100 - time.perf_counter()))


def burst(workspace: WorkspacePaths, options: argparse.Namespace) -> dict[str, object]:
    """Keys typed while the log in view bursts; each letter typed is one that nothing else writes."""
    builder, log = running_trial(workspace)
    with engine_of(builder.paths), program(workspace, "3") as terminal:
        terminal.seconds_until("step=20")
        terminal.rest(1)
        before = terminal.megabytes()
        writer = multiprocessing.get_context("spawn").Process(target=write_burst, args=(log, BURST_SECONDS))
        writer.start()
        terminal.seconds_until("of the burst")
        cpu, start = terminal.cpu_seconds(), time.perf_counter()
        seconds = list(typed_while(terminal, writer.is_alive))
        cores = (terminal.cpu_seconds() - cpu) / (time.perf_counter() - start)
        writer.join()
        terminal.rest(1)
        after = terminal.megabytes()
        last = LINES_PER_SECOND * BURST_SECONDS - 1
        return {
            "keys": len(seconds),
            "median ms": statistics.median(seconds) * 1000,
            "p99 ms": statistics.quantiles(seconds, n=100)[98] * 1000,
            "cores": cores,
            "memory before MB": before,
            "memory after MB": after,
            "lines in the file": log.read_bytes().count(b" of the burst"),
            "last line shown": f"step {last} of".encode() in terminal.written,
        }


def typed_while(terminal: Terminal, goes_on: Callable[[], bool]) -> Iterator[float]:
    """Seconds until each letter typed into the filter is seen."""
    for number in itertools.count():
        if not goes_on():
            return
        if number % 30 == 0:
            if number:  # closes the filter; without one it would leave the screen
                terminal.press("\x1b")
                terminal.rest(0.3)
            terminal.press("/")
            terminal.rest(0.3)
        letter = chr(0x4E00 + number)
        terminal.press(letter)
        yield terminal.seconds_until(letter)
        terminal.rest(0.02)


# -------------------------------------------------------------------------------------------------------------- trials


def trials(workspace: WorkspacePaths, options: argparse.Namespace) -> dict[str, object]:
    """Trials that all run, their progress written anew several times a second."""
    builder = large_campaign(workspace, TRIALS, 1, running=TRIALS)
    for key in builder.trials:
        builder.log(key, training_log(1000.0, 20))
    with engine_of(builder.paths), program(workspace, "3") as terminal:
        terminal.seconds_until("bs1 ")
        updates = multiprocessing.get_context("fork").Process(target=update, args=(builder, WATCHED_SECONDS + 3))
        updates.start()
        terminal.seconds_until("images/s")
        cores = terminal.cores(WATCHED_SECONDS)
        updates.join()
        return {"trials": TRIALS, "updates per second": UPDATES_PER_SECOND, "cores": cores}


def update(builder: CampaignBuilder, seconds: float) -> None:
    """Write the progress of every trial as an engine does."""
    start = time.perf_counter()
    for tick in range(round(seconds * UPDATES_PER_SECOND)):
        recent = tuple(1000.0 + (tick + index) % 130 for index in range(32))
        builder.progress(
            {key: TrialProgress(tick, 120, recent[-1], "images/s", recent, 60.0) for key in builder.trials}
        )
        time.sleep(max(0.0, start + (tick + 1) / UPDATES_PER_SECOND - time.perf_counter()))


# ---------------------------------------------------------------------------------------------------------------- idle


def idle(workspace: WorkspacePaths, options: argparse.Namespace) -> dict[str, object]:
    """Nothing happens: the list of 100 campaigns, and a campaign that runs and has nothing new to say."""
    for day in range(100):
        finished_campaign(workspace, f"nightly-{day:03}", day=day)
    builder, _ = running_trial(workspace)
    builder.telemetry(builder.trials[0])
    found: dict[str, object] = {}
    for name, keys in {"campaigns": (), "watch": ("3",)}.items():
        with engine_of(builder.paths), program(workspace, *keys) as terminal:
            terminal.rest(SETTLED_SECONDS)
            found[f"{name} cores"] = terminal.cores(WATCHED_SECONDS)
    return found


# ------------------------------------------------------------------------------------------------------------ machines


def machines(workspace: WorkspacePaths, options: argparse.Namespace) -> dict[str, object]:
    """The Machines screen with 64 nodes, all of this machine: its own time, and that of the process that asks them."""
    nodes = ", ".join(f"{{name: node{number:02}, transport: local}}" for number in range(NODES))
    workspace.catalog.mkdir()
    (workspace.catalog / "hardware.yaml").write_text(f"{{id: cluster, title: Cluster, nodes: [{nodes}]}}\n")
    with program(workspace, "6") as terminal:
        terminal.seconds_until(f"node{NODES // 2:02}")
        terminal.rest(NODES)  # until all have answered once
        (asker,) = children_of(terminal.pid)
        before = cpu_seconds_of(asker)
        cores = terminal.cores(WATCHED_SECONDS)
        return {"nodes": NODES, "cores": cores, "asking cores": (cpu_seconds_of(asker) - before) / WATCHED_SECONDS}


# --------------------------------------------------------------------------------------------------------------- large


def write_large(log: Path, megabytes: int) -> None:
    """A log of that size: steps, talk in Chinese, warnings, progress bars; one error, near the end."""
    lines = [f"step {number} loss=1.{number:04} lr=0.1 of a log that is large 数据\n" for number in range(9000)]
    lines[::100] = [f"\rprogress {number}%\rprogress {number + 1}%\n" for number in range(0, 90)]
    lines[50::500] = ["UserWarning: the network is slow today\n"] * 18
    block = "".join(lines).encode()
    with log.open("wb") as stream:
        stream.write(b"the very first line\n")
        for _ in range(megabytes * 1_000_000 // len(block)):
            stream.write(block)
        stream.write(b"RuntimeError: the only one\n" + block + b"the very last line\n")


def large(workspace: WorkspacePaths, options: argparse.Namespace) -> dict[str, object]:
    """Opened, scrolled to its start and its end, and searched through."""
    builder, log = running_trial(workspace)
    write_large(log, options.size)
    with engine_of(builder.paths), program(workspace) as terminal:
        terminal.rest(1)
        terminal.press("3")
        opened = terminal.seconds_until("the very last line")
        terminal.press("\tg")
        start = terminal.seconds_until("the very first line")
        terminal.press("G")
        end = terminal.seconds_until("the very last line")
        terminal.press("e")
        error = terminal.seconds_until("RuntimeError: the only one", patience=600.0)
        return {
            "log MB": log.stat().st_size / 1e6,
            "opened s": opened,
            "to its start s": start,
            "to its end s": end,
            "to the first error s": error,
            "memory MB": terminal.megabytes(),
        }


BENCHMARKS = {
    **{"paint": paint, "keys": keys, "burst": burst, "trials": trials, "idle": idle, "machines": machines},
    "large": large,
}

if __name__ == "__main__":
    main()
