"""An executor whose trials do what a test says, in no time: what no real machine does on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

from dlperf.campaign import create
from dlperf.campaign.dependencies import EngineDependencies, Timeouts
from dlperf.errors import DlperfError, UnreachableError
from dlperf.executors.base import CheckItem, NodeObservation, Observation, Trial, TrialReference
from dlperf.messages import Message, message, quoted
from dlperf.plan import Configuration, Launch, Node, Plan, PlannedConfiguration, PlannedProtocol, Selection
from dlperf.plan.model import interleaved
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.records import State

LOG = b"".join(
    b"DLPERF 2026-01-01T00:00:%02d.000000Z step=%d epoch=0 samples=%d loss=1 throughput=320\n" % (n, n * 10, n * 320)
    for n in range(1, 13)
)
QUICK = Timeouts(tick=0.005, progress=0.0, machine_rest=0.0, busy=0.1, silence=0.1, reconnect=0.01)


@dataclass
class Script:
    """What one trial does."""

    state: State = State.SUCCEEDED
    cause: Message | None = None
    polls: int = 1
    """How often it is seen running before it ends; a negative number is for ever."""
    log: bytes = LOG
    not_ready: str | None = None
    busy: int = 0
    """How often its GPUs are found busy."""
    unreachable: int = 0
    """How often its machine does not answer when it is submitted."""
    silent: int = 0
    """How often its machine does not answer while it runs."""
    collect_error: DlperfError | None = None
    blames: bool = False
    """Its node is named as the one that ended so."""
    telemetry: str = ""
    age: float | None = None
    """For how long its machine says that it runs."""
    stale: int = 0
    """How often its machine has not answered yet."""


@dataclass
class ScriptedExecutor:
    """Runs trials by the script of ``<configuration id>.<number>``; success by default."""

    scripts: dict[str, Script] = field(default_factory=dict)
    nodes: dict[str, str] = field(default_factory=dict)
    """Trials that the nodes hold → ``running``, or how they ended; survives an engine."""
    calls: list[tuple[str, str]] = field(default_factory=list)
    on_poll: Callable[[], None] = lambda: None
    polled: dict[str, int] = field(default_factory=dict)
    cancelled: set[str] = field(default_factory=set)
    waits: list[int] = field(default_factory=list)
    """How many trials each wait was for."""
    most_at_once: int = 0
    deaf: dict[str, int] = field(default_factory=dict)
    """Machine → how often it does not answer when it is checked."""
    refusing: set[str] = field(default_factory=set)
    """Machines that answer and let nobody in."""
    together: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Trial → the numbers that it was submitted with."""

    def script(self, trial: Trial) -> Script:
        return self.scripts.setdefault(short(trial), Script())

    async def check(self, launch: Launch) -> list[CheckItem]:
        items = [CheckItem(node.name, "reachable", True, quoted("answers")) for node in launch.nodes]
        (node,) = launch.nodes
        if node.name in self.refusing:
            return [CheckItem(node.name, "reachable", False, quoted("wrong key"), {"refused": True})]
        if self.deaf.get(node.name, 0):
            self.deaf[node.name] -= 1
            return [CheckItem(node.name, "reachable", False, quoted("no route to host"))]
        problem = next((s.not_ready for s in self.scripts.values() if s.not_ready), None)
        busy = next((script for script in self.scripts.values() if script.busy), None)
        if busy:
            busy.busy -= 1
        idle = CheckItem(launch.nodes[0].name, "gpu_idle", busy is None, quoted("in use by train.py"))
        return [*items, idle, CheckItem(launch.nodes[0].name, "disk", problem is None, quoted(problem or ""))]

    async def submit(self, trial: Trial) -> TrialReference:
        self.calls.append(("submit", short(trial)))
        self.together[short(trial)] = trial.repeats
        script = self.script(trial)
        if script.unreachable:
            script.unreachable -= 1
            raise UnreachableError("node n: no route to host")
        self.nodes.setdefault(trial.trial_id, "running")
        self.most_at_once = max(self.most_at_once, list(self.nodes.values()).count("running"))
        return TrialReference("scripted", {})

    async def poll(self, trials: Sequence[Trial]) -> list[Observation]:
        self.on_poll()
        return [self._observe(trial) for trial in trials]

    def _observe(self, trial: Trial) -> Observation:
        script, name = self.script(trial), trial.trial_id
        seen = self.polled[name] = self.polled.get(name, 0) + 1
        node = trial.launch.nodes[0].name
        if name not in self.nodes:
            return Observation(name, State.LOST, message("no_exit_file"))
        if seen <= script.silent:
            silent = NodeObservation(node, State.RUNNING, unreachable_since="2026-01-01T00:00:00Z")
            return Observation(name, State.RUNNING, nodes=(silent,))
        if name in self.cancelled:
            self.nodes[name] = "ended"
            return Observation(name, State.CANCELLED, message("cancelled"), "supervisor")
        if script.polls < 0 or seen <= script.polls + script.silent:
            running = NodeObservation(node, State.RUNNING, age=script.age)
            return Observation(name, State.RUNNING, nodes=(running,), stale=seen <= script.stale)
        self.nodes[name] = "ended"
        blamed = (
            (NodeObservation(node, script.state, script.cause, started=datetime.now(UTC)),) if script.blames else ()
        )
        return Observation(name, script.state, script.cause, "supervisor", blamed)

    async def wait(self, trials: Sequence[Trial], seconds: float) -> None:
        self.waits.append(len(trials))
        await asyncio.sleep(seconds)

    async def tail(self, trials: Sequence[Trial]) -> None:
        for trial in trials:
            self._bring(trial)

    def _bring(self, trial: Trial) -> None:
        node = trial.paths.node(trial.launch.nodes[0].name)
        node.directory.mkdir(parents=True, exist_ok=True)
        node.log.write_bytes(self.script(trial).log)
        if telemetry := self.script(trial).telemetry:
            node.telemetry.write_text(telemetry)

    async def time_out(self, trial: Trial) -> None:
        self.calls.append(("time_out", short(trial)))

    async def cancel(self, trial: Trial, grace_seconds: float = 10.0) -> None:
        self.calls.append(("cancel", short(trial)))
        self.cancelled.add(trial.trial_id)

    async def collect(self, trial: Trial) -> None:
        self.calls.append(("collect", short(trial)))
        if error := self.script(trial).collect_error:
            raise error
        self._bring(trial)

    async def adopt(self, trial: Trial) -> TrialReference | None:
        self.calls.append(("adopt", short(trial)))
        return TrialReference("scripted", {}) if trial.trial_id in self.nodes else None

    async def close(self) -> None:
        self.calls.append(("close", ""))

    def called(self, what: str) -> list[str]:
        """The trials for which a method was called, in order."""
        return [name for call, name in self.calls if call == what]

    @property
    def dependencies(self) -> EngineDependencies:
        return EngineDependencies(lambda _: self)


