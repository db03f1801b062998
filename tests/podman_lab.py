"""Real containers: podman with a store of its own, and an image of this machine's busybox: no registry is needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

IMAGE = "localhost/dlperf-test:1"
_APPLETS = ("sh", "cat", "date", "echo", "env", "id", "ls", "ps", "sleep", "stat", "test", "true")
_CONTAINERS = """\
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
"""


@dataclass
class PodmanLab:
    """A podman of our own; ``variables`` must be in the environment of whoever uses it."""

    folder: Path

    @property
    def variables(self) -> dict[str, str]:
        return {
            "CONTAINERS_CONF": str(self.folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(self.folder / "storage.conf"),
        }

    @property
    def docker(self) -> Path:
        """A folder in which podman is called docker."""
        return self.folder / "bin"

    def command(self, *words: str) -> str:
        """What podman prints; nothing where it fails."""
        done = subprocess.run(
            ["podman", *words], env=os.environ | self.variables, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    def build(self, name: str, lines: str) -> None:
        """Make an image of the lines of a Containerfile."""
        (self.folder / "Containerfile").write_text(lines)
        self.command(
            "build", "--quiet", "--tag", name, "--file", str(self.folder / "Containerfile"), str(self.folder / "bin")
        )

    def containers(self) -> list[str]:
        """The label of every container there is, running or not."""
        return self.command("ps", "-a", "--format", '{{index .Labels "dlperf.trial"}}').splitlines()


def why_not() -> str | None:
    """Why there can be no containers here, or None."""
    missing = [name for name in ("podman", "runc", "catatonit", "busybox") if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} missing (Debian: podman runc catatonit busybox-static)"
    return None if os.getuid() == 0 else "containers of these tests need root"


@pytest.fixture(scope="session")
def podman_store() -> Iterator[PodmanLab]:
    """The podman that all tests of a session share."""
    if reason := why_not():
        pytest.skip(f"no containers on this machine: {reason}")
    with tempfile.TemporaryDirectory(prefix="dlperf-podman-") as folder:
        lab = PodmanLab(Path(folder))
        _configure(lab)
        _import_image(lab)
        if lab.command("run", "--rm", IMAGE, "echo", "runs") != "runs":
            pytest.skip("no containers on this machine: podman cannot start one")
        yield lab
        lab.command("rm", "--all", "--force", "--time", "0")


@pytest.fixture
def podman(podman_store: PodmanLab, monkeypatch: pytest.MonkeyPatch) -> PodmanLab:
    """podman, and docker by another name, as an operator finds them."""
    for name, value in podman_store.variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", str(podman_store.docker), prepend=os.pathsep)
    return podman_store


def _configure(lab: PodmanLab) -> None:
    storage = f'[storage]\ndriver = "vfs"\ngraphroot = "{lab.folder}/store"\nrunroot = "{lab.folder}/run"\n'
    (lab.folder / "storage.conf").write_text(storage)
    (lab.folder / "containers.conf").write_text(_CONTAINERS)
    lab.docker.mkdir()
    (lab.docker / "docker").symlink_to(str(shutil.which("podman")))


def _import_image(lab: PodmanLab) -> None:
    root = lab.folder / "root"
    for name in ("bin", "proc", "sys", "dev", "tmp", "etc"):
        (root / name).mkdir(parents=True)
    shutil.copy(str(shutil.which("busybox")), root / "bin" / "busybox")
    for name in _APPLETS:
        (root / "bin" / name).symlink_to("busybox")
    archive = shutil.make_archive(str(lab.folder / "root"), "tar", root)
    lab.command("import", archive, IMAGE)
