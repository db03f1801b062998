"""What a machine tells of itself before a trial → one line for each thing that must be right. Pure."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from dlperf.errors import RefusedError, UnreachableError
from dlperf.executors.base import CheckItem
from dlperf.messages import message, quoted
from dlperf.nodes.messages import Hello
from dlperf.nodes.supervisor.containers import KEEPING_RUNTIMES
from dlperf.nodes.transport import Machine
from dlperf.plan import Launch, Node

DISK_BYTES = 2 * 1024**3
CLOCK_SECONDS = 2.0
IDLE_PERCENT = 5.0


def unreachable(node: Node, error: UnreachableError) -> list[CheckItem]:
    """The one line of a machine that does not answer, or refuses."""
    if isinstance(error, RefusedError):
        return [CheckItem(node.name, "reachable", False, error.cause, {"refused": True})]
    login = Machine.of(node).login
    advice = message("address_advice", login=login) if login else None
    return [CheckItem(node.name, "reachable", False, error.cause, advice=advice)]


def items(node: Node, launch: Launch, hello: Hello, facts: dict[str, Any]) -> list[CheckItem]:
    """Every line of a machine that answers."""
    return [
        CheckItem(node.name, "reachable", True, message("answers", host=hello.hostname)),
        CheckItem(node.name, "python", True, quoted(f"Python {hello.python}")),
        _clock(node, hello),
        _disk(node, facts),
        *_gpus(node, launch, facts),
        *_infiniband(node, facts),
        *_image(node, launch, facts),
        *_files(node, facts),
    ]


def agreement(answers: Sequence[tuple[Node, dict[str, Any]]]) -> list[CheckItem]:
    """What must be equal on all nodes: one line for each node that differs from most, or one that none does."""
    found = []
    for check, fact in _EQUAL.items():
        known = {node.name: value for node, facts in answers if (value := fact(facts))}
        if len(known) > 1:
            usual = Counter(known.values()).most_common(1)[0][0]
            first = next(name for name, value in known.items() if value == usual)
            odd = {name: value for name, value in known.items() if value != usual}
            found += [
                CheckItem(name, check, False, message("differs", value=value, usual=usual, first=first))
                for name, value in odd.items()
            ]
            found += [] if odd else [CheckItem(first, check, True, message("equal", usual=usual))]
    return found


def _active_ports(facts: dict[str, Any]) -> str | None:
    ports = facts["infiniband"]
    return f"{sum(port['state'] == 'ACTIVE' for port in ports)} of {len(ports)} ports active" if ports else None


def _links(facts: dict[str, Any]) -> str | None:
    return ", ".join(f"{count} NVLinks up" for count in sorted(set(facts["nvlinks"].values()))) or None


def _driver(facts: dict[str, Any]) -> str | None:
    return ", ".join(sorted({f"driver {gpu['driver']}" for gpu in facts["gpus"]})) or None


_EQUAL: dict[str, Callable[[dict[str, Any]], str | None]] = {
    "driver": _driver,
    "cuda": lambda facts: facts["cuda"] and f"CUDA {facts['cuda']}",
    "image_equal": lambda facts: facts["image_digest"],
    "nvlink_equal": _links,
    "infiniband_equal": _active_ports,
}


def ssh_options(launch: Launch) -> list[str]:
    """What the launcher gives to ssh.

    Open MPI is told by its option, by its variable, or has the first node's port. Horovod is told a port and a key, and
    itself has ssh take every host's key (``horovod/runner/util/remote.py``); here none of them is remembered.
    """
    given = dict(pairwise(launch.launcher_options))
    port_of_first = launch.nodes[0].port
    default = ["-p", str(port_of_first)] if port_of_first else []
    if launch.launcher == "horovodrun":
        key = given.get("--ssh-identity-file") or given.get("-i")
        return [*_HOROVOD_SSH, *default, *(["-i", key] if key else [])]
    told = given.get("plm_rsh_args") or launch.env.get("OMPI_MCA_plm_rsh_args")
    return default if told is None else shlex.split(told)


_HOROVOD_SSH = ("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR")


def login(launch: Launch, node: Node, complaint: str) -> CheckItem:
    """Whether the first node's launcher can reach another; ``complaint`` is what ssh said, if anything."""
    name, other = launch.nodes[0].name, f"{node.name} ({node.address})"
    if not complaint:
        return CheckItem(name, "ssh", True, message("may_log_in", other=other))
    why = complaint.splitlines()[-1]
    said = message("cannot_log_in", other=other, launcher=launch.launcher, why=why)
    return CheckItem(name, "ssh", False, said)


def port(node: Node, number: int) -> CheckItem:
    return CheckItem(node.name, "port", True, message("port_free", port=number), {"port": number})


