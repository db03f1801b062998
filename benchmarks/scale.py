"""What grows with a campaign: its plan, its journal, and an engine that has every machine of it at work.

    PYTHONPATH=tui python benchmarks/scale.py [--nodes 1000] [--repeats 50] [--seconds 20]

Plans two configurations for each of ``--nodes`` machines, ``--repeats`` times each (100 000 trials by default), writes
and reads the campaign, lets an engine keep a trial at work on every machine for ``--seconds``, then writes the journal
that all these trials leave, folds it as a viewer does, and asks for the campaign's status (the aim: at most 3 s of
processor time). The machines are stand-ins that answer at once: what is measured is the engine alone, without
connections (``orchestration`` measures those).
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from dlperf.campaign.create import create_campaign
from dlperf.campaign.dependencies import EngineDependencies
from dlperf.campaign.engine import run_campaign
from dlperf.catalog.files.load import load_catalog
from dlperf.executors.base import CheckItem, Observation, Trial, TrialReference
from dlperf.messages import quoted
from dlperf.plan import Launch, Plan, Selection, expand
from dlperf.runs.journal import CampaignReader, figure_data
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.records import Event, State, utc_now
from dlperf.runs.store import append_records, read_campaign

Found = dict[str, float]


def main() -> None:
    asked = arguments()
    gc.set_threshold(100_000)  # as both programs do
    with tempfile.TemporaryDirectory() as folder:
        workspace = _workspace(Path(folder), asked.nodes)
        plan, found = planning(workspace, asked.nodes, asked.repeats)
        _print("plan", found)
        _print("engine", engine(create_campaign(workspace, plan, "engine"), asked.seconds))
        _print("journal", journal(workspace.campaign("big"), plan))


def planning(workspace: WorkspacePaths, nodes: int, repeats: int) -> tuple[Plan, Found]:
    started = time.perf_counter()
    catalog = load_catalog(workspace.catalog)
    hardware = tuple(f"m{number}" for number in range(nodes))
    plan = expand(Selection(hardware, ("numpy",), ("lenet5",), batch_sizes=(32, 64), repeats=repeats), catalog)
    planned = time.perf_counter()
    paths = create_campaign(workspace, plan, "big")
    created = time.perf_counter()
    record = read_campaign(paths)
    read = time.perf_counter()
    return plan, {
        "configurations": len(record.configurations),
        "trials": len(record.trials),
        "plan_s": planned - started,
        "freeze_s": created - planned,
        "read_s": read - created,
        "plan_mb": paths.plan.stat().st_size / 1e6,
        "peak_mb": peak_mb(),
    }


def journal(paths: CampaignPaths, plan: Plan) -> Found:
    """Three events for each trial, and a viewer that reads them all, then what is added in a second."""
    states = (State.SUBMITTED, State.RUNNING, State.SUCCEEDED)
    for start in range(0, len(plan.trials), 1000):
        keys = plan.trials[start : start + 1000]
        append_records(paths.journal, [_event(str(key), state) for key in keys for state in states])
    reader, started = CampaignReader(paths), time.perf_counter()
    reader.refresh()
    folded = time.perf_counter()
    append_records(paths.journal, [Event(utc_now(), "note", cause=quoted("one more"))])
    appended = time.perf_counter()
    reader.refresh()
    looked = time.perf_counter()
    return {
        "events": 3 * len(plan.trials),
        "journal_mb": paths.journal.stat().st_size / 1e6,
        "fold_s": folded - started,
        "next_look_s": looked - appended,
        "peak_mb": peak_mb(),
        "status_processor_s": status_seconds(paths),
    }


def _event(trial: str, state: State) -> Event:
    data = figure_data(320.0, "images/s") if state.finished else {}
    return Event(utc_now(), "state", trial, state, data=data)


def status_seconds(paths: CampaignPaths) -> float:
    """Processor seconds of ``dlperf status``, which prints a line for each trial."""
    workspace = paths.directory.parent.parent
    command = [sys.executable, "-m", "dlperf", "--workspace", str(workspace), "status", paths.name]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    used = os.wait4(process.pid, 0)[2]
    return used.ru_utime + used.ru_stime


class StandIns:
    """Machines that answer at once, and whose trials never end."""

    def __init__(self) -> None:
        self._submitted: asyncio.Queue[str] = asyncio.Queue()

    async def all_at_work(self, machines: int) -> None:
        """Until so many trials were submitted."""
        for _ in range(machines):
            await self._submitted.get()

    async def check(self, launch: Launch) -> list[CheckItem]:
        return [CheckItem(node.name, "reachable", True, quoted("answers")) for node in launch.nodes]

    async def submit(self, trial: Trial) -> TrialReference:
        self._submitted.put_nowait(trial.trial_id)
        return TrialReference("stand-in", {})

    async def poll(self, trials: Sequence[Trial]) -> list[Observation]:
        return [Observation(trial.trial_id, State.RUNNING) for trial in trials]

    async def wait(self, trials: Sequence[Trial], seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def tail(self, trials: Sequence[Trial]) -> int:
        return 0

    async def cancel(self, trial: Trial, grace_seconds: float = 10.0) -> None:
        return

    async def collect(self, trial: Trial) -> None:
        return

    async def adopt(self, trial: Trial) -> TrialReference | None:
        return None

    async def close(self) -> None:
        return


def engine(paths: CampaignPaths, seconds: float) -> Found:
    """Processor time of an engine once it has a trial on every machine."""
    return asyncio.run(_engine(paths, seconds))


async def _engine(paths: CampaignPaths, seconds: float) -> Found:
    gc.collect()
    executor = StandIns()
    started = time.perf_counter()
    task = asyncio.create_task(run_campaign(paths, EngineDependencies(lambda _: executor)))
    machines = len({item.configuration.hardware for item in read_campaign(paths).configurations})
    await asyncio.wait_for(executor.all_at_work(machines), 600.0)
    filled, used = time.perf_counter(), time.process_time()
    await asyncio.sleep(seconds)
    cores = (time.process_time() - used) / (time.perf_counter() - filled)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    return {"machines": machines, "until_all_at_work_s": filled - started, "cores": cores, "peak_mb": peak_mb()}


def peak_mb() -> float:
    """The most that this process has had in memory so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _workspace(root: Path, nodes: int) -> WorkspacePaths:
    (root / "runs").mkdir()
    (root / "catalog" / "hardware").mkdir(parents=True)
    (root / "mkdocs.yml").touch()
    entries = [{"id": f"m{n}", "title": f"M{n}", "nodes": [{"name": f"m{n}", "host": f"m{n}"}]} for n in range(nodes)]
    (root / "catalog" / "hardware" / "many.yaml").write_text("\n".join(f"- {json.dumps(entry)}" for entry in entries))
    return WorkspacePaths(root)


def _print(name: str, found: Found) -> None:
    sys.stdout.write(json.dumps({"benchmark": name, **found}) + "\n")
    sys.stdout.flush()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=20.0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
