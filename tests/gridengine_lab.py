"""A real Grid Engine on this machine: sge_qmaster and sge_execd with a cell, ports and a spool of their own."""

from __future__ import annotations

import getpass
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from plugins import forget_plugins, install_example
from ports import free_ports
from waiting import until

PROGRAMS = Path("/usr/lib/gridengine")
SHARED = Path("/usr/share/gridengine")
PLUGIN = Path(__file__).parents[1] / "docs" / "gridengine"

BOOTSTRAP = """\
admin_user none
default_domain none
ignore_fqdn false
spooling_method berkeleydb
spooling_lib libspoolb
spooling_params {spool}
binary_path /usr/lib/gridengine
qmaster_spool_dir {folder}/qmaster
security_mode none
listener_threads 1
worker_threads 1
scheduler_threads 1
"""
SETTINGS = {"min_uid": "0", "min_gid": "0", "load_report_time": "00:00:01", "execd_params": "ENABLE_ADDGRP_KILL=true"}
SCHEDULING = {"schedule_interval": "0:0:1", "flush_submit_sec": "1", "flush_finish_sec": "1"}
LIMITS = ("rt", "cpu", "fsize", "data", "stack", "core", "rss", "vmem")
NONE = (
    *("ckpt_list", "pe_list", "prolog", "epilog", "starter_method", "suspend_method", "resume_method"),
    *("terminate_method", "owner_list", "user_lists", "xuser_lists", "subordinate_list", "complex_values", "projects"),
    *("xprojects", "calendar", "load_thresholds", "suspend_thresholds"),
)
QUEUE = {
    **{"qname": "all.q", "hostlist": "localhost", "seq_no": "0", "nsuspend": "1", "suspend_interval": "00:05:00"},
    **{"priority": "0", "min_cpu_interval": "00:05:00", "processors": "UNDEFINED", "qtype": "BATCH", "rerun": "FALSE"},
    **{"slots": "2", "tmpdir": "/tmp", "shell": "/bin/sh", "shell_start_mode": "posix_compliant"},
    **{"notify": "00:00:60", "initial_state": "default"},
    **dict.fromkeys(NONE, "NONE"),
    **{f"{kind}_{name}": "INFINITY" for name in LIMITS for kind in "sh"},
}


@dataclass
class GridEngineLab:
    """A cluster of this machine with two slots."""

    folder: Path
    environment: dict[str, str]

    def start(self) -> None:
        self._make_cell()
        self.run(PROGRAMS / "sge_qmaster")
        until(lambda: "SGE" in self.command("qconf", "-help"), lambda: "sge_qmaster does not answer")
        self.run("qconf", "-as", "localhost")
        self.run(PROGRAMS / "sge_execd")
        self.run("qconf", "-Aq", self._file("queue", QUEUE))
        scheduling = dict(line.split(None, 1) for line in self.command("qconf", "-ssconf").splitlines())
        self.run("qconf", "-Msconf", self._file("scheduling", scheduling | SCHEDULING))
        until(lambda: re.search(r"^all\.q.* \d+\.\d+ +lx", self.command("qstat", "-f"), re.M), self._state)

    def stop(self) -> None:
        self.command("qdel", "-u", getpass.getuser())
        for path in (self.folder / "execd" / "localhost" / "execd.pid", self.folder / "qmaster" / "qmaster.pid"):
            with suppress(OSError, ValueError):
                os.kill(int(path.read_text()), signal.SIGTERM)

    def command(self, *words: str) -> str:
        """What a command prints; also where it fails."""
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, check=False).stdout

    def run(self, *words: str | Path) -> None:
        quiet = subprocess.DEVNULL  # a daemon would keep a pipe open
        subprocess.run(words, env=self.environment, stdout=quiet, stderr=quiet, check=True)

    def _state(self) -> str:
        return self.command("qstat", "-f")

    def _file(self, name: str, fields: dict[str, str]) -> Path:
        path = self.folder / name
        path.write_text("".join(f"{key} {value}\n" for key, value in fields.items()))
        return path

    def _make_cell(self) -> None:
        root, spool = self.folder / "root", self.folder / "spool"
        common = root / "default" / "common"
        for path in (common, spool, self.folder / "execd", self.folder / "qmaster" / "job_scripts"):
            path.mkdir(parents=True)
        (root / "util").symlink_to(SHARED / "util")
        for name in ("bin", "lib", "utilbin"):
            (root / name).mkdir()
            (root / name / "lx-amd64").symlink_to(PROGRAMS)
        (common / "bootstrap").write_text(BOOTSTRAP.format(folder=self.folder, spool=spool))
        (common / "act_qmaster").write_text("localhost\n")
        (common / "host_aliases").write_text(f"localhost {socket.gethostname()}\n")
        given = (line.split(None, 1) for line in (SHARED / "default-configuration").read_text().splitlines())
        fields = dict(pair for pair in given if len(pair) == 2 and not pair[0].startswith("#"))
        fields |= SETTINGS | {"execd_spool_dir": str(self.folder / "execd")}
        self.run(PROGRAMS / "spoolinit", "berkeleydb", "libspoolb", spool, "init")
        self.run(PROGRAMS / "spooldefaults", "configuration", self._file("configuration", fields))
        self.run(PROGRAMS / "spooldefaults", "complexes", SHARED / "util" / "resources" / "centry")
        self.run(PROGRAMS / "spooldefaults", "usersets", SHARED / "util" / "resources" / "usersets")
        self.run(PROGRAMS / "spooldefaults", "managers", getpass.getuser())


@pytest.fixture(scope="session")
def gridengine_cluster() -> Iterator[GridEngineLab]:
    if missing := [name for name in ("sge_qmaster", "sge_execd") if not (PROGRAMS / name).exists()]:
        pytest.skip(f"no Grid Engine: {', '.join(missing)} missing (Debian: gridengine-master gridengine-exec)")
    if shutil.which("qsub") is None:
        pytest.skip("no Grid Engine: qsub missing (Debian: gridengine-client)")
    with tempfile.TemporaryDirectory(prefix="dlperf-gridengine-", ignore_cleanup_errors=True) as folder:
        ports = dict(zip(("SGE_QMASTER_PORT", "SGE_EXECD_PORT"), map(str, free_ports(2)), strict=True))
        variables = {"SGE_ROOT": f"{folder}/root", "SGE_CELL": "default", **ports}
        lab = GridEngineLab(Path(folder), os.environ | variables)
        try:
            lab.start()
            yield lab
        finally:
            lab.stop()


@pytest.fixture
def gridengine(
    gridengine_cluster: GridEngineLab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[GridEngineLab]:
    """The cluster, on whose login node the example of ``docs/gridengine`` is installed beside dlperf."""
    for name in ("SGE_ROOT", "SGE_CELL", "SGE_QMASTER_PORT", "SGE_EXECD_PORT"):
        monkeypatch.setenv(name, gridengine_cluster.environment[name])
    install_example("gridengine", tmp_path / "site-packages", monkeypatch)
    yield gridengine_cluster
    forget_plugins()
