"""What watching costs the watched: throughput of a trial under dlperf beside the bare command, in pairs.

    python benchmarks/observer.py [--pairs 5] [--hardware H --framework F --case C --precision P --batch-size B]

Under dlperf: supervisor, telemetry once a second, live tail, engine and a terminal that follows the log. Bare: the very
script that the trial ran, alone. Both logs are measured by the rule of the case's protocol. Which of a pair goes first
alternates, so that drift of the machine falls on both. The aim: within 0.5 % of the bare command. One node only.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
from pathlib import Path

from selection import DLPERF, Bench, arguments, bench

from dlperf.catalog.files.load import load_catalog
from dlperf.formats.registry import parser_for
from dlperf.measured.run import StatedFacts, measure_run


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    asked = parser.parse_args()
    catalog = load_catalog(asked.catalog if asked.catalog.is_dir() else None)
    estimator = catalog.protocols[catalog.cases[asked.case].protocol].estimator
    format_id = catalog.frameworks[asked.framework].format
    load = os.getloadavg()[0]
    with bench(asked) as ready:
        watched(ready, "warm-up")
        script = kept_script(ready, "warm-up")
        pairs = []
        for number in range(asked.pairs):
            ways = {"watched": lambda: watched(ready, f"pair-{number}"), "bare": lambda: bare(ready, script)}  # noqa: B023
            order = list(ways) if number % 2 else list(reversed(ways))
            rates = {way: rate(ways[way](), format_id, estimator) for way in order}
            pairs.append((rates["watched"], rates["bare"]))
    print(json.dumps({"configuration": " ".join(ready.words), "load_at_start": load, **summary(pairs)}))


def watched(ready: Bench, name: str) -> Path:
    """The log of a trial that dlperf runs while somebody follows it."""
    engine = ready.start(name)
    follower = None
    while engine.poll() is None and follower is None:
        if list((ready.folder / "runs" / name).glob("*/1/nodes/*/out.log")):
            follow = [*DLPERF, "logs", f"{name}/{ready.trial(name).parents[2].name}/1", "--follow"]
            follower = subprocess.Popen(follow, cwd=ready.folder, env=ready.environment, stdout=subprocess.DEVNULL)
        else:
            _wait(engine, 0.05)
    if engine.wait() != 0:
        raise SystemExit(f"the trial failed: see {ready.trial(name) / 'out.log'}")
    if follower is None or follower.wait() != 0:
        raise SystemExit(f"nobody followed {name}: the pair is no pair")
    return ready.trial(name) / "out.log"


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def kept_script(ready: Bench, name: str) -> Path:
    """The trial's folder on this machine, kept under another name, so that the bare command is the very same script."""
    script = ready.trial(name) / "launch.sh"
    text = script.read_text()
    (folder,) = {
        str(path.parent) for path in (ready.folder / ".dlperf").glob("*/*/launch.sh") if path.read_text() == text
    }
    kept = ready.folder / "bare"
    shutil.copytree(folder, kept)
    (kept / "launch.sh").write_text(text.replace(folder, str(kept)))
    return kept / "launch.sh"


def bare(ready: Bench, script: Path) -> Path:
    """The log of the command alone."""
    log = script.with_name("bare.log")
    with log.open("wb") as stream:
        subprocess.run(["sh", script], env=ready.environment, stdout=stream, stderr=subprocess.STDOUT, check=True)
    return log


def rate(log: Path, format_id: str, estimator: str) -> float:
    """The figure of a log."""
    parser = parser_for(format_id)
    parser.feed(log.read_bytes())
    parser.finish()
    value = measure_run(parser.runs[-1], StatedFacts(), estimator).value
    assert value is not None, log
    return value


def summary(pairs: list[tuple[float, float]]) -> dict[str, object]:
    """Medians, and the median of the ratios of the pairs with their range."""
    ratios = sorted(with_dlperf / alone for with_dlperf, alone in pairs)
    return {
        "pairs": len(pairs),
        "watched_median": statistics.median(pair[0] for pair in pairs),
        "bare_median": statistics.median(pair[1] for pair in pairs),
        "ratio_median": statistics.median(ratios),
        "ratio_lowest": ratios[0],
        "ratio_highest": ratios[-1],
    }


if __name__ == "__main__":
    main()
