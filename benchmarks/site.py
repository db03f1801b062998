"""How long ``dlperf build-site`` takes beside MkDocs alone on the pages that it is given, in turns.

    python benchmarks/site.py --configurations 1000 --trials 5

Makes a workspace of that size in a temporary folder, with the records, scripts, environments and logs that trials
leave, and builds its site as a fresh clone does: no page is there. The aim: at most 1.2 times what
MkDocs alone takes for the same pages. That is measured twice: one language after the other, as two commands do it, and
both side by side, as dlperf runs them. What serves large workspaces is measured with and without it: the workers that
write pages, and the timelines kept beside the results.

    python benchmarks/site.py --recheck

measures instead what it costs that no kept result is believed, as a part of the processor time of a build: where all of
them are recomputed, and where this machine recomputed the same content before (the aim: at most a tenth).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import islice, pairwise, product
from pathlib import Path
from unittest.mock import Mock, patch

from dlperf.derived.timeline import derive, write_derived
from dlperf.messages.language import CODES
from dlperf.plan import Configuration, Launch, Node, PlannedConfiguration, PlannedProtocol, Selection, TrialKey
from dlperf.report.build import build_site
from dlperf.report.load import load_site_data
from dlperf.report.site.staging import config_name
from dlperf.report.site.workspace import create_workspace
from dlperf.runs.archive import seal
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.records import CampaignRecord, Event, State, TrialStatus
from dlperf.runs.store import append_records, write_campaign
from dlperf.verification.remembered import CACHE

PRECISIONS = ("fp32", "amp")
BATCH_SIZES = (64, 128, 256)
SCALES = ((1, 1), (1, 4), (1, 8), (2, 8), (4, 8))
PROTOCOL = PlannedProtocol("dlperf-v1", 20, 100, estimator="window(20,120)")
ENVIRONMENT = {"os": "Linux", "kernel": "6.1", "gpus": [{"name": "V100", "driver": "550"}] * 8, "cuda": "12.4"}
RECORD = "DLPERF 2026-01-01T00:{:02}:{:09.6f}Z step={} throughput={:.3f}\n"
END = 'DLPERF 2026-01-01T00:30:00.000000Z summary {{"throughput": {:.3f}, "unit": "images/s"}}\n'
STEPS = 150
LAUNCH = "#!/bin/sh\nexport DLPERF_TRIAL={trial}\n" + "export SETTING=value\n" * 20 + "exec python3 -u train.py\n"

SECONDS_BETWEEN_LOOKS = 0.2


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        workspace = make_workspace(Path(folder), arguments.configurations, arguments.trials)
        command = [sys.executable, __file__, "--rounds", str(arguments.rounds), "--measure", str(workspace.root)]
        command += ["--recheck"] * arguments.recheck
        measured, peak_mb = run_watched(command)
    size = {"configurations": arguments.configurations, "trials": arguments.trials, "rounds": arguments.rounds}
    print(json.dumps({**size, **json.loads(measured), "peak_mb_of_all_processes": peak_mb}))


def run_watched(command: list[str]) -> tuple[str, int]:
    """What a program prints, and the most memory that it and all its children had together, in MB.

    What processes share counts once (Linux: the proportional set size).
    """
    peak = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            peak = max(peak, sum(map(_memory_kib, _with_children(process.pid))))
            time.sleep(SECONDS_BETWEEN_LOOKS)
        printed = process.stdout.read() if process.stdout else ""
    if process.returncode != 0:
        raise SystemExit(process.returncode)
    return printed, round(peak / 1024)


def _with_children(pid: int) -> Iterator[int]:
    yield pid
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in listed.read_text().split():
                yield from _with_children(int(child))


def _memory_kib(pid: int) -> int:
    """Nothing for a process that has just ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


