"""What the same no-op job costs under dlperf and its peers, in one run; and which of them finds a slower commit.

    PYTHONPATH=tui:tests python benchmarks/peers.py [--jobs 40] [--rounds 5] [--searches 10]

Each runs ``sh -c 'echo speed 1'`` one after the other on this machine: once, and ``--jobs`` times more, in turns. The
difference, divided by the jobs, is what a job takes; what it takes in a loop of processes is taken off. Over ssh the
loop is that of OpenSSH with a kept connection (ControlMaster). Medians of the rounds, in milliseconds added to a job,
and as ratios to dlperf's. The aim: at most 60 ms here, and over ssh no more than ssh itself takes.

With ``--searches`` instead: as many git repositories of twelve commits whose program sleeps, 5 % longer from one on and
by 2 % of noise in each run, are searched by ``dlperf bisect``, by ``asv find`` with five samples of each commit, and by
Apache Otava in the medians of five runs of all commits.

Peers that are not installed are left out: ``pip install reframe-hpc asv virtualenv apache-otava``, ``apt install
hyperfine jube``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import commits

from sshd import of_operator, prepare

JOB = ("sh", "-c", "echo speed 1")
Run = Callable[[int], object]
"""Runs the job so many times."""
SEARCHED: dict[str, Any] = {"commits": 12, "loss": 0.05, "noise": 0.02}
"""Of the repositories that are searched."""

CATALOG = """
hardware:
  - {id: far, title: Far, nodes: [{name: a, host: node-a, address: 127.0.0.1}]}
cases:
  - {id: noop, title: No-op, model: none, dataset: none, unit: samples/s, protocol: printed,
     precisions: [fp32], batch_sizes: [1], scales: [1n1g]}
formats:
  - {id: noop, title: No-op, unit: samples/s, scope: global, window: run,
     detect: speed, record: 'speed (?P<value>\\S+)'}
frameworks:
  - {id: noop, title: No-op, version: '1', format: noop, devices: [cpu],
     recipes: [{case: noop, precisions: [fp32], interpreter: [], command: [sh, -c, echo speed 1]}]}
"""
REFRAME = """
import reframe as rfm
from reframe.core.builtins import sanity_function

@rfm.simple_test
class Noop(rfm.RunOnlyRegressionTest):
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "sh"
    executable_opts = ["-c", "'echo speed 1'"]

    @sanity_function
    def ran(self):
        return True
"""
ASV = """
import subprocess

class Noop:
    params = range({count})
    number = repeat = rounds = processes = 1
    warmup_time = 0

    def time_job(self, number):
        subprocess.run(["sh", "-c", "echo speed 1"], stdout=subprocess.DEVNULL)
"""
FIND = {
    "version": 1,
    "project": "train",
    "repo": "../project",
    "environment_type": "virtualenv",
    "build_command": [],
    "install_command": ["python -c \"import shutil; shutil.copy('train.py', '{env_dir}')\""],
    "uninstall_command": [],
}
"""Configuration of asv for a program that is one file."""
FOUND = """
import os, subprocess, sys

class Train:
    number = rounds = processes = 1
    repeat = 5
    warmup_time = 0

    def time_run(self):
        subprocess.run([sys.executable, os.path.join(sys.prefix, "train.py"), "8"], stdout=subprocess.DEVNULL)
"""
JUBE = """
<jube><benchmark name="noop" outpath="out">
  <parameterset name="p"><parameter name="i" mode="python">",".join(map(str, range({count})))</parameter></parameterset>
  <step name="run"><use>p</use><do>sh -c 'echo speed 1'</do></step>
</benchmark></jube>
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--searches", type=int, default=0)
    asked = parser.parse_args()
    if asked.searches:
        print(json.dumps(searched(asked.searches)))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = prepare(folder / "sshd")
        os.environ |= of_operator(server.operator)
        os.environ.pop("SSH_AUTH_SOCK", None)
        server.start()
        try:
            print(json.dumps(measured(folder, asked.jobs, asked.rounds)))
        finally:
            server.stop()


def measured(folder: Path, jobs: int, rounds: int) -> dict[str, float]:
    """Milliseconds that each tool adds to a job, and how many times dlperf's that is."""
    tools = installed(folder)
    taken: dict[str, list[float]] = {name: [] for name in tools}
    for _ in range(rounds):
        for name, run in tools.items():
            taken[name].append(1000 * (seconds(run, jobs + 1) - seconds(run, 1)) / jobs)
    job = statistics.median(taken.pop("loop"))
    added = {name: statistics.median(values) - job for name, values in taken.items()}
    ratios = {f"{name} to dlperf": value / added["dlperf"] for name, value in added.items() if name != "dlperf"}
    return {"jobs": jobs, "rounds": rounds, "job_ms": job} | {f"{name}_ms": added[name] for name in added} | ratios


def seconds(run: Run, count: int) -> float:
    started = time.monotonic()
    run(count)
    return time.monotonic() - started


def installed(folder: Path) -> dict[str, Run]:
    """The loops, dlperf, and those of its peers that this machine has."""
    dlperf, connected = workspace(folder / "workspace"), kept_connection(folder)
    found: dict[str, Run] = {
        "loop": lambda count: [command(*JOB) for _ in range(count)],
        "dlperf": lambda count: dlperf("local", count),
        "dlperf over ssh": lambda count: dlperf("far", count),
        "ssh": lambda count: [command(*connected, "node-a", shlex.join(JOB)) for _ in range(count)],
    }
    peers = {"reframe": reframe, "asv": asv, "jube": jube, "hyperfine": hyperfine}
    return found | {name: peer(folder / name) for name, peer in peers.items() if shutil.which(name)}


