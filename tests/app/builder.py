"""Campaigns as an engine leaves them, written through ``runs.store``: plan, journal, progress, logs, telemetry."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dlperf.measured.model import TrialResult
from dlperf.messages import Message, message
from dlperf.messages.finding import Finding, warning
from dlperf.plan import Configuration, Launch, Node, PlannedConfiguration, PlannedProtocol, Selection, TrialKey
from dlperf.runs.journal import figure_data
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.records import CampaignRecord, Event, Progress, State, TrialProgress
from dlperf.runs.store import append_records, write_campaign, write_record

START = datetime(2026, 5, 4, 10, 0, tzinfo=UTC)
NOW = "2026-05-04T12:04:00.000000Z"
PROTOCOL = PlannedProtocol(id="dlperf", skip_steps=20, take_steps=100, estimator="rate(skip=20, take=100)")
MINE = "id: mine\ntitle: Mine\ngpus_per_node: 1\nnodes: [{name: mine, address: localhost}]\n"
"""An entry of a machine."""


def make_workspace(folder: Path) -> WorkspacePaths:
    """An empty workspace."""
    (folder / "mkdocs.yml").write_text("site_name: test\n")
    (folder / "runs").mkdir()
    return WorkspacePaths(folder)


def clock(seconds: float) -> str:
    """A time of the campaign's journal."""
    return (START + timedelta(seconds=seconds)).isoformat(timespec="microseconds").replace("+00:00", "Z")


def planned(
    configuration: Configuration, repeats: int = 3, nodes: Sequence[str] = ("h200-01",)
) -> PlannedConfiguration:
    """A configuration of a plan."""
    launch = Launch(
        executor="direct",
        nodes=tuple(Node(name, "ssh", name, name, gpu_indices=tuple(range(8))) for name in nodes),
        gpus=configuration.gpus,
        launcher="torchrun",
        interpreter=("python3", "-u"),
        command=("train.py", "--batch-size", str(configuration.batch_size), "--precision", configuration.precision),
        env={"NCCL_DEBUG": "WARN"},
    )
    return PlannedConfiguration(
        configuration,
        launch,
        "dlperf",
        "images/s",
        PROTOCOL,
        repeats,
        facts={"version": "2.9", "driver": "580.12"},
    )


class CampaignBuilder:
    """Writes one campaign, file by file."""

    def __init__(
        self,
        workspace: WorkspacePaths,
        name: str,
        configurations: Sequence[PlannedConfiguration],
        created: str = clock(0),
    ) -> None:
        self.paths: CampaignPaths = workspace.campaign(name)
        self.configurations = tuple(configurations)
        rounds = max(item.repeats for item in self.configurations)
        self.trials = tuple(
            TrialKey(item.configuration.id, number)
            for number in range(1, rounds + 1)
            for item in self.configurations
            if number <= item.repeats
        )
        self.record = CampaignRecord(
            name, "0a1b2c3d", created, "0.1.0", selection_of(self.configurations), self.configurations, self.trials
        )
        write_campaign(self.paths, self.record)
        self.event(Event(created, "campaign_started"))

    def event(self, *events: Event) -> None:
        """Add to the journal."""
        append_records(self.paths.journal, events)

    def state(self, key: TrialKey, state: State, seconds: float = 0.0, cause: Message | None = None) -> None:
        """A trial's state changes."""
        self.event(Event(clock(seconds), "state", str(key), state.value, cause))

    def succeeded(self, key: TrialKey, value: float, seconds: float = 60.0, findings: tuple[Finding, ...] = ()) -> None:
        """A trial that ran to its end, with result and log."""
        self.state(key, State.RUNNING, seconds)
        data = figure_data(value, "images/s")
        self.event(Event(clock(seconds + 240), "state", str(key), State.SUCCEEDED.value, data=data))
        result = TrialResult(
            number=key.number,
            state="succeeded",
            started=clock(seconds),
            duration_seconds=240.0,
            value=value,
            unit="images/s",
            estimator="rate(skip=20, take=100)",
            samples=100,
            first_step=20,
            last_step=120,
            first_line=24,
            last_line=124,
            log="nodes/h200-01/out.log",
            estimates={"mean()": value * 0.97},
            power_watts=4720.0,
            findings=findings,
        )
        write_record(self.paths.trial(key).result, result)
        self.log(key, training_log(value, 120))

    def failed(self, key: TrialKey, cause: Message, seconds: float = 60.0) -> None:
        """A trial that failed, with its log."""
        self.state(key, State.RUNNING, seconds)
        self.state(key, State.FAILED, seconds + 41, cause)
        self.log(key, training_log(900.0, 3) + OUT_OF_MEMORY_LOG)

    def log(self, key: TrialKey, text: str, node: str = "h200-01", name: str = "out.log") -> Path:
        """Append to a node's log."""
        path = self.paths.trial(key).node(node).directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as stream:
            stream.write(text)
        return path

    def telemetry(
        self, key: TrialKey, node: str = "h200-01", gpus: int = 8, seconds: int = 3, slow: bool = False
    ) -> None:
        """Telemetry of a node with GPUs."""
        path = self.paths.trial(key).node(node).telemetry
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [GPU_HEADER]
        for second in range(3):
            for gpu in range(gpus):
                reasons = "0x0000000000000040" if slow and gpu == 5 else "0x0000000000000004"
                clock_mhz = 1410 if slow and gpu == 5 else 1980
                moment = START.timestamp() + second
                lines.append(
                    f"{moment:.3f},{gpu},{97 + gpu % 2},62464,{590 + gpu},{clock_mhz},2619,{reasons},{60 + gpu},0"
                )
        path.write_text("\n".join(lines) + "\n")

    def progress(self, trials: dict[TrialKey, TrialProgress], seconds_left: float | None = 8400.0) -> None:
        """What runs now."""
        shown = {str(key): progress for key, progress in trials.items()}
        write_record(self.paths.progress, Progress(NOW, shown, 0, len(self.trials), seconds_left))


