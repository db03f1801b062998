"""The part of a trial that one node runs: its folder, its mark and the settings of its supervisor. Pure."""

import json
from dataclasses import dataclass
from typing import Any

from dlperf.executors.base import Trial
from dlperf.plan import Launch, Node
from dlperf.render.launchers import find_launcher
from dlperf.render.trial import LAUNCH, mark, preparations, shell_of
from dlperf.runs.names import file_name
from dlperf.runs.paths import NodePaths

JOB = "job.json"
"""The settings of the supervisor: command, mark, limits, container, GPUs."""
COMPANION_SECONDS = 60.0
"""How much longer than the first node a node without a payload of its own may run."""


@dataclass(frozen=True)
class NodeTask:
    """What one node runs of a trial."""

    trial: Trial
    node: Node
    starts: bool
    """False where the first node's launcher starts this one (mpirun, horovodrun)."""

    @property
    def key(self) -> tuple[str, str]:
        return self.trial.trial_id, self.node.name

    @property
    def directory(self) -> str:
        """The task's folder on the node, below ``~/.dlperf``."""
        return f"{file_name(self.trial.trial_id)}/{file_name(self.node.name)}"

    @property
    def paths(self) -> NodePaths:
        """The archived files."""
        return self.trial.paths.node(self.node.name)

    @property
    def log_bytes(self) -> int:
        """The node's share of the bytes that logs of the trial may have."""
        launch = self.trial.launch
        return launch.log_limit_bytes // (len(launch.nodes) if find_launcher(launch.launcher).everywhere else 1)

    def job_file(self) -> bytes:
        """The content of ``job.json``."""
        launch = self.trial.launch
        deadline = launch.deadline_seconds + (0.0 if self.starts else COMPANION_SECONDS)
        first = launch.nodes[0].name
        # Nodes of a job share their files: a node without a payload ends with the first node's exit file.
        ends_with = f"../{file_name(first)}/{self.paths.exit.name}" if launch.queued else None
        settings = {
            "mark": mark(self.trial.trial_id, self.node.name if self.starts else first),
            "command": [shell_of(*preparations(launch)[0]), LAUNCH] if self.starts else [],
            "deadline_seconds": deadline,
            "stall_seconds": launch.stall_seconds if self.starts else deadline,
            "log_bytes": self.log_bytes,
            "container": container_facts(launch),
            "gpu_indices": list(self.node.gpu_indices or ()),
            "ends_with": None if self.starts else ends_with,
        }
        return json.dumps(settings, indent=1).encode() + b"\n"


def node_tasks(trial: Trial) -> list[NodeTask]:
    """The tasks of a trial, in the order of ranks."""
    everywhere = find_launcher(trial.launch.launcher).everywhere
    return [NodeTask(trial, node, everywhere or rank == 0) for rank, node in enumerate(trial.launch.nodes)]


def container_facts(launch: Launch) -> dict[str, Any] | None:
    """Runtime, image and the runtime's variables but those of a running trial, for digests and for removal by label."""
    if launch.container is None:
        return None
    return {"runtime": launch.container.runtime, "image": launch.container.image, "env": launch.machine_env}
