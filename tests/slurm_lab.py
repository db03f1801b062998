"""A real Slurm on this machine: munged, slurmctld and four slurmd, with folders, ports and keys of their own."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ports import free_ports
from waiting import until

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch")
SEARCH_PATH = "/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin"
NODES = ("n1", "n2", "n3", "n4")
GPU_FILES = ("null", "zero", "full", "random")
"""Slurm wants a device file for each GPU; any will do."""


@dataclass
class SlurmLab:
    """A running cluster of four nodes with four "GPUs" each; ``partition`` gpu."""

    folder: Path
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    accounting: str = "AccountingStorageType=accounting_storage/none\n"
    """Lines of slurm.conf."""
    remembers_seconds: int = 300
    """How long the controller knows a job that is over."""

    @property
    def configuration(self) -> Path:
        """What ``SLURM_CONF`` must name."""
        return self.folder / "slurm.conf"

    def start(self) -> None:
        """Begin anew with every daemon, and wait until every node is idle."""
        self.start_munge()
        self.start_slurm()

    def start_munge(self) -> None:
        self.folder.chmod(0o755)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        munge = self.folder / "munge"
        files = (f"--{kind}-file={munge}.{kind}" for kind in ("key", "pid", "log", "seed"))
        self.begin("munged", "--foreground", "--force", f"--socket={munge}.socket", *files)
        wait_for(munge.with_suffix(".socket").exists)

    def start_slurm(self) -> None:
        _write_configuration(self)
        self.start_controller("-c")
        for node in NODES:
            self.begin("slurmd", "-D", "-N", node, name=node)
        wait_for(lambda: self.command("sinfo", "-h", "-t", "idle", "-o", "%D").strip() == str(len(NODES)))

    def start_controller(self, *options: str) -> None:
        self.begin("slurmctld", "-D", *options)
        wait_for(lambda: "UP" in self.command("scontrol", "ping"))

    def stop(self, name: str) -> None:
        """End one daemon, by the name of its program or of its node."""
        process = self.processes.pop(name)
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10.0)
        process.kill()
        process.wait()

    def stop_all(self) -> None:
        """End every job, then every daemon."""
        self.command("scancel", "--user", getpass.getuser())
        with suppress(AssertionError):
            until(lambda: not self.command("squeue", "-h"), lambda: "jobs are left", seconds=10.0)
        for name in reversed(list(self.processes)):
            self.stop(name)

    def command(self, *words: str) -> str:
        """What a command of Slurm prints; nothing where it fails."""
        environment = os.environ | {"SLURM_CONF": str(self.configuration)}
        return subprocess.run(words, env=environment, capture_output=True, text=True, check=False).stdout

    def begin(self, program: str, *options: str, name: str = "") -> None:
        path = shutil.which(program, path=SEARCH_PATH)
        assert path is not None
        environment = os.environ | {"SLURM_CONF": str(self.configuration), "LC_ALL": "C"}
        with (self.folder / f"{name or program}.out").open("ab") as log:
            self.processes[name or program] = subprocess.Popen(
                [path, *options], env=environment, stdout=log, stderr=log, start_new_session=True
            )


def missing_programs() -> list[str]:
    return [program for program in PROGRAMS if shutil.which(program, path=SEARCH_PATH) is None]


@pytest.fixture(scope="session")
def slurm_cluster() -> Iterator[SlurmLab]:
    """The cluster that all tests of a session share."""
    if missing := missing_programs():
        pytest.skip(f"no Slurm on this machine: {', '.join(missing)} missing (Debian: slurm-wlm munge)")
    with tempfile.TemporaryDirectory(prefix="dlperf-slurm-") as folder:
        lab = SlurmLab(Path(folder))
        try:
            lab.start()
            yield lab
        finally:
            lab.stop_all()


@pytest.fixture
def slurm(slurm_cluster: SlurmLab, monkeypatch: pytest.MonkeyPatch) -> SlurmLab:
    """The cluster, as an operator on its login node finds it."""
    monkeypatch.setenv("SLURM_CONF", str(slurm_cluster.configuration))
    return slurm_cluster


def _write_configuration(lab: SlurmLab) -> None:
    folder = lab.folder
    (folder / "state").mkdir()
    lab.configuration.write_text(_slurm_conf(folder) + lab.accounting + f"MinJobAge={lab.remembers_seconds}\n")
    gres = [f"NodeName=n[1-4] Name=gpu File=/dev/{name}\n" for name in GPU_FILES]
    (folder / "gres.conf").write_text("".join(gres))
    prolog = folder / "prolog.sh"
    prolog.write_text(f'#!/bin/sh\necho "export DLPERF_LEASE={folder}/lease.$SLURMD_NODENAME"\n')
    prolog.chmod(0o755)


def _slurm_conf(folder: Path) -> str:
    host = socket.gethostname().partition(".")[0]
    user = getpass.getuser()
    ports = free_ports(1 + len(NODES))
    nodes = "".join(
        f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=4 RealMemory=1000 Gres=gpu:4\n"
        for node, port in zip(NODES, ports[1:], strict=True)
    )
    return f"""\
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog={folder}/prolog.sh
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
GresTypes=gpu
JobAcctGatherType=jobacct_gather/none
SlurmctldTimeout=30
SlurmdTimeout=30
MessageTimeout=5
KillWait=1
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MailProg=/bin/true
{nodes}PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=gpu Nodes=n[1-4] Default=YES MaxTime=02:00:00 PriorityTier=5 PreemptMode=OFF State=UP
PartitionName=short Nodes=n[1-4] MaxTime=00:02:00 PriorityTier=5 PreemptMode=OFF State=UP
PartitionName=spare Nodes=n[1-4] MaxTime=02:00:00 PriorityTier=1 PreemptMode=REQUEUE State=UP
PartitionName=cheap Nodes=n[1-4] MaxTime=02:00:00 PriorityTier=1 PreemptMode=CANCEL State=UP
PartitionName=urgent Nodes=n[1-4] MaxTime=02:00:00 PriorityTier=9 PreemptMode=OFF State=UP
"""


def wait_for(condition: Callable[[], bool]) -> None:
    until(condition, lambda: "Slurm did not get so far")
