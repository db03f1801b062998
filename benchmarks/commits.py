"""``dlperf bisect`` on real repositories.

    python benchmarks/commits.py [TIMES] [COMMITS LOSS NOISE]

Each time it makes a git repository whose program sleeps, longer from one commit on and by chance in each run, and
prints what the search said and how many trials it took. Exits with 1 if it named an innocent commit.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

PROGRAM = """\
import random, sys, time
COST = {cost}
seconds = 0.08 * COST * random.lognormvariate(0, {noise})
for step in range(1, 14):
    begun = time.perf_counter()
    time.sleep(seconds)
    print(f"step {{step}}: {{int(sys.argv[1]) / (time.perf_counter() - begun):.2f}} samples/s", flush=True)
"""
DLPERF = (sys.executable, "-m", "dlperf")


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def make_repository(folder: Path, commits: int, bad: int, loss: float, noise: float) -> list[str]:
    """Make a repository of GOOD and this many commits after it; return their hashes."""
    folder.mkdir()
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    run(folder, "git", "init", "-q")
    for number in range(commits + 1):
        cost = 1 / (1 - loss) if number >= bad else 1.0
        (folder / "train.py").write_text(f"# version {number}\n" + PROGRAM.format(cost=cost, noise=noise))
        run(folder, "git", "add", "train.py")
        run(folder, "git", *identity, "commit", "-q", "-m", f"Version {number}")
    return run(folder, "git", "rev-list", "--reverse", "HEAD").stdout.split()


def search(folder: Path, commits: int, bad: int, loss: float, noise: float) -> tuple[str, str]:
    """Return whether the search was right, wrong or cannot tell, and the last line that it noted."""
    hashes = make_repository(folder / "project", commits, bad, loss, noise)
    made = run(folder / "project", *DLPERF, "init", "bench", "--program", "python3 train.py {batch_size}")
    assert made.returncode == 0, made.stderr
    words = (*DLPERF, "bisect", hashes[0], hashes[-1], "-f", "train", "-b", "8", "--yes")
    done = run(folder / "project" / "bench", *words)
    last = done.stderr.strip().splitlines()[-1]
    if done.returncode == 0:
        return ("right" if done.stdout.split() == [hashes[bad]] else "wrong"), last
    if done.returncode == 4:
        listed = done.stdout.split()
        return ("cannot tell" if not listed or hashes[bad] in listed else "wrong range"), last
    return f"exit code {done.returncode}", last


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    commits, loss, noise = (int(sys.argv[2]), *map(float, sys.argv[3:5])) if len(sys.argv) > 4 else (12, 0.05, 0.02)
    outcomes, trials = Counter[str](), list[int]()
    for number in range(1, times + 1):
        bad = random.Random(number).randint(1, commits)
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            outcome, said = search(Path(folder), commits, bad, loss, noise)
        outcomes[outcome] += 1
        trials += [int(found[1])] if (found := re.search(r"(\d+) trials", said)) else []
        print(
            f"{number}: commit {bad} of {commits}: {outcome} in {time.monotonic() - begun:.0f} s ({said})", flush=True
        )
    mean = sum(trials) / len(trials) if trials else 0
    print(f"{dict(outcomes)}, {mean:.1f} trials on average")
    sys.exit(any(name.startswith("wrong") for name in outcomes))


if __name__ == "__main__":
    main()
