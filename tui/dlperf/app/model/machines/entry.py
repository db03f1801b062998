"""Write entries of the catalogue for machines, as they were typed into a form."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlperf.catalog.files.edit import Value, with_values
from dlperf.catalog.machines import host_and_port
from dlperf.messages import _, language
from dlperf.opening import files_below, read_bytes
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.store import write_atomic

if TYPE_CHECKING:
    from dlperf.catalog.files.load import Catalog
    from dlperf.catalog.files.problem import Problem
    from dlperf.catalog.hardware import Hardware


@dataclass(frozen=True)
class MachineEntry:
    """What was typed."""

    id: str
    hosts: str = ""
    """``HOST`` or ``HOST:PORT`` of each machine, with blanks between; empty for this machine."""
    addresses: str = ""
    """Of each machine for the others, with blanks between; empty where these are the hosts."""
    user: str = ""
    accelerator: str = ""
    gpus: str = ""
    interface: str = ""
    node_count: int = 0
    """Machines of the entry in its file, which the form may be unable to show."""

    @classmethod
    def of(cls, entry: Hardware) -> MachineEntry:
        """Return what the form shows of an entry of the catalogue."""
        first = entry.nodes[0]
        remote = [node for node in entry.nodes if node.transport != "local"]
        hosts = " ".join(f"{node.host or node.name}{f':{node.port}' if node.port else ''}" for node in remote)
        addresses = [node.address or node.host or node.name for node in remote if any(each.address for each in remote)]
        texts = (
            " ".join(addresses),
            first.user or "",
            entry.accelerator or "",
            str(entry.gpus_per_node),
            first.interface or "",
        )
        return cls(entry.id, hosts, *texts, node_count=len(entry.nodes))

    @property
    def logins(self) -> list[str]:
        """Return each machine as ``dlperf machines --login`` takes it."""
        return [f"{self.user}@{host}" if self.user else host for host in self.hosts.split()] or ["local"]

    @property
    def problem(self) -> str:
        """Return what is wrong besides what the catalogue itself complains of."""
        addresses, hosts = self.addresses.split(), self.hosts.split()
        return _("address: one for each host, or none") if addresses and len(addresses) != len(hosts) else ""

    @property
    def nodes(self) -> list[dict[str, Value]]:
        """Return the machines as the catalogue's files hold them, with None for what they leave out."""
        places = [host_and_port(host) for host in self.hosts.split()]
        names = [host for host, _port in places]
        if len({*names}) < len(names) or len(names) == 1:
            names = [f"{self.id}-{at + 1}" for at in range(len(places))] if places[1:] else [self.id]
        addresses: list[str | None] = [*self.addresses.split()] or [None] * len(places)
        shared: dict[str, Value] = {"user": self.user or None, "interface": self.interface or None}
        remote: list[dict[str, Value]] = [
            {"name": name, "host": host, "address": address, "port": port, "transport": None} | shared
            for name, (host, port), address in zip(names, places, addresses, strict=True)
        ]
        here: dict[str, Value] = {"name": self.id, "transport": "local", "host": None, "address": None, "port": None}
        return remote or [here | shared]

    @property
    def fields(self) -> dict[str, Value]:
        """Return the fields of the entry besides its machines."""
        gpus = int(self.gpus) if self.gpus.isdecimal() else self.gpus or 1
        return {"accelerator": self.accelerator or None, "gpus_per_node": gpus}

    def document(self) -> dict[str, Any]:
        """Return the entry as the catalogue's files hold it."""
        nodes = [_without_none(node) for node in self.nodes]
        return {"id": self.id, "title": self.id, **_without_none(self.fields), "nodes": nodes}

    def changes(self, before: MachineEntry) -> dict[tuple[str | int, ...], Value]:
        """Return the fields that differ from what the form showed, by their paths within the entry."""
        changed: dict[tuple[str | int, ...], Value] = {
            (name,): value for name, value in self.fields.items() if value != before.fields[name]
        }
        for at, (node, old) in enumerate(zip(self.nodes, before.nodes, strict=True)):
            changed |= {
                ("nodes", at, name): value for name, value in node.items() if name != "name" and value != old[name]
            }
        return changed


