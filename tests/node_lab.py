"""Four nodes on this machine: each has namespaces, an address, a host name and an sshd of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import sshd
from dlperf.plan import Node
from waiting import until

PROGRAMS = ("ip", "unshare", "nsenter", "iptables", "tc")


@dataclass
class LabNode:
    """One node. ``name`` is its host name, ``address`` where the others reach it."""

    name: str
    address: str
    namespace: str
    link: str
    """This machine's end of the node's cable."""
    folder: Path
    holder: subprocess.Popen[bytes] | None = None
    """Keeps the namespaces; with it everything on the node dies."""

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def plan(self) -> Node:
        return Node(self.name, "ssh", self.address, self.address, user="root", interface="eth0")

    @property
    def yaml(self) -> str:
        """The node in an entry of hardware."""
        return f"{{name: {self.name}, host: {self.address}, user: root, interface: eth0}}"

    def power_on(self) -> None:
        spaces = ("--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
        script = f"hostname {self.name}; mount --bind {self.folder}/hosts /etc/hosts; exec sleep infinity"
        self.holder = subprocess.Popen(
            ["ip", "netns", "exec", self.namespace, "unshare", *spaces, "sh", "-c", script], start_new_session=True
        )
        self.restore()
        _wait(lambda: self._program(self._first) == "sleep")
        self.start_sshd()

    def power_off(self) -> None:
        """Everything on the node is dead and its link is down, at once."""
        self.cut()
        if self.holder is not None:
            self.holder.kill()
            self.holder.wait()
            self.holder = None
            _wait(lambda: not self.processes())

    def cut(self) -> None:
        """Pull the network cable."""
        run("ip", "link", "set", self.link, "down")

    def restore(self) -> None:
        run("ip", "link", "set", self.link, "up")

    def start_sshd(self) -> None:
        arguments = ("-f", str(self.folder / "sshd_config"), "-E", str(self.folder / "sshd.log"))
        self.inside(sshd.PROGRAM, *arguments)
        _wait(lambda: any(self._program(pid) == "sshd" for pid in self.processes()))

    def stop_sshd(self) -> None:
        """The server and every session of it are killed; what they started goes on."""
        for pid in self.processes():
            if self._program(pid) == "sshd":
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def inside(self, *command: str) -> None:
        """Run a command on the node."""
        run("nsenter", f"--target={self._first}", "--net", "--uts", "--mount", "--pid", *command)

    def processes(self) -> list[int]:
        """Every process on the node, by its number on this machine."""
        pids = subprocess.run(["ip", "netns", "pids", self.namespace], capture_output=True, text=True, check=True)
        return [int(pid) for pid in pids.stdout.split() if self._program(int(pid)) != "unshare"]

    @property
    def _first(self) -> int:
        assert self.holder is not None
        return next(iter(sshd.children(self.holder.pid)), 0)

    @staticmethod
    def _program(pid: int) -> str:
        try:
            return Path(f"/proc/{pid}/comm").read_text().strip()
        except OSError:
            return ""


@dataclass
class NodeLab:
    """The nodes, and the HOME of an operator who may log in to them and whom their keys are known to."""

    nodes: list[LabNode]
    operator: Path
    bridge: str
    ssh_config: Path = field(init=False)
    """For a node's own ``ssh`` to the others."""

    def __post_init__(self) -> None:
        self.ssh_config = self.operator / ".ssh" / "config"

    def plans(self, count: int) -> tuple[Node, ...]:
        return tuple(node.plan for node in self.nodes[:count])


