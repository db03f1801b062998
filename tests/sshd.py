"""A real OpenSSH server on 127.0.0.1 with keys and configuration of its own, and an operator's ~/.ssh that knows it."""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ports import free_port
from waiting import until

PROGRAM = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin") or ""
"""sshd insists on being started by its absolute path."""
with_openssh = pytest.mark.skipif(not PROGRAM, reason="no OpenSSH on this machine")


@dataclass
class Sshd:
    """A running server. ``operator`` is the HOME of the one who connects, ``home`` what a login finds as HOME."""

    port: int
    folder: Path
    home: Path
    operator: Path
    process: subprocess.Popen[bytes] | None = None
    prefix: tuple[str, ...] = ()
    """The command that starts the server, such as ``setpriv``."""

    def start(self) -> None:
        """Listen, on the same port as before a ``stop``."""
        command = [*self.prefix, PROGRAM, "-D", "-e", "-f", str(self.folder / "sshd_config")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stderr=log)
        while not _listens(self.port):
            assert self.process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.01)

    def drop_connections(self) -> int:
        """Kill every session's sshd, as a broken network would end them; how many there were."""
        sessions = self.sessions()
        for pid in sessions:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(sessions)

    def sessions(self) -> list[int]:
        assert self.process is not None
        return children(self.process.pid)

    def stop(self) -> None:
        """Stop listening and drop every connection; what was started over them goes on.

        A stopped server begins no session that would hold its port after it.
        """
        if self.process is not None:
            self.process.send_signal(signal.SIGSTOP)
            os.waitpid(self.process.pid, os.WUNTRACED)
            sessions = self.sessions()
            self.process.kill()
            self.process.wait()
            for pid in sessions:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            until(lambda: not _listens(self.port), lambda: f"port {self.port} is still listened at")
            self.process = None

    def known_hosts_line(self, key: str = "host_key") -> str:
        kind, text = (self.folder / f"{key}.pub").read_text().split()[:2]
        return f"[127.0.0.1]:{self.port} {kind} {text}\n"


def make_key(path: Path) -> None:
    """A pair of ed25519 keys without a passphrase."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)


def prepare(folder: Path, options: str = "", port: int | None = None) -> Sshd:
    """A server that is not yet started, and an operator who may log in to it as ``node-a``."""
    folder.mkdir()
    home, operator = folder / "home", folder / "operator"
    home.mkdir()
    (operator / ".ssh").mkdir(parents=True, mode=0o700)
    server = Sshd(port or free_port(), folder, home, operator)
    make_key(folder / "host_key")
    make_key(operator / ".ssh" / "id_ed25519")
    shutil.copy(operator / ".ssh" / "id_ed25519.pub", folder / "authorized_keys")
    (operator / ".ssh" / "known_hosts").write_text(server.known_hosts_line())
    (operator / ".ssh" / "config").write_text(
        f"Host node-*\n HostName 127.0.0.1\n Port {server.port}\n User {getpass.getuser()}\n"
    )
    (folder / "sshd_config").write_text(_configuration(server) + options)
    return server


def of_operator(operator: Path) -> dict[str, str]:
    """Return the variables of the operator's processes, with an ssh that takes the home folder from HOME."""
    return {"HOME": str(operator), "PATH": f"{Path(__file__).with_name('bin')}:{os.environ['PATH']}"}


@pytest.fixture
def sshd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    """A started server; HOME is the operator's."""
    if not PROGRAM:
        pytest.skip("no OpenSSH server on this machine")
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    server = prepare(tmp_path / "sshd")
    monkeypatch.setenv("HOME", str(server.operator))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    server.start()
    yield server
    server.stop()


def _configuration(server: Sshd) -> str:
    return f"""\
ListenAddress 127.0.0.1
Port {server.port}
HostKey "{server.folder}/host_key"
AuthorizedKeysFile "{server.folder}/authorized_keys"
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
SetEnv "HOME={server.home}" "DLPERF_LEASE={server.folder}/lease"
"""


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def children(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(stat[1]) == parent and stat[0] != "Z":
                found.append(int(entry.name))
    return found
