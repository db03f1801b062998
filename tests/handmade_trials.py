"""Campaigns written by hand: trials with logs in dlperf's own format."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from causes import cause_of
from dlperf.derived.timeline import derive, write_derived
from dlperf.plan import (
    Configuration,
    Impossible,
    Launch,
    Node,
    PlannedAccelerator,
    PlannedConfiguration,
    PlannedProtocol,
    Selection,
    TrialKey,
)
from dlperf.runs.archive import seal
from dlperf.runs.journal import figure_data
from dlperf.runs.paths import CampaignPaths, TrialPaths, WorkspacePaths
from dlperf.runs.records import CampaignRecord, Event, State, TrialRecord, TrialStatus
from dlperf.runs.store import append_records, write_campaign, write_record

START = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)
PROTOCOL = {"id": "test", "estimator": "rate(skip=20, take=100)", "aggregate": "median"}


def workspace_in(folder: Path) -> WorkspacePaths:
    (folder / "runs").mkdir(parents=True)
    (folder / "mkdocs.yml").touch()
    return WorkspacePaths(folder)


def own_log(rate: float, *, batch_size: int = 4, gpus: int = 2, steps: int = 130, printed: float | None = None) -> str:
    """A log of a run that processes ``rate`` samples per second over all GPUs, a record every 10 steps."""
    run = {"model": "lenet5", "framework": "numpy", "precision": "fp32", "batch_size": batch_size, "gpus": gpus}
    lines = [f"DLPERF {_time(0)} run {json.dumps(run | {'steps': steps, 'unit': 'images/s'})}"]
    for step in range(10, steps + 1, 10):
        samples = step * batch_size * gpus
        lines.append(f"DLPERF {_time(samples / rate)} step={step} samples={samples} throughput={printed or rate}")
    return "\n".join([*lines, f'DLPERF {_time(steps)} summary {{"throughput": {rate}, "unit": "images/s"}}', ""])


def _time(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def planned(
    gpus: int = 2,
    *,
    nodes: int = 1,
    framework: str = "numpy",
    hardware: str = "here",
    precision: str = "fp32",
    repeats: int = 3,
    protocol: Mapping[str, Any] = PROTOCOL,
    options: Mapping[str, Any] | None = None,
    gflops_per_sample: float | None = None,
    peaks: dict[str, float] | None = None,
) -> PlannedConfiguration:
    machines = tuple(Node(f"n{number}", "local", f"n{number}", f"n{number}") for number in range(nodes))
    return PlannedConfiguration(
        configuration=Configuration(hardware, framework, "lenet5", precision, 4, nodes, gpus),
        launch=Launch("direct", machines, gpus, "plain", (), ("train",)),
        format="dlperf",
        unit="images/s",
        protocol=PlannedProtocol(**protocol),
        repeats=repeats,
        options=dict(options or {}),
        gflops_per_sample=gflops_per_sample,
        accelerator=PlannedAccelerator(peak_tflops=peaks) if peaks else None,
    )


def write_trial(paths: TrialPaths, files: Mapping[str, str]) -> None:
    """Files under the node's names: ``n0/out.log``."""
    for name, text in files.items():
        file = paths.directory / "nodes" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def write_planned(
    workspace: WorkspacePaths,
    name: str,
    configurations: Sequence[PlannedConfiguration],
    impossible: Sequence[Impossible] = (),
) -> CampaignPaths:
    """A campaign of which nothing has run."""
    trials = tuple(
        TrialKey(item.configuration.id, number) for item in configurations for number in range(1, item.repeats + 1)
    )
    record = CampaignRecord(
        name, "0" * 8, "2026-01-31T12:00:00Z", "0", Selection(), tuple(configurations), trials, tuple(impossible)
    )
    paths = workspace.campaign(name)
    write_campaign(paths, record)
    return paths


def end_trial(
    campaign: CampaignPaths,
    item: PlannedConfiguration,
    number: int,
    files: Mapping[str, str],
    state: State = State.SUCCEEDED,
    cause: str | None = None,
    retry_of: int | None = None,
    log_run: int | None = None,
) -> None:
    """Archive a trial as the engine does: files, seal, result, journal."""
    key = TrialKey(item.configuration.id, number)
    paths = campaign.trial(key)
    name = f"t.{key.configuration}.{number}"
    write_record(paths.trial, TrialRecord(name, campaign.name, item.configuration, number, log_run=log_run))
    write_trial(paths, files)
    seal(paths)
    told = cause_of(cause) if cause else None
    derived = derive(paths, item, TrialStatus(key, state, told))
    write_derived(paths, derived)
    figure = figure_data(derived.result.value, derived.result.unit)
    again = Event("2026-01-31T12:04:00Z", "planned", str(key), data={"retry_of": retry_of})
    ended = Event("2026-01-31T12:05:00Z", "state", str(key), str(state), told, data=figure)
    append_records(campaign.journal, [again, ended] if retry_of else [ended])


def measured_campaign(
    workspace: WorkspacePaths,
    name: str,
    rates: Sequence[tuple[PlannedConfiguration, Sequence[float]]],
    files: Mapping[str, str] | None = None,
) -> CampaignPaths:
    """A campaign in which every configuration ran at these speeds, one for each trial.

    Args:
        files: of each trial besides its log.
    """
    campaign = write_planned(workspace, name, [item for item, _ in rates])
    for item, speeds in rates:
        for number, rate in enumerate(speeds, start=1):
            log = {"n0/out.log": own_log(rate, gpus=item.configuration.gpus_total)}
            end_trial(campaign, item, number, log | dict(files or {}))
    return campaign