def why_not() -> str | None:
    """Why there can be no nodes here, or None."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None] + ([] if sshd.PROGRAM else ["sshd"])
    if missing:
        return f"{', '.join(missing)} missing (Debian: openssh-server iproute2 iptables util-linux)"
    if os.getuid() != 0:
        return "network namespaces need root"
    probe = subprocess.run(["ip", "netns", "add", f"probe{os.getpid()}"], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        return probe.stderr.strip()
    run("ip", "netns", "del", f"probe{os.getpid()}")
    return None


@pytest.fixture
def node_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NodeLab]:
    """Four nodes that are on; HOME is the operator's."""
    if reason := why_not():
        pytest.skip(f"no nodes on this machine: {reason}")
    lab = _prepare(tmp_path / "lab")
    monkeypatch.setenv("HOME", str(lab.operator))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    try:
        for node in lab.nodes:
            node.power_on()
        yield lab
    finally:
        for node in lab.nodes:
            node.power_off()
            run("ip", "link", "del", node.link)
            run("ip", "netns", "del", node.namespace)
        run("ip", "link", "del", lab.bridge)


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


def _prepare(folder: Path) -> NodeLab:
    """Bridge, cables, keys and configurations; the nodes are still off."""
    mark, network = f"dl{os.getpid() % 100000}", _free_network()
    operator = folder / "operator"
    (operator / ".ssh").mkdir(parents=True, mode=0o700)
    sshd.make_key(operator / ".ssh" / "id_ed25519")
    Path("/run/sshd").mkdir(exist_ok=True)
    run("ip", "link", "add", mark, "type", "bridge")
    run("ip", "addr", "add", f"{network}.1/24", "dev", mark)
    run("ip", "link", "set", mark, "up")
    lab = NodeLab([_node(folder, mark, network, index) for index in range(1, 5)], operator, mark)
    known = [f"{node.address} {_public_key(node)}\n" for node in lab.nodes]
    (operator / ".ssh" / "known_hosts").write_text("".join(known))
    lab.ssh_config.write_text(
        f"IdentityFile {operator}/.ssh/id_ed25519\nUserKnownHostsFile {operator}/.ssh/known_hosts\nUser root\n"
    )
    return lab


def _node(folder: Path, mark: str, network: str, index: int) -> LabNode:
    name = f"n{index}"
    node = LabNode(name, f"{network}.{10 + index}", f"{mark}{name}", f"{mark}v{index}", folder / name)
    node.home.mkdir(parents=True)
    sshd.make_key(node.folder / "host_key")
    shutil.copy(folder / "operator" / ".ssh" / "id_ed25519.pub", node.folder / "authorized_keys")
    (node.folder / "sshd_config").write_text(_sshd_config(node))
    names = "".join(f"{network}.{10 + number} n{number}\n" for number in range(1, 5))
    (node.folder / "hosts").write_text(f"127.0.0.1 localhost\n{names}")
    run("ip", "netns", "add", node.namespace)
    run("ip", "link", "add", node.link, "type", "veth", "peer", "name", "eth0", "netns", node.namespace)
    run("ip", "link", "set", node.link, "master", mark)
    run("ip", "-n", node.namespace, "addr", "add", f"{node.address}/24", "dev", "eth0")
    run("ip", "-n", node.namespace, "link", "set", "eth0", "up")
    run("ip", "-n", node.namespace, "link", "set", "lo", "up")
    return node


def _sshd_config(node: LabNode) -> str:
    return f"""\
ListenAddress {node.address}
HostKey {node.folder}/host_key
AuthorizedKeysFile {node.folder}/authorized_keys
PidFile none
UsePAM no
UseDNS no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
ClientAliveInterval 5
ClientAliveCountMax 3
SetEnv "HOME={node.home}" "DLPERF_LEASE={node.folder}/lease"
"""


def _public_key(node: LabNode) -> str:
    return " ".join((node.folder / "host_key.pub").read_text().split()[:2])


def _free_network() -> str:
    """The first three numbers of a network that this machine does not use; each process looks in a part of its own."""
    used = subprocess.run(["ip", "-4", "addr"], capture_output=True, text=True, check=True).stdout
    candidates = (f"10.{96 + os.getpid() % 128}.{step}" for step in range(256))
    return next(network for network in candidates if f" {network}." not in used)


def _wait(condition: Callable[[], object]) -> None:
    until(condition, lambda: "a node did not get so far")