def measure(root: Path, rounds: int) -> dict[str, float]:
    """Medians of seconds, and peak memory of the processes, in a process that does nothing else."""
    workspace = WorkspacePaths(root)
    times = [_round(workspace) for _ in range(rounds)]
    seconds = {name: round(statistics.median(time[name] for time in times), 2) for name in times[0]}
    ratios = {
        f"full_build_over_{name}": [time["full_build_seconds"] / time[f"{name}_seconds"] for time in times]
        for name in ("mkdocs_in_turn", "mkdocs_side_by_side")
    }
    files = [path for path in workspace.site_html.rglob("*") if path.is_file()]
    return {
        **seconds,
        **{name: round(statistics.median(of_rounds), 2) for name, of_rounds in ratios.items()},
        "pages": len(list(workspace.site_docs.rglob("*.md"))),
        "own_peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "mkdocs_peak_mb": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024),
        "site_mb": round(sum(path.stat().st_size for path in files) / 1e6, 1),
        "load": round(os.getloadavg()[0], 1),
    }


def _round(workspace: WorkspacePaths) -> dict[str, float]:
    """A build of a fresh clone, MkDocs alone on the pages that it made, and a build of what did not change."""
    _set_aside(workspace)
    builds = {
        "full_build": build_site,
        "mkdocs_in_turn": partial(_mkdocs_alone, at_once=1),
        "mkdocs_side_by_side": partial(_mkdocs_alone, at_once=2),
        "build_again": build_site,
        "build_again_by_one_process": _build_by_one_process,
        "build_again_without_timelines": _build_without_timelines,
    }
    moments = [_moment()]
    for build in builds.values():
        build(workspace)
        moments.append(_moment())
    return {
        f"{name}_{kind}": after[kind] - before[kind]
        for name, (before, after) in zip(builds, pairwise(moments), strict=True)
        for kind in before
    }


def recheck(root: Path, rounds: int) -> dict[str, float]:
    """Processor seconds of a build, and what part of it finding out takes whether results are right."""
    workspace = WorkspacePaths(root)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[CACHE] = folder
        loads = {"believed": _load_believing, "recomputed": partial(_load_anew, Path(folder)), "known": load_site_data}
        found = [{name: _processor_seconds(load, workspace) for name, load in loads.items()} for _ in range(rounds)]
        build = _processor_seconds(build_site, workspace)
    seconds = {name: statistics.median(each[name] for each in found) for name in loads}
    alone = build - seconds["known"] + seconds["believed"]
    parts = {name: (seconds[name] - seconds["believed"]) / alone for name in ("recomputed", "known")}
    rounded = {f"load_{name}_processor_seconds": round(value, 2) for name, value in seconds.items()}
    shares = {f"{name}_part_of_build": round(part, 4) for name, part in parts.items()}
    return {"build_processor_seconds": round(build, 2), **rounded, **shares, "load": round(os.getloadavg()[0], 1)}


def _processor_seconds(work: Callable[[WorkspacePaths], object], workspace: WorkspacePaths) -> float:
    before = _moment()
    work(workspace)
    return _moment()["processor_seconds"] - before["processor_seconds"]


def _load_believing(workspace: WorkspacePaths) -> None:
    with patch("dlperf.report.load.WorkspaceRecheck", lambda _: Mock(wrong=[], side_effect=lambda *given: given[-1])):
        load_site_data(workspace)


def _load_anew(cache: Path, workspace: WorkspacePaths) -> None:
    for path in cache.iterdir():
        path.unlink()
    load_site_data(workspace)


def _build_by_one_process(workspace: WorkspacePaths) -> None:
    with patch("dlperf.report.build.parallel_map", lambda work, items: list(map(work, items))):
        build_site(workspace)


def _build_without_timelines(workspace: WorkspacePaths) -> None:
    """Build as where every log has to be parsed again."""
    for timeline in workspace.runs.rglob("timeline.json"):
        timeline.unlink()
    build_site(workspace)


def _mkdocs_alone(workspace: WorkspacePaths, at_once: int) -> None:
    """``mkdocs build`` by itself for both languages, so many at once, with nothing of ours before or after it."""
    configs = [workspace.site_build / config_name(code) for code in CODES]
    with tempfile.TemporaryDirectory(dir=workspace.root) as folder, ThreadPoolExecutor(at_once) as running:
        for code in running.map(partial(_mkdocs, Path(folder)), configs):
            if code != 0:
                raise SystemExit("mkdocs could not build the pages")


