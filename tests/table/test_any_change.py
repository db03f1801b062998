"""Any single change of any field of any record of a workspace: every command says so in a line at most, and goes on.

A sample by a fixed seed; of all of them, more with ``DLPERF_CHANGES=1000``.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from changed_records import changes
from counting_workspace import Counting
from dlperf.messages import message
from dlperf.plan import Configuration, Impossible
from dlperf.runs.lookup import remove_campaign
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import Event, Progress, Request, State, TrialProgress
from dlperf.runs.store import append_records, read_campaign, write_campaign, write_record, write_secrets
from dlperf.table.audited import write_verified
from every_reader import OF_CATALOGUE, OF_WORKSPACE, Reader, cheap, command, of_campaign, pages, run, settings
from handmade_trials import end_trial, own_log, planned, write_planned

PUBLISHED = Path(__file__).parents[2] / "runs" / "published"
SEED, TOGETHER = 32, 120
SAMPLED = int(os.environ.get("DLPERF_CHANGES", "40"))
KINDS = (".json", ".jsonl", ".yaml", ".yml", ".csv", ".times")
GPU_COLUMNS = (
    "time,gpu,utilization_percent,memory_used_mib,power_watts,sm_clock_mhz,memory_clock_mhz,throttle_reasons,"
    "temperature_celsius,foreign_processes,energy_millijoules,cpu_package_millijoules,node_watts"
)
TELEMETRY = "\n".join(
    [GPU_COLUMNS]
    + [
        f"{1769860800 + second}.000,{gpu},97,62464,590,1980,2619,0x0000000000000004,60,0,{second * 600000},{second},900"
        for second in range(14)
        for gpu in range(2)
    ]
)
GPUS = [{"index": gpu, "name": "NVIDIA H100", "uuid": f"GPU-{gpu}", "driver": "580.1"} for gpu in range(2)]
ENVIRONMENT = {
    **{"hostname": "n0", "os": "Debian", "kernel": "6", "cpu": {"model": "x", "threads": 2}, "gpus": GPUS},
    **{"python": "3.11", "packages": {"torch": "2.9"}, "topology": "x", "never_run_vendor": "x"},
}
EXIT = {
    **{"state": "succeeded", "cause": {"code": "exit_code", "code_value": 0}, "code": 0, "signal": None},
    **{"started": "2026-01-31T12:00:00.000Z", "ended": "2026-01-31T12:05:00Z", "duration_seconds": 300},
    **{"processes_left": [], "telemetry_rows_lost": 1, "libraries": {"nccl": "2.27"}, "modules": {"torch": "/x"}},
    "driver_errors": [{"pci_bus": "0000:01", "code": 79}],
}
OTHERS: dict[str, str] = {
    "mkdocs.yml": (
        'site_name: x\nsite_url: https://example.org/\nextra: {languages: [en], colours: {light: {link: "#005f73"}}}\n'
    ),
    "dlperf.yaml": "at_end: {webhook: https://example.org/x, command: 'true'}\n",
    "presets.json": '{"one": "-H local -f numpy"}',
    "site/acknowledged.yaml": "- {what: x, file: y, reason: z}\n",
    "site/withdrawn.yaml": "- {campaign: x, ahead: y, behind: z, lead: 1.0 %, fault: layers_scanned}\n",
    "catalog/hardware/h.yaml": (
        "id: h\ntitle: H\nnodes: [{name: n, host: n, address: 127.0.0.1, port: 22, user: u}]\ngpus: 2\n"
        "accelerator: h100-sxm\nenv: {A: b}\n"
    ),
    "catalog/formats/f.yaml": "id: f\ntitle: F\nrecord: '^step (?P<step>[0-9]+) (?P<value>[0-9.]+)$'\nunit: images/s\n",
    "catalog/metrics/m.yaml": "id: m\ntitle: M\nunit: s\ndirection: lower\n",
    "catalog/accelerators/a.yaml": "id: a\ntitle: A\nmatch: A1\nmemory_gb: 80\npeak_tflops: {bf16: 100}\n",
    "runs/.trash/gone-1/campaign.json": "{}",
}


@dataclass(frozen=True)
class Change:
    """Other content of one file."""

    file: Path
    place: str
    content: bytes

    def __str__(self) -> str:
        return f"{self.file}: {self.place}"


def _hand_made(workspace: WorkspacePaths) -> None:
    """Add a campaign with GPUs, a success, a retried failure, a silent node, requests, progress, tags and secrets."""
    two = planned(gpus=2, repeats=1, gflops_per_sample=1.0, peaks={"fp32": 100.0})
    one = planned(gpus=1, repeats=2)
    impossible = Impossible(Configuration("here", "numpy", "lenet5", "bf16", 4, 1, 8), message("waiting"))
    paths = write_planned(workspace, "hand", (two, one), (impossible,))
    append_records(paths.journal, [Event("2026-01-31T12:00:00Z", "campaign_started")])
    files = {"telemetry.csv": TELEMETRY, "environment.json": json.dumps(ENVIRONMENT), "exit.json": json.dumps(EXIT)}
    files |= {"out.log": own_log(100.0), "out.times": "seconds,bytes,log\n1.0,100,out.log\n2.0,900,out.log\n"}
    end_trial(paths, two, 1, {f"n0/{name}": text for name, text in files.items()})
    end_trial(paths, one, 1, {"n0/out.log": "RuntimeError: x\n"}, State.FAILED, "exit code 1")
    end_trial(paths, one, 3, {"n0/out.log": own_log(50.0)}, retry_of=1)
    blamed = {"code": "exit_code", "code_value": 1}
    told: list[tuple[str, dict[str, object]]] = [
        ("node_unreachable", {"node": "n0"}),
        ("node_left_out", {"machine": "here", "node": "n0", "blamed": blamed}),
        ("request", {"action": "pause", "by": "x", "offset": 10}),
    ]
    append_records(paths.journal, [Event("2026-01-31T12:06:00Z", kind, data=data) for kind, data in told])
    append_records(paths.control, [Request("2026-01-31T12:06:00Z", "cancel", by="x")])
    progress = TrialProgress(1, 2, 3010.4, "images/s", (1.0, 2.0), 98.0)
    write_record(paths.progress, Progress("2026-01-31T12:06:00Z", {f"{one.configuration.id}/2": progress}))
    write_verified(paths, {f"{two.configuration.id}/1": 100.0})
    write_secrets(paths.directory, {"[secret:x]": "value-of-a-secret"})
    paths.tags.write_text("mine superseded\n")


@pytest.fixture
def base(measured: Counting) -> WorkspacePaths:
    """A workspace with every kind of record; ``good`` is a campaign that stays as it is."""
    workspace = measured.workspace
    source = workspace.campaign("try")
    for name in ("good", "gone"):
        shutil.copytree(source.directory, workspace.campaign(name).directory)
        write_campaign(workspace.campaign(name), replace(read_campaign(source), name=name))
    remove_campaign(workspace, workspace.campaign("gone"))
    _hand_made(workspace)
    shutil.copytree(PUBLISHED / "torchtitan", workspace.published / "torchtitan")
    workspace.site.mkdir(exist_ok=True)
    shutil.copy(WorkspacePaths(PUBLISHED.parents[1]).audit, workspace.audit)
    for name, text in OTHERS.items():
        (workspace.root / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace.root / name).write_text(text)
    run(workspace, "baseline", "save", "mine", "--campaign", "hand")
    return workspace


def _changes(root: Path, folders: Iterable[str]) -> list[Change]:
    below = (
        path for name in folders for path in ((root / name).rglob("*") if (root / name).is_dir() else [root / name])
    )
    files = sorted(path for path in below if path.suffix in KINDS)
    found = [Change(path.relative_to(root), *change) for path in files for change in changes(path)]
    return random.Random(SEED).sample(found, min(SAMPLED, len(found)))


def _broken(
    workspace: Callable[[Sequence[Change]], WorkspacePaths], batch: Sequence[Change], read: Reader
) -> Iterator[str]:
    """Yield each change with which reading fails, found by halves."""
    try:
        read(workspace(batch))
    except Exception as error:
        if len(batch) == 1:
            yield f"{batch[0]}: {type(error).__name__}: {str(error)[:600]}"
        else:
            middle = len(batch) // 2
            yield from _broken(workspace, batch[:middle], read)
            yield from _broken(workspace, batch[middle:], read)


def _copies(base: WorkspacePaths, folder: Path, batch: Sequence[Change]) -> WorkspacePaths:
    """Return a workspace in which each change has a campaign of its own."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(base.root, folder, ignore=lambda path, names: {"try", "hand"} if path.endswith("/runs") else ())
    for number, change in enumerate(batch):
        _, campaign, *below = change.file.parts
        copy, name = folder / "runs" / f"c{number:03}", Path(*below)
        shutil.copytree(base.runs / campaign, copy, copy_function=os.link)
        for file, content in {
            "campaign.json": (copy / "campaign.json").read_bytes(),
            str(name): change.content,
        }.items():
            (copy / file).unlink()
            named = content.replace(f'"name": "{campaign}"'.encode(), f'"name": "{copy.name}"'.encode(), 1)
            (copy / file).write_bytes(named if file == "campaign.json" else content)
    return WorkspacePaths(folder)


