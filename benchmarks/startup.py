"""How long ``dlperf --help`` takes beside a bare Typer program with as many commands, started in turns.

    python benchmarks/startup.py [--rounds 15]

The aim: at most 1.5 times the bare program.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dlperf.cli.root import GROUPS

BARE = """\
import typer

app = typer.Typer(rich_markup_mode=None)
{commands}
app()
"""
COMMAND = '''
@app.command("command{number}")
def command{number}(name: str, count: int = 1) -> None:
    """What it does."""
'''


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    count = sum(len(group.registered_commands) + len(group.registered_groups) for group in GROUPS)
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE.format(commands="".join(COMMAND.format(number=number) for number in range(count))))
        pairs = [(_seconds([str(bare)]), _seconds(["-m", "dlperf"])) for _ in range(rounds + 1)][1:]
    theirs, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(json.dumps({"commands": count, "bare_typer_s": theirs, "dlperf_help_s": ours, "ratio": ours / theirs}))


def _seconds(program: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *program, "--help"], check=True, capture_output=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