def _mkdocs(folder: Path, config: Path) -> int:
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", config, "--site-dir"]
    return subprocess.call([*command, folder / config.stem], env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})


def _set_aside(workspace: WorkspacePaths) -> None:
    """Take away what earlier rounds made. It is not deleted: for minutes after that, ext4 looks at every deleted inode
    before it makes a new file, which a fresh clone does not meet."""
    aside = Path(tempfile.mkdtemp(dir=workspace.root))
    for number, made in enumerate((workspace.site_build,)):
        if made.exists():
            made.rename(aside / str(number))


def _moment() -> dict[str, float]:
    """Time now, and the processor time of this process and of its children that ended."""
    times = os.times()
    return {"seconds": time.monotonic(), "processor_seconds": sum(times[:4])}


def make_workspace(root: Path, configurations: int, trials: int) -> WorkspacePaths:
    """A workspace with one campaign of that size, every trial of which succeeded."""
    create_workspace(root)
    workspace = WorkspacePaths(root)
    paths = workspace.campaign("benchmark")
    planned = tuple(_planned(configuration) for configuration in islice(_configurations(), configurations))
    keys = tuple(TrialKey(item.configuration.id, number) for item in planned for number in range(1, trials + 1))
    record = CampaignRecord("benchmark", "0123abcd", "2026-01-01T00:00:00Z", "0.1.0", Selection(), planned, keys)
    write_campaign(paths, record)
    for item in planned:
        for number in range(1, trials + 1):
            _write_trial(paths, item, number)
    append_records(paths.journal, [Event("2026-01-01T00:01:00Z", "state", str(key), "succeeded") for key in keys])
    return workspace


def _configurations() -> Iterator[Configuration]:
    names = ([f"{kind}-{number}" for number in range(10)] for kind in ("hardware", "framework", "case"))
    axes = product(*names, PRECISIONS, BATCH_SIZES, SCALES)
    return (Configuration(h, f, c, precision, batch, *scale) for h, f, c, precision, batch, scale in axes)


def _planned(configuration: Configuration) -> PlannedConfiguration:
    node = Node("n1", "ssh", "n1", "n1")
    launch = Launch("direct", (node,), configuration.gpus, "plain", ("python3",), ("train.py",))
    return PlannedConfiguration(configuration, launch, "dlperf", "images/s", PROTOCOL, 5, {"dali": True})


def _write_trial(paths: CampaignPaths, planned: PlannedConfiguration, number: int) -> None:
    key = TrialKey(planned.configuration.id, number)
    trial = paths.trial(key)
    node = trial.node("n1")
    node.directory.mkdir(parents=True)
    value = 400.0 * planned.configuration.gpus_total * (1 + number / 1000)
    lines = [RECORD.format(*record) for record in _records(planned.configuration, value)]
    node.log.write_text("".join([*lines, END.format(value)]))
    node.launch.write_text(LAUNCH.format(trial=key))
    node.environment.write_text(json.dumps(ENVIRONMENT))
    seal(trial)
    write_derived(trial, derive(trial, planned, TrialStatus(key, State.SUCCEEDED)))


def _records(configuration: Configuration, value: float) -> Iterator[tuple[int, float, int, float]]:
    """Minute, second, step and printed rate of each record; the times give what is printed, as those of a sound
    program do: a figure with a finding has more to be said on its pages."""
    seconds = (configuration.batch_size or 1) * configuration.gpus_total / value
    for step in range(1, STEPS + 1):
        minute, second = divmod(step * seconds, 60)
        yield int(minute), second, step, value * (1 + (step % 7 - 3) / 1000)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--configurations", type=int, default=1000)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--recheck", action="store_true", help="measure what checking kept results costs")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    if (asked := _arguments()).measure:
        print(json.dumps((recheck if asked.recheck else measure)(asked.measure, asked.rounds)))
    else:
        main()
