"""The accounting of a Slurm lab: a MariaDB and a slurmdbd of its own."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
from pathlib import Path

from ports import free_ports
from slurm_lab import SEARCH_PATH, SlurmLab, wait_for

PROGRAMS = ("mariadbd", "mariadb-install-db", "mariadb", "slurmdbd")
PASSWORD = "lab"


def missing_programs() -> list[str]:
    return [program for program in PROGRAMS if shutil.which(program, path=SEARCH_PATH) is None]


def start_accounting(lab: SlurmLab) -> None:
    """Database and daemon; the lab's controller, which is started next, finds them."""
    database, daemon = free_ports(2)
    _start_mariadb(lab, database)
    configuration = lab.folder / "slurmdbd.conf"
    configuration.write_text(_slurmdbd_conf(lab.folder, database, daemon))
    configuration.chmod(0o600)
    lab.begin("slurmdbd", "-D")
    wait_for(lambda: _listens(daemon))
    lab.accounting = f"""\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={daemon}
AccountingStoragePass={lab.folder}/munge.socket
"""


def _start_mariadb(lab: SlurmLab, port: int) -> None:
    data, door = lab.folder / "database", lab.folder / "database.socket"
    user = f"--user={getpass.getuser()}"
    install = (
        "mariadb-install-db",
        "--no-defaults",
        user,
        f"--datadir={data}",
        "--auth-root-authentication-method=normal",
    )
    subprocess.run([*install, "--skip-test-db"], check=True, capture_output=True)
    where = (f"--datadir={data}", f"--socket={door}", f"--port={port}", f"--pid-file={data}.pid")
    lab.begin("mariadbd", "--no-defaults", user, *where, "--bind-address=127.0.0.1", "--innodb-buffer-pool-size=64M")
    names = [f"slurm@'{host}'" for host in ("127.0.0.1", "localhost")]
    orders = [f"create user {name} identified by '{PASSWORD}'; grant all on *.* to {name};" for name in names]
    wait_for(lambda: _order(door, "select 1") == 0)
    assert _order(door, "".join(orders)) == 0


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1.0).close()
    except OSError:
        return False
    return True


def _order(door: Path, sql: str) -> int:
    client = ["mariadb", "--no-defaults", f"--socket={door}", "--user=root", "--execute", sql]
    return subprocess.run(client, capture_output=True, check=False, env=os.environ).returncode


def _slurmdbd_conf(folder: Path, database: int, daemon: int) -> str:
    return f"""\
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={daemon}
SlurmUser={getpass.getuser()}
LogFile={folder}/slurmdbd.log
PidFile={folder}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={database}
StorageUser=slurm
StoragePass={PASSWORD}
StorageLoc=slurm_acct
"""
