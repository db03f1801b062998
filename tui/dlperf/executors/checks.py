"""The items of a pre-flight check, from the facts of the machines. Pure."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

from dlperf.catalog.linear import is_any_found
from dlperf.errors import RefusedError, UnreachableError
from dlperf.executors.base import CheckItem
from dlperf.messages import message, quoted
from dlperf.nodes.messages import Facts, Gpu, Hello
from dlperf.nodes.supervisor.host.containers import KEEPING_RUNTIMES
from dlperf.nodes.transport import Machine
from dlperf.plan import Launch, Node

DISK_BYTES = 2 * 1024**3
DISK_FILES = 200
"""A trial makes about twenty, and its program some more."""
CLOCK_SECONDS = 2.0
IDLE_PERCENT = 5.0

_HOROVOD_SSH = ("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR")


def unreachable(node: Node, error: UnreachableError) -> list[CheckItem]:
    """The only item of a machine that does not answer, or refuses."""
    if isinstance(error, RefusedError):
        return [CheckItem(node.name, "reachable", False, error.cause, {"refused": True})]
    login = Machine.of(node).login
    advice = message("address_advice", login=login) if login else None
    return [CheckItem(node.name, "reachable", False, error.cause, advice=advice)]


def items(node: Node, launch: Launch, hello: Hello, facts: Facts) -> list[CheckItem]:
    """All items of a machine that answers."""
    return [
        CheckItem(node.name, "reachable", True, message("answers", host=hello.hostname)),
        CheckItem(node.name, "python", True, quoted(f"Python {hello.python}")),
        _clock(node, hello),
        _disk(node, facts),
        *_gpus(node, launch, facts),
        *_infiniband(node, facts),
        *_image(node, launch, facts),
        *(CheckItem(node.name, "files", False, message("no_file", path=path)) for path in facts["missing"]),
        *_addresses(node, launch, facts),
    ]


def _addresses(node: Node, launch: Launch, facts: Facts) -> list[CheckItem]:
    """The addresses of nodes that this one cannot resolve, such as an alias of the operator's ``~/.ssh/config``."""
    names = {other.address: other.name for other in reversed(launch.nodes)}
    return [
        CheckItem(
            node.name, "address", False, message("no_address", address=address, other=names[address], reason=reason)
        )
        for address, reason in facts["unresolved"].items()
        if address in names
    ]


def agreement(answers: Sequence[tuple[Node, Facts]]) -> list[CheckItem]:
    """Items on what must be equal on all nodes: one for each node that differs from most, or one if none does."""
    found = []
    for check, fact in _EQUAL.items():
        known = {node.name: value for node, facts in answers if (value := fact(facts))}
        if len(known) > 1:
            usual = Counter(known.values()).most_common(1)[0][0]
            first = next(name for name, value in known.items() if value == usual)
            different = [
                CheckItem(name, check, False, message("differs", value=value, usual=usual, first=first))
                for name, value in known.items()
                if value != usual
            ]
            found += different or [CheckItem(first, check, True, message("equal", usual=usual))]
    return found


def _active_ports(facts: Facts) -> str | None:
    ports = facts["infiniband"]
    return f"{sum(port['state'] == 'ACTIVE' for port in ports)} of {len(ports)} ports active" if ports else None


def _links(facts: Facts) -> str | None:
    return ", ".join(f"{count} NVLinks up" for count in sorted(set(facts["nvlinks"].values()))) or None


def _driver(facts: Facts) -> str | None:
    return ", ".join(sorted({f"driver {gpu['driver']}" for gpu in facts["gpus"]})) or None


_EQUAL: dict[str, Callable[[Facts], str | None]] = {
    "driver": _driver,
    "cuda": lambda facts: facts["cuda"] and f"CUDA {facts['cuda']}",
    "image_equal": lambda facts: facts["image_digest"],
    "nvlink_equal": _links,
    "infiniband_equal": _active_ports,
}


def ssh_options(launch: Launch) -> list[str]:
    """The options that the launcher gives to ssh.

    Open MPI takes them from its option or variable, or uses the first node's port. Horovod takes a port and a key, and
    makes ssh accept every host key (``horovod/runner/util/remote.py``); here none of them is remembered.
    """
    given = dict(pairwise(launch.launcher_options))
    port_of_first = launch.nodes[0].port
    default = ["-p", str(port_of_first)] if port_of_first else []
    if launch.launcher == "horovodrun":
        key = given.get("--ssh-identity-file") or given.get("-i")
        return [*_HOROVOD_SSH, *default, *(["-i", key] if key else [])]
    arguments = given.get("plm_rsh_args") or launch.env.get("OMPI_MCA_plm_rsh_args")
    return default if arguments is None else arguments.split()  # as Open MPI, which knows no quotes


def login(launch: Launch, node: Node, error: str) -> CheckItem:
    """Whether the first node's launcher can log in to another; ``error`` is ssh's, empty if there is none."""
    name, other = launch.nodes[0].name, f"{node.name} ({node.address})"
    if not error:
        return CheckItem(name, "ssh", True, message("may_log_in", other=other))
    text = message("cannot_log_in", other=other, launcher=launch.launcher, why=error.splitlines()[-1])
    return CheckItem(name, "ssh", False, text)