def _clock(node: Node, hello: Hello) -> CheckItem:
    """A clock is wrong only by what a slow answer does not explain."""
    offset, error = hello.clock_offset_seconds, hello.clock_error_seconds
    said = message("clock_ahead" if offset > 0 else "clock_behind", seconds=abs(offset))
    return CheckItem(node.name, "clock", abs(offset) - error <= CLOCK_SECONDS, said, {"offset_seconds": offset})


def _disk(node: Node, facts: dict[str, Any]) -> CheckItem:
    free = facts["disk_free_bytes"]
    size, wanted = free / 1024**3, DISK_BYTES / 1024**3
    enough = free >= DISK_BYTES
    said = message("disk_free", size=size) if enough else message("disk_short", size=size, wanted=wanted)
    return CheckItem(node.name, "disk", enough, said, {"free_bytes": free})


def _gpus(node: Node, launch: Launch, facts: dict[str, Any]) -> list[CheckItem]:
    if not launch.expected_gpu and not node.gpu_indices:
        return []
    ours = [gpu for gpu in facts["gpus"] if not node.gpu_indices or gpu["index"] in node.gpu_indices]
    counted = _gpu_count(node, launch, ours)
    if not ours:
        return [counted]
    return [counted, *_gpu_model(node, launch, ours), _gpu_idle(node, ours, facts), *_nvlink(node, ours, facts)]


def _nvlink(node: Node, gpus: list[dict[str, Any]], facts: dict[str, Any]) -> list[CheckItem]:
    """A GPU with fewer links up than its siblings slows all of them."""
    links = {gpu["index"]: facts["nvlinks"][gpu["uuid"]] for gpu in gpus if gpu["uuid"] in facts["nvlinks"]}
    if not links:
        return []
    most = max(links.values())
    fewer = ", ".join(f"GPU {index}: {count}" for index, count in links.items() if count < most)
    said = message("nvlinks_down", most=most, gpus=fewer) if fewer else message("nvlinks_up", most=most)
    return [CheckItem(node.name, "nvlink", not fewer, said)]


def _infiniband(node: Node, facts: dict[str, Any]) -> list[CheckItem]:
    """Which ports a machine uses is its own affair: one that is down is said, and is no reason not to start."""
    told = [f"{port['name']} {port['state']}, {port['rate']}" for port in facts["infiniband"]]
    return [CheckItem(node.name, "infiniband", True, quoted("; ".join(told)))] if told else []


def _gpu_count(node: Node, launch: Launch, gpus: list[dict[str, Any]]) -> CheckItem:
    found = len(gpus)
    said = message("gpus_found", count=found, wanted=launch.gpus)
    return CheckItem(node.name, "gpu_count", found >= launch.gpus, said, {"gpus": found})


def _gpu_model(node: Node, launch: Launch, gpus: list[dict[str, Any]]) -> list[CheckItem]:
    if not launch.expected_gpu:
        return []
    names = sorted({gpu["name"] for gpu in gpus})
    right = all(any(re.search(pattern, name) for pattern in launch.expected_gpu) for name in names)
    listed = ", ".join(names)
    return [CheckItem(node.name, "gpu_model", right, quoted(listed) if right else message("wrong_gpu", names=listed))]


def _gpu_idle(node: Node, gpus: list[dict[str, Any]], facts: dict[str, Any]) -> CheckItem:
    identifiers = {gpu["uuid"] for gpu in gpus}
    users = [process for process in facts["gpu_processes"] if process["gpu"] in identifiers]
    busy = [gpu["index"] for gpu in gpus if (gpu["utilization_percent"] or 0.0) > IDLE_PERCENT]
    if users:
        listed = ", ".join(f"{user['name']} (pid {user['pid']}, {user['user'] or 'unknown user'})" for user in users)
        return CheckItem(node.name, "gpu_idle", False, message("gpus_used", users=listed), {"processes": users})
    said = message("gpus_busy", indices=str(busy)) if busy else message("gpus_idle")
    return CheckItem(node.name, "gpu_idle", not busy, said)


def _image(node: Node, launch: Launch, facts: dict[str, Any]) -> list[CheckItem]:
    if launch.container is None or launch.container.runtime == "none":
        return []
    digest, container = facts["image_digest"], launch.container
    if complaint := facts["runtime_complaint"]:
        said = message("no_runtime", runtime=container.runtime, complaint=complaint)
        return [CheckItem(node.name, "image", False, said)]
    can_pull = container.runtime in KEEPING_RUNTIMES
    absent = message("image_pulled" if can_pull else "image_absent", image=container.image)
    said = quoted(digest) if digest else absent
    return [CheckItem(node.name, "image", bool(digest) or can_pull, said, {"digest": digest})]


def _files(node: Node, facts: dict[str, Any]) -> list[CheckItem]:
    return [CheckItem(node.name, "files", False, message("no_file", path=path)) for path in facts["missing"]]