def command(*words: str, folder: Path | None = None) -> None:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        sys.exit(f"{shlex.join(words)}: {done.stdout[-2000:]}{done.stderr[-2000:]}")


def kept_connection(folder: Path) -> list[str]:
    """Open a connection; the command that uses it, which lacks the host."""
    home = folder / "sshd" / "operator" / ".ssh"  # OpenSSH asks for no HOME
    files = (f"UserKnownHostsFile={home}/known_hosts", f"IdentityFile={home}/id_ed25519")
    options = (*files, f"ControlPath={folder}/master")
    words = ["ssh", "-F", str(home / "config"), *(word for option in options for word in ("-o", option))]
    subprocess.run([*words, "-fMN", "node-a"], stderr=subprocess.DEVNULL, check=True)
    return words


def workspace(root: Path) -> Callable[[str, int], None]:
    dlperf = [sys.executable, "-m", "dlperf"]
    command(*dlperf, "init", str(root))
    (root / "catalog" / "noop.yaml").write_text(CATALOG)

    def run(hardware: str, count: int) -> None:
        selection = ("-H", hardware, "-f", "noop", "--repeats", str(count), "--yes")
        command(*dlperf, "--workspace", str(root), "run", *selection)

    return run


def reframe(folder: Path) -> Run:
    folder.mkdir()
    (folder / "noop.py").write_text(REFRAME)
    words = ("reframe", "--prefix", "out", "-c", "noop.py", "-r", "--exec-policy", "serial")
    return lambda count: command(*words, f"--repeat={count}", folder=folder)


def asv(folder: Path) -> Run:
    (folder / "benchmarks").mkdir(parents=True)
    configuration = {"version": 1, "project": "noop", "repo": ".", "environment_type": "existing"}
    (folder / "asv.conf.json").write_text(json.dumps(configuration))
    (folder / "benchmarks" / "__init__.py").touch()
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org")
    command("git", "init", "-q", folder=folder)
    command(*git, "commit", "-q", "--allow-empty", "-m", "Begin", folder=folder)
    command("asv", "machine", "--yes", folder=folder)

    def run(count: int) -> None:
        (folder / "benchmarks" / "noop.py").write_text(ASV.format(count=count))
        command("asv", "run", "--environment=existing", folder=folder)

    return run


def jube(folder: Path) -> Run:
    folder.mkdir()

    def run(count: int) -> None:
        (folder / "noop.xml").write_text(JUBE.format(count=count))
        command("jube", "run", "noop.xml", folder=folder)

    return run


def hyperfine(folder: Path) -> Run:
    return lambda count: command("hyperfine", "-N", "--runs", str(count + 1), shlex.join(JOB))


def searched(times: int) -> dict[str, dict[str, int]]:
    """Search as many repositories with each tool; return how often each was right, wrong or told nothing."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for number in range(times):
        bad = random.Random(f"searches {number}").randint(1, SEARCHED["commits"])
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            found["dlperf bisect"][commits.search(folder, bad=bad, **SEARCHED)[0]] += 1
            hashes = commits.run(folder / "project", "git", "rev-list", "--reverse", "HEAD").stdout.split()
            if shutil.which("asv"):
                found["asv find"][asv_find(folder, hashes, hashes[bad])] += 1
            if find_spec("otava"):
                found["Otava"][otava_find(folder / "project", hashes, bad)] += 1
        print(json.dumps(found), file=sys.stderr)
    return {name: dict(counts) for name, counts in found.items()}


def asv_find(folder: Path, hashes: list[str], bad: str) -> str:
    work = folder / "asv"
    (work / "benchmarks").mkdir(parents=True)
    branch = commits.run(folder / "project", "git", "branch", "--show-current").stdout.strip()
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    (work / "asv.conf.json").write_text(json.dumps(FIND | {"branches": [branch], "pythons": [python]}))
    (work / "benchmarks" / "__init__.py").write_text(FOUND)
    command("asv", "machine", "--yes", folder=work)
    done = commits.run(work, "asv", "find", f"{hashes[0]}..{hashes[-1]}", "Train.time_run")
    named = re.search(r"regression found: ([0-9a-f]+)", done.stdout)
    if named is None:
        sys.exit(f"asv find: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return "right" if bad.startswith(named[1]) else "wrong"


def otava_find(project: Path, hashes: list[str], bad: int) -> str:
    from otava.analysis import compute_change_points

    def taken(commit: str) -> float:
        commits.run(project, "git", "checkout", "-q", commit)
        runs = (seconds(lambda _: command(sys.executable, "train.py", "8", folder=project), 1) for _ in range(5))
        return statistics.median(runs)

    series = list(map(taken, hashes))
    changes = compute_change_points(series, window_len=50, max_pvalue=0.001)[0]
    worse = [change.index for change in changes if change.stats.mean_2 > change.stats.mean_1]
    return "nothing found" if not worse else "right" if worse == [bad] else "wrong"


if __name__ == "__main__":
    main()