def lease(node: Node, facts: Facts) -> CheckItem:
    """Whether the machine is free: no trial of any engine or user runs there."""
    owner = facts["lease"]
    if owner is None:
        return CheckItem(node.name, "lease", True, message("lease_free"))
    if "problem" in owner:
        return CheckItem(node.name, "lease", False, message("lease_unusable", reason=owner["problem"]))
    held = message("lease_held", user=owner["user"], engine=owner["engine"], since=owner["since"], trial=owner["trial"])
    if not (left := owner["left"]):
        return CheckItem(node.name, "lease", False, held)
    names = ", ".join(f"{pid} ({name})" for pid, name in left.items())
    text = message("lease_left", held=held, processes=names, command=f"kill {' '.join(left)}")
    return CheckItem(node.name, "lease", False, text)


def port(node: Node, number: int) -> CheckItem:
    return CheckItem(node.name, "port", True, message("port_free", port=number), {"port": number})


def _clock(node: Node, hello: Hello) -> CheckItem:
    offset, error = hello.clock_offset_seconds, hello.clock_error_seconds
    text = message("clock_ahead" if offset > 0 else "clock_behind", seconds=abs(offset))
    return CheckItem(node.name, "clock", abs(offset) - error <= CLOCK_SECONDS, text, {"offset_seconds": offset})


def _disk(node: Node, facts: Facts) -> CheckItem:
    free, files = facts["disk_free_bytes"], facts["files_free"]
    text = message("disk_free", size=free / 1024**3)
    problem = None
    if free < DISK_BYTES:
        problem = message("disk_short", size=free / 1024**3, wanted=DISK_BYTES / 1024**3)
    elif files is not None and files < DISK_FILES:
        problem = message("files_short", free=files, wanted=DISK_FILES)
    elif facts["disk_problem"]:
        problem = message("disk_refuses", reason=facts["disk_problem"])
    return CheckItem(node.name, "disk", problem is None, problem or text, {"free_bytes": free, "free_files": files})


def _gpus(node: Node, launch: Launch, facts: Facts) -> list[CheckItem]:
    if not launch.expected_gpu and not node.gpu_indices:
        return []
    gpus = [gpu for gpu in facts["gpus"] if not node.gpu_indices or gpu["index"] in node.gpu_indices]
    count = message("gpus_found", count=len(gpus), wanted=launch.gpus)
    counted = CheckItem(node.name, "gpu_count", len(gpus) >= launch.gpus, count, {"gpus": len(gpus)})
    if not gpus:
        return [counted]
    further = [*_gpu_model(node, launch, gpus), _gpu_idle(node, gpus, facts), *_nvlink(node, gpus, facts)]
    vendor = facts.get("never_run_vendor")
    unproven = [CheckItem(node.name, "gpu_vendor", True, message("never_run_vendor", vendor=vendor))] if vendor else []
    return [counted, *unproven, *further]


def _gpu_model(node: Node, launch: Launch, gpus: list[Gpu]) -> list[CheckItem]:
    if not launch.expected_gpu:
        return []
    models = sorted({gpu["name"] or "unknown" for gpu in gpus})  # nvidia-smi cannot name a GPU that fell off the bus
    right = all(is_any_found(launch.expected_gpu, model) for model in models)
    names = ", ".join(models)
    return [CheckItem(node.name, "gpu_model", right, quoted(names) if right else message("wrong_gpu", names=names))]


def _gpu_idle(node: Node, gpus: list[Gpu], facts: Facts) -> CheckItem:
    uuids = {gpu["uuid"] for gpu in gpus}
    users = [process for process in facts["gpu_processes"] if process["gpu"] in uuids]
    if users:
        names = ", ".join(f"{user['name']} (pid {user['pid']}, {user['user'] or 'unknown user'})" for user in users)
        return CheckItem(node.name, "gpu_idle", False, message("gpus_used", users=names), {"processes": users})
    busy = [gpu["index"] for gpu in gpus if (gpu["utilization_percent"] or 0.0) > IDLE_PERCENT]
    text = message("gpus_busy", indices=str(busy)) if busy else message("gpus_idle")
    return CheckItem(node.name, "gpu_idle", not busy, text)


def _nvlink(node: Node, gpus: list[Gpu], facts: Facts) -> list[CheckItem]:
    """A GPU with fewer links up than the others slows all of them."""
    links = {gpu["index"]: facts["nvlinks"][gpu["uuid"]] for gpu in gpus if gpu["uuid"] in facts["nvlinks"]}
    if not links:
        return []
    most = max(links.values())
    fewer = ", ".join(f"GPU {index}: {count}" for index, count in links.items() if count < most)
    text = message("nvlinks_down", most=most, gpus=fewer) if fewer else message("nvlinks_up", most=most)
    return [CheckItem(node.name, "nvlink", not fewer, text)]


def _infiniband(node: Node, facts: Facts) -> list[CheckItem]:
    """Not every machine uses every port: one that is down is shown, and does not prevent a start."""
    ports = [f"{port['name']} {port['state']}, {port['rate']}" for port in facts["infiniband"]]
    return [CheckItem(node.name, "infiniband", True, quoted("; ".join(ports)))] if ports else []


def _image(node: Node, launch: Launch, facts: Facts) -> list[CheckItem]:
    container = launch.container
    if container is None or container.runtime == "none":
        return []
    if error := facts["runtime_complaint"]:
        text = message("no_runtime", runtime=container.runtime, complaint=error)
        return [CheckItem(node.name, "image", False, text)]
    digest, can_pull = facts["image_digest"], container.runtime in KEEPING_RUNTIMES
    absent = message("image_pulled" if can_pull else "image_absent", image=container.image)
    text = quoted(digest) if digest else absent
    return [CheckItem(node.name, "image", bool(digest) or can_pull, text, {"digest": digest})]
