"""Run benchmarks, one after the other, and write what they found into ``benchmarks/README.md``.

    python benchmarks/run.py [NAME…]

Run it on a machine that does nothing else; all of them take some hours. With names, only these are run: the
others keep their figures, each with its own date, machine and load. A section is written when its benchmark has ended;
one that failed keeps its figures, its complaint is printed and the exit code is 1.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
README = FOLDER / "README.md"
BENCHMARKS = (
    "startup",
    "parse",
    "orchestration",
    "peers",
    "verdicts",
    "commits",
    "occupancy",
    "chaos",
    "scale",
    "site",
    "page",
    "observer",
    "kill",
    "tui",
)
INTRODUCTION = """\
# Benchmarks

What dlperf itself costs, measured side by side with a peer in one run, where `pip install -e '.[test]'` was run.
`python benchmarks/run.py` runs all of them and writes this page, `python benchmarks/run.py parse site` these two and
their sections; each `--help` says what can be varied. Written by a program: change the programs, not this page.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all if absent")
    names = parser.parse_args().names
    if unknown := [name for name in names if name not in BENCHMARKS]:
        parser.error(f"no benchmark {', '.join(unknown)}: they are {', '.join(BENCHMARKS)}")
    failed = [name for name in names or BENCHMARKS if not run(name)]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def run(name: str) -> bool:
    """Run a benchmark and write its section; False where it failed."""
    program = FOLDER / f"{name}.py"
    paths = [str(ROOT / "tui"), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has its bytecode
    print(f"{name} …", file=sys.stderr, flush=True)
    load = os.getloadavg()[0]
    done = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr)
        return False
    words = program.read_text().split('"""')[1].strip()
    README.write_text(replaced(README.read_text(), name, f"{words}\n\n{conditions(load)}\n\n{formatted(done.stdout)}"))
    return True


def replaced(page: str, name: str, section: str) -> str:
    """The page with one section made anew, in the order of ``BENCHMARKS``; the others stay as they are."""
    parts = re.split(rf"^## ({'|'.join(BENCHMARKS)})\n", page, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True)) | {name: section}
    ordered = [f"## {key}\n\n{sections[key].strip()}\n" for key in BENCHMARKS if key in sections]
    return "\n".join([INTRODUCTION, *ordered])


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


def conditions(load: float) -> str:
    """The machine, the day and what else the machine did (``load`` at the start), in one line."""
    text = Path("/proc/cpuinfo").read_text()
    model = next((line.split(":")[1].strip() for line in text.splitlines() if line.startswith("model name")), "unknown")
    day = datetime.datetime.now(datetime.UTC).date()
    machine = f"{os.cpu_count()} cores of {model}, Python {platform.python_version()}"
    return f"Taken on {day}: {machine}, load {load:.1f} at the start, {os.getloadavg()[0]:.1f} at the end."


if __name__ == "__main__":
    main()