def _replace(path: Path, content: bytes) -> None:
    """Write another file of this name: the one before may be linked to from elsewhere."""
    path.unlink()
    path.write_bytes(content)


def _good_is_shown(workspace: WorkspacePaths) -> None:
    assert all("good" in run(workspace, name)[0] for name in ("status", "results"))


@pytest.mark.timeout(900)
def test_any_change_of_any_record_of_a_campaign(base: WorkspacePaths, tmp_path: Path):
    found = _changes(base.root, ("runs/try", "runs/hand"))
    broken: list[str] = []
    copies = partial(_copies, base, tmp_path / "copies")
    with cheap(one_catalogue=True):
        for start in range(0, len(found), TOGETHER):
            batch = found[start : start + TOGETHER]
            for name, read in (OF_WORKSPACE | {"good": _good_is_shown}).items():
                broken += (f"{name}: {text}" for text in _broken(copies, batch, read))
            workspace = copies(batch)
            for number, change in enumerate(batch):
                for name, read in of_campaign(f"c{number:03}", "good").items():
                    broken += (f"{name}: {text}" for text in _broken(lambda _, one=workspace: one, [change], read))
    assert not broken, "\n".join(broken)


@pytest.mark.timeout(900)
def test_any_change_of_any_other_file_of_a_workspace(base: WorkspacePaths):
    """One file after the other: what reads it, and the pages."""
    baseline = {name: command("baseline", *name.split()) for name in ("show", "show mine", "compare mine good")}
    readers: dict[str, dict[str, Reader]] = {
        "catalog": OF_CATALOGUE,
        "baselines": baseline,
        "runs/published": {name: OF_WORKSPACE[name] for name in ("results", "verify", "screens")} | {"pages": pages},
        "runs/.trash": {"screens": OF_WORKSPACE["screens"]},
        "site": {name: OF_WORKSPACE[name] for name in ("results", "verify")} | {"pages": pages},
        "mkdocs.yml": {"pages": pages},
        "dlperf.yaml": {"settings": settings, "plan": OF_CATALOGUE["plan"]},
        "presets.json": {"settings": settings},
    }
    broken: list[str] = []
    for change in _changes(base.root, readers):
        file = base.root / change.file
        before = file.read_bytes()
        file.write_bytes(change.content)
        readers_of = next(found for name, found in readers.items() if change.file.is_relative_to(name))
        with cheap(one_catalogue=not change.file.is_relative_to("catalog")):
            for name, read in readers_of.items():
                broken += (f"{name}: {text}" for text in _broken(lambda _: base, [change], read))
        file.write_bytes(before)
    assert not broken, "\n".join(broken)