def _without_none(fields: dict[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in fields.items() if value is not None}


def write_entry(workspace: WorkspacePaths, catalog: Catalog, entry: MachineEntry) -> str:
    """Write a new entry into the workspace's catalogue; return what is wrong with it, in which case nothing is written.

    Raises:
        DlperfError: the file cannot be written.
    """
    if entry.id in catalog.hardware:
        return _("{name}: there is an entry of this name", name=entry.id)
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", entry.id):
        return _("{name}: a name has small letters, digits, dots and hyphens", name=entry.id or _("empty"))
    if entry.problem:
        return entry.problem
    name = Path("hardware", f"{entry.id}.yaml")
    if (workspace.catalog / name).exists():  # such as an entry with a mistake, which the catalogue leaves out
        return _("catalog/{file}: there is a file of this name", file=name)
    return _write(workspace.catalog, name, _yaml([entry.document()]))


def change_entry(workspace: WorkspacePaths, before: MachineEntry, entry: MachineEntry) -> str:
    """Change the fields of an entry that differ, in its file; return what is wrong, as ``write_entry``.

    Raises:
        DlperfError: there is no such entry, or the file cannot be read or written.
    """
    if entry.problem:
        return entry.problem
    if not len(entry.nodes) == len(before.nodes) == before.node_count:
        return _("machines are added and taken out in the file: E opens it")
    place = place_of(workspace.catalog, entry.id)
    if place is None:
        return _("{name} is built in: it has no file here.", name=entry.id)
    text = with_values(read_bytes(place[0]).decode(), entry.id, entry.changes(before))
    return _write(workspace.catalog, place[0].relative_to(workspace.catalog), text)


def _write(folder: Path, name: Path, text: str) -> str:
    """Write a file of the catalogue, unless it has a problem, which is returned."""
    problem = _problem(folder, name, text)
    if not problem:
        write_atomic(folder / name, text.encode())
    return problem


def _yaml(entries: Sequence[Any]) -> str:
    import yaml

    text: str = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True)
    return text


def _problem(folder: Path, name: Path, text: str) -> str:
    """Return the first problem that a file of the catalogue would have, by loading it beside the others."""
    from dlperf.catalog.files.load import load_catalog

    problems: list[Problem] = []
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary).resolve()
        yaml, others = files_of(folder), files_below(folder)  # of which only the names count
        contents = (
            dict.fromkeys(others, b"") | {path: read_bytes(path) for path in yaml} | {folder / name: text.encode()}
        )
        for path, data in contents.items():
            target = copy / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        load_catalog(copy, complain=problems.append)
        wrong = [problem for problem in problems if problem.path == copy / name]
        return "" if not wrong else f"{wrong[0].field}{language().colon}{wrong[0].message}"


def accelerator_of(catalog: Catalog, names: Sequence[str | None]) -> str | None:
    """Return the accelerator of the catalogue that these GPUs are, by the names of their driver."""
    first = next(iter(names), None) or ""
    return next((item.id for item in catalog.accelerators.values() if item.is_called(first)), None)


def files_of(folder: Path) -> list[Path]:
    """Return the YAML files of a catalogue."""
    return sorted(path for path in files_below(folder) if fnmatchcase(path.name, "*.y*ml"))


def place_of(folder: Path, name: str) -> tuple[Path, int] | None:
    """Return the file below a catalogue and the line with the entry of this id; None where there is none."""
    written = re.compile(rf"\s*(?:-\s*)?(?:\{{\s*)?id:\s*[\"']?{re.escape(name)}[\"']?\s*(?:[,#].*)?$")
    for path in files_of(folder):
        for number, line in enumerate(read_bytes(path).decode("utf-8", "replace").splitlines(), start=1):
            if written.match(line):
                return path, number
    return None
