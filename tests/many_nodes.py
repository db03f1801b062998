"""Many nodes on this machine, each an OpenSSH server on a port and with a home of its own, and a workspace for them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from counting_workspace import PROTOCOL
from dlperf.runs.lock import engine_pid
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from forked_commands import run_command
from sshd import Sshd, of_operator, prepare

SCRIPT = """\
echo "$DLPERF_TRIAL" >> "$HOME/starts"
step=0
while [ $step -lt {steps} ]; do
    step=$((step + 1))
    echo "DLPERF 2026-01-01T00:$(($step / 60 / 10))$(($step / 60 % 10)):$(($step % 60 / 10))$(($step % 10)).000000Z" \\
        "step=$((step * 10)) epoch=0 samples=$((step * 320)) loss=1 throughput=320"
    sleep {seconds}
done
"""
"""Prints a record every ``seconds``; its times are invented, so that equal trials have equal figures."""

CAMPAIGN = "many"


@dataclass
class ManyNodes:
    """Running servers, and a workspace with one hardware for each."""

    servers: list[Sshd]
    operator: Path
    workspace: WorkspacePaths
    steps: int
    """Records that a trial prints."""

    @property
    def paths(self) -> CampaignPaths:
        return self.workspace.campaign(CAMPAIGN)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name != "SSH_AUTH_SOCK"}
        return kept | of_operator(self.operator)

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "dlperf", "--workspace", str(self.workspace.root), *words]

    def dlperf(self, *words: str) -> subprocess.CompletedProcess[str]:
        return run_command(("--workspace", str(self.workspace.root), *words), Path.cwd(), self.environment)

    def run_words(self, repeats: int) -> tuple[str, ...]:
        return ("run", "-f", "counting", "-c", "lenet5", "--repeats", str(repeats), "--name", CAMPAIGN, "--yes")

    def impostor(self, server: Sshd) -> Sshd:
        """A server that is not started yet, at the address of another one, with a key and a home of its own."""
        folder = server.folder.with_name(f"{server.folder.name}-impostor")
        if not folder.exists():
            other = prepare(folder, port=server.port)
            shutil.copy(server.folder / "authorized_keys", other.folder / "authorized_keys")
        return Sshd(server.port, folder, folder / "home", server.operator)

    def impostor_homes(self) -> list[Path]:
        return sorted(self.workspace.root.parent.glob("server*-impostor/home"))

    def stop(self) -> None:
        if pid := engine_pid(self.paths):
            os.kill(pid, signal.SIGKILL)
        for server in self.servers:
            server.stop()
            if server.home.is_mount():
                subprocess.run(["umount", "--lazy", str(server.home)], check=True)


def many_nodes(
    folder: Path, count: int, steps: int, seconds: float, deadline: float = 600.0, files: int = 0
) -> ManyNodes:
    """Start the servers and write the workspace; a trial there takes ``steps`` × ``seconds``.

    Args:
        files: that the disk of each node takes; no limit if 0, and where nobody may mount a disk.
    """
    Path("/run/sshd").mkdir(exist_ok=True)
    servers = [prepare(folder / f"server{number}") for number in range(count)]
    operator = servers[0].operator
    for server in servers if files and os.getuid() == 0 else ():
        options = f"size=3g,nr_inodes={files}"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(server.home)], check=True)
    for server in servers[1:]:
        shutil.copy(servers[0].folder / "authorized_keys", server.folder / "authorized_keys")
    hosts = [f"Host m{number}\n HostName 127.0.0.1\n Port {server.port}\n" for number, server in enumerate(servers)]
    (operator / ".ssh" / "config").write_text("".join(hosts))
    (operator / ".ssh" / "known_hosts").write_text("".join(server.known_hosts_line() for server in servers))
    workspace = _workspace(folder / "workspace", count, steps, seconds, deadline)
    for server in servers:
        if os.getuid() == 0 and shutil.which("setpriv"):  # a root that may read only what its mode allows
            server.prefix = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
        server.start()
    return ManyNodes(servers, operator, workspace, steps)


def _workspace(root: Path, count: int, steps: int, seconds: float, deadline: float) -> WorkspacePaths:
    for part in ("hardware", "frameworks", "protocols", "workloads"):
        (root / "catalog" / part).mkdir(parents=True)
    (root / "runs").mkdir()
    (root / "mkdocs.yml").touch()
    catalog = root / "catalog"
    (catalog / "protocols" / "dlperf.yaml").write_text(PROTOCOL)
    (catalog / "workloads" / "count.sh").write_text(SCRIPT.format(steps=steps, seconds=seconds))
    for number in range(count):
        name = f"m{number}"
        nodes = [{"name": name, "host": name, "address": "127.0.0.1"}]
        _write(catalog / "hardware" / f"{name}.yaml", id=name, title=f"Machine {number}", nodes=nodes)
    recipe = {"case": "lenet5", "precisions": ["fp32"], "batch_sizes": [32], "scales": ["1n1g"], "interpreter": ["sh"]}
    recipe |= {"command": ["{files}/count.sh"], "files": ["count.sh"], "stall_seconds": 120}
    recipe |= {"deadline_seconds": deadline}
    framework = {"id": "counting", "title": "Counting", "version": "1", "format": "dlperf", "devices": ["cpu"]}
    _write(catalog / "frameworks" / "counting.yaml", **framework, recipes=[recipe])
    return WorkspacePaths(root)


def _write(path: Path, **entry: object) -> None:
    """JSON is YAML."""
    path.write_text(json.dumps(entry))


def marked_processes(folder: Path) -> Sequence[int]:
    """Processes that trials, supervisors or agents of these nodes left: their home lies in the folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "environ").read_bytes().split(b"\0") if entry.name.isdigit() else []
            line = (entry / "cmdline").read_bytes() if words else b""
        except OSError:
            continue
        home = any(word.startswith(b"HOME=" + bytes(folder)) for word in words)
        if home and b"sshd" not in line:
            found.append(int(entry.name))
    return found


def mark_of_process(pid: int) -> str:
    """Return the mark of the trial whose program a process belongs to; empty where it is none, or has ended."""
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return next((word.decode().partition("=")[2] for word in words if word.startswith(b"DLPERF_TRIAL=")), "")
    return ""