def short(trial: Trial) -> str:
    """``a.1``: framework and number, which tell trials of these tests apart."""
    configuration, number = trial.paths.directory.parent.name, trial.paths.directory.name
    return f"{configuration.split('_')[1]}.{number}"


def planned(framework: str, host: str = "m1", repeats: int = 2, pause: float = 0.0) -> PlannedConfiguration:
    """A configuration of one framework on one machine."""
    node = Node(host, "ssh", host, host)
    return PlannedConfiguration(
        configuration=Configuration(f"on-{host}", framework, "case", "fp32", 32, 1, 1),
        launch=Launch("direct", (node,), 1, "plain", (), ("true",)),
        format="dlperf",
        unit="images/s",
        protocol=PlannedProtocol("test", 20, 100, estimator="rate(skip=20, take=100)", pause_seconds=pause),
        repeats=repeats,
    )


def campaign(folder: Path, *configurations: PlannedConfiguration, name: str = "try") -> CampaignPaths:
    """A campaign that has not started; its order is that of the plan, not drawn, so that tests can name it."""
    (folder / "runs").mkdir(exist_ok=True)
    (folder / "mkdocs.yml").touch()
    with patch.object(create, "interleaved", lambda configurations, _seed: interleaved(configurations)):
        return create.create_campaign(WorkspacePaths(folder), Plan(Selection(), configurations), name)
