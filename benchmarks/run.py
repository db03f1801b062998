"""Run every benchmark, one after the other, and write what they found into ``benchmarks/README.md``.

    python benchmarks/run.py [NAME…]

Run it on a machine that does nothing else; it takes about forty minutes. With names, only these are run and the
README is left alone.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
BENCHMARKS = ("startup", "parse", "orchestration", "occupancy", "chaos", "scale", "site", "observer", "kill", "tui")
INTRODUCTION = """\
# Benchmarks

What dlperf itself costs, measured side by side with a peer in one run. `python benchmarks/run.py`, where
`pip install -e '.[test]'` was run, runs all of them and writes this page; each `--help` says what can be varied.
Written by a program: change the programs, not this page.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all if absent")
    names = parser.parse_args().names
    sections = [section(name) for name in names or BENCHMARKS]
    page = "\n".join([INTRODUCTION, machine(), *sections])
    if names:
        print(page)
    else:
        (FOLDER / "README.md").write_text(page)


def section(name: str) -> str:
    """A benchmark's own words and what it printed."""
    program = FOLDER / f"{name}.py"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tui"), str(ROOT / "tests")])}
    print(f"{name} …", file=sys.stderr, flush=True)
    done = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True, check=False)
    words = program.read_text().split('"""')[1]
    found = formatted(done.stdout) if done.returncode == 0 else f"failed:\n\n```text\n{done.stderr[-2000:]}\n```\n"
    return f"## {name}\n\n{words}\n\n{found}"


def formatted(output: str) -> str:
    """Lines of JSON as one list each; anything else as it was printed."""
    lines = output.strip().splitlines()
    if not lines or not all(line.startswith("{") for line in lines):
        return output
    return "\n".join(
        "\n".join(f"- {key.replace('_', ' ')}: {_number(value)}" for key, value in json.loads(line).items()) + "\n"
        for line in lines
    )


def _number(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def machine() -> str:
    """The machine and the day, in one line."""
    text = Path("/proc/cpuinfo").read_text()
    model = next((line.split(":")[1].strip() for line in text.splitlines() if line.startswith("model name")), "unknown")
    day = datetime.datetime.now(datetime.UTC).date()
    load = os.getloadavg()[0]
    python = platform.python_version()
    return f"Taken on {day}: {os.cpu_count()} cores of {model}, Python {python}, load {load:.1f} at the start.\n"


if __name__ == "__main__":
    main()