GPU_HEADER = (
    "time,gpu,utilization_percent,memory_used_mib,power_watts,sm_clock_mhz,memory_clock_mhz,throttle_reasons,"
    "temperature_celsius,foreign_processes"
)
TALK = ("NCCL version 2.27.3+cuda12.9", "数据集 imagenet 已加载: 1,281,167 张图片", "compiling the model …")
OUT_OF_MEMORY = message("and_more", subject=message("exit_code", code_value=1), more=message("out_of_memory"))
OUT_OF_MEMORY_LOG = """[rank5]: Traceback (most recent call last):
[rank5]:   File "train.py", line 311, in <module>
[rank5]:     main()
[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.31 GiB. GPU 5 has 39.39 GiB in all.
"""


def training_log(value: float, steps: int, first: int = 1) -> str:
    """A log in dlperf's own format, after three lines of talk; its times are those of its rates."""
    lines = (
        [*TALK, f'DLPERF {_stamp(0)} run {{"batch_size": 256, "gpus": 8, "unit": "images/s"}}'] if first == 1 else []
    )
    rates = [
        value * (0.35 + 0.03 * step if step <= 20 else 1 + 0.004 * ((step * 7) % 5 - 2))
        for step in range(first + steps)
    ]
    seconds = 0.0
    for step, rate in enumerate(rates[1:], start=1):
        seconds += 2048 / rate
        numbers = f"samples={step * 2048} loss={6.9 - 0.01 * step:.3f} throughput={rate:.1f}"
        lines += [f"DLPERF {_stamp(seconds)} step={step} {numbers}"] if step >= first else []
    return "\n".join(lines) + "\n"


def _stamp(seconds: float) -> str:
    """A time as logs in dlperf's own format have it."""
    return clock(seconds)


def selection_of(configurations: Sequence[PlannedConfiguration]) -> Selection:
    """The selection that such a plan came from."""
    points = [item.configuration for item in configurations]
    return Selection(
        hardware=tuple(dict.fromkeys(point.hardware for point in points)),
        frameworks=tuple(dict.fromkeys(point.framework for point in points)),
        cases=tuple(dict.fromkeys(point.case for point in points)),
        precisions=tuple(dict.fromkeys(point.precision for point in points)),
    )


@contextmanager
def engine_of(paths: CampaignPaths) -> Iterator[None]:
    """The campaign's lock is held, as by an engine."""
    with paths.lock.open("w") as stream:
        stream.write(f"{os.getpid()}\n")
        stream.flush()
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


POINTS = (
    Configuration("h200", "pytorch", "resnet50", "amp", 256, 1, 8),
    Configuration("h200", "pytorch", "resnet50", "amp", 256, 1, 1),
    Configuration("h200", "pytorch", "bert-base", "bf16", 96, 1, 8),
    Configuration("h200", "paddle", "resnet50", "amp", 256, 1, 8),
    Configuration("h200", "pytorch", "vgg16", "fp32", 64, 1, 8),
)


def running_campaign(workspace: WorkspacePaths, name: str = "h200-nightly") -> CampaignBuilder:
    """The campaign that the pictures show: something of every state."""
    builder = CampaignBuilder(workspace, name, [planned(point) for point in POINTS[:4]])
    keys = {point.case + point.framework + point.scale: point.id for point in POINTS}
    resnet8, resnet1 = keys["resnet50pytorch1n8g"], keys["resnet50pytorch1n1g"]
    bert, paddle = keys["bert-basepytorch1n8g"], keys["resnet50paddle1n8g"]
    builder.succeeded(TrialKey(resnet8, 1), 23040.4, 60)
    builder.succeeded(TrialKey(resnet1, 1), 3012.6, 320, (warning("drift", direction=message("falls"), change=0.031),))
    builder.failed(TrialKey(bert, 1), OUT_OF_MEMORY, 620)
    builder.succeeded(TrialKey(paddle, 1), 22410.0, 700)
    builder.succeeded(TrialKey(resnet8, 2), 23102.9, 960)
    running = TrialKey(resnet1, 2)
    builder.state(running, State.SUBMITTED, 1300)
    builder.state(running, State.RUNNING, 1302)
    builder.log(running, training_log(3010.0, 71))
    builder.telemetry(running, slow=True)
    recent = tuple(2400 + 610 * min(1.0, step / 12) + (step % 3) * 4 for step in range(32))
    builder.progress({running: TrialProgress(71, 120, 3010.4, "images/s", recent, 98.0)})
    return builder


def finished_campaign(workspace: WorkspacePaths, name: str, value: float = 22950.0, day: int = 1) -> CampaignBuilder:
    """A campaign that ended, all trials succeeded."""
    builder = CampaignBuilder(workspace, name, [planned(POINTS[0])], clock(-86400.0 * day))
    for number in (1, 2, 3):
        builder.succeeded(TrialKey(POINTS[0].id, number), value + 20 * number, -86400.0 * day + 300 * number)
    builder.event(Event(clock(-86400.0 * day + 1500), "campaign_finished"))
    return builder


def large_campaign(workspace: WorkspacePaths, configurations: int, repeats: int, running: int) -> CampaignBuilder:
    """Many trials, the first of which run."""
    points = [replace(POINTS[0], batch_size=index + 1) for index in range(configurations)]
    builder = CampaignBuilder(workspace, "large", [planned(point, repeats) for point in points])
    events = [Event(clock(1), "state", str(key), "running") for key in builder.trials[:running]]
    builder.event(*events)
    return builder
