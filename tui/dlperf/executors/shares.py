"""A trial's share on each node: its folder, its mark and the settings of its supervisor. Pure."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlperf.executors.base import Trial
from dlperf.nodes.messages import NodeFile
from dlperf.plan import Launch, Node
from dlperf.render.launchers import find_launcher
from dlperf.render.trial import LAUNCH, RenderedNode, mark
from dlperf.runs.paths import NodePaths, file_name

JOB = "job.json"
"""What the supervisor must know: command, mark, limits, container, GPUs."""

COMPANION_SECONDS = 60.0
"""How much longer than the first node a node waits that has no payload of its own."""


@dataclass(frozen=True)
class Share:
    """What one node does of a trial."""

    trial: Trial
    node: Node
    starts: bool
    """False where the first node's launcher reaches this one by itself (mpirun, horovodrun)."""

    @property
    def key(self) -> tuple[str, str]:
        return self.trial.trial_id, self.node.name

    @property
    def directory(self) -> str:
        """The trial's folder on the node, below ``~/.dlperf``."""
        return f"{file_name(self.trial.trial_id)}/{file_name(self.node.name)}"

    @property
    def paths(self) -> NodePaths:
        """The trial's folder at home."""
        return self.trial.paths.node(self.node.name)

    @property
    def mark(self) -> str:
        """A launcher that reaches other nodes hands its own mark on to them."""
        owner = self.node if self.starts else self.trial.launch.nodes[0]
        return mark(self.trial.trial_id, owner.name)


def shares(trial: Trial) -> list[Share]:
    """One share for each node, in the order of ranks."""
    everywhere = find_launcher(trial.launch.launcher).everywhere
    return [Share(trial, node, everywhere or rank == 0) for rank, node in enumerate(trial.launch.nodes)]


def contents(share: Share, rendered: RenderedNode) -> dict[str, bytes]:
    """Everything that is sent to a node, by path below the trial's folder."""
    return rendered.files | {JOB: json.dumps(_job(share), indent=1).encode() + b"\n"}


def node_files(share: Share, files: dict[str, bytes]) -> list[NodeFile]:
    """The same as the client takes it."""
    return [NodeFile(f"{share.directory}/{path}", data, 0o700) for path, data in files.items()]


def sent_names(every: Sequence[Share], files: Sequence[Mapping[str, bytes]]) -> dict[str, bytes]:
    """The contents of all shares of a trial, named ``<node>/<path>``."""
    return {
        f"{file_name(share.node.name)}/{path}": data
        for share, sent in zip(every, files, strict=True)
        for path, data in sent.items()
    }


def _job(share: Share) -> dict[str, Any]:
    launch = share.trial.launch
    deadline = launch.deadline_seconds + (0.0 if share.starts else COMPANION_SECONDS)
    return {
        "mark": share.mark,
        "command": ["sh", LAUNCH] if share.starts else ["sleep", "infinity"],
        "deadline_seconds": deadline,
        "stall_seconds": launch.stall_seconds if share.starts else deadline,
        "container": container_facts(launch),
        "gpu_indices": list(share.node.gpu_indices or ()),
        "ends_with": _end_of_first(share) if launch.executor == "slurm" and not share.starts else None,
    }


def _end_of_first(share: Share) -> str:
    """The file that tells a node without a payload of its own, where all nodes share their files, that it is over."""
    first = share.trial.launch.nodes[0].name
    return f"../{file_name(first)}/{share.paths.exit.name}"


def container_facts(launch: Launch) -> dict[str, str] | None:
    """Runtime and image, for digests and for removal by label."""
    if launch.container is None:
        return None
    return {"runtime": launch.container.runtime, "image": launch.container.image}


def first_port(trial_id: str) -> int:
    """Where the search for a free port begins: another place for each trial, so that two rarely meet."""
    return zlib.crc32(trial_id.encode()) % 10000
