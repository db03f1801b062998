"""Write an entry of the catalogue for a machine that was typed into a form."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlperf.messages import _
from dlperf.opening import files_below, read_bytes
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.store import write_atomic

if TYPE_CHECKING:
    from dlperf.catalog.files.load import Catalog
    from dlperf.catalog.files.problem import Problem


@dataclass(frozen=True)
class MachineEntry:
    """What was typed."""

    id: str
    host: str = ""
    user: str = ""
    accelerator: str = ""
    gpus: str = ""
    interface: str = ""

    @property
    def login_options(self) -> list[str]:
        """Return the options of ``dlperf machines`` that name this machine, which no entry names yet."""
        login = f"{self.user}@{self.host}" if self.user else self.host
        return ["--login", login] if self.host else ["--login", "local"]

    def document(self) -> dict[str, Any]:
        """Return the entry as the catalogue's files hold it."""
        if self.host:
            node = {"name": self.id, "host": self.host, "user": self.user, "interface": self.interface}
        else:
            node = {"name": self.id, "transport": "local", "interface": self.interface}
        gpus = int(self.gpus) if self.gpus.isdecimal() else self.gpus or 1
        entry = {"id": self.id, "title": self.id, "accelerator": self.accelerator, "gpus_per_node": gpus}
        return {name: value for name, value in entry.items() if value != ""} | {
            "nodes": [{name: value for name, value in node.items() if value}]
        }


def write_entry(workspace: WorkspacePaths, catalog: Catalog, entry: MachineEntry) -> str:
    """Write the entry into the workspace's catalogue; return what is wrong with it, in which case nothing is written.

    Raises:
        DlperfError: the file cannot be written.
    """
    if entry.id in catalog.hardware:
        return _("{name}: there is an entry of this name", name=entry.id)
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", entry.id):
        return _("{name}: a name has small letters, digits, dots and hyphens", name=entry.id or _("empty"))
    data = _yaml([entry.document()])
    if problem := _problem(data, entry.id):
        return problem
    write_atomic(workspace.catalog / "hardware" / f"{entry.id}.yaml", data)
    return ""


def _yaml(entries: Sequence[Any]) -> bytes:
    import yaml

    text: str = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True)
    return text.encode()


def _problem(data: bytes, name: str) -> str:
    """Return the first problem of an entry, by loading it with the built-in catalogue."""
    from dlperf.catalog.files.load import load_catalog

    problems: list[Problem] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder).resolve() / "hardware" / f"{name}.yaml"
        file.parent.mkdir()
        file.write_bytes(data)
        load_catalog(file.parents[1], complain=problems.append)
        return "" if not problems else f"{problems[0].field}: {problems[0].message}"


def accelerator_of(catalog: Catalog, names: Sequence[str | None]) -> str | None:
    """Return the accelerator of the catalogue that these GPUs are, by the names of their driver."""
    first = next(iter(names), None) or ""
    return next((item.id for item in catalog.accelerators.values() if item.is_called(first)), None)


def place_of(folder: Path, name: str) -> tuple[Path, int] | None:
    """Return the file below a catalogue and the line with the entry of this id; None where there is none."""
    written = re.compile(rf"\s*(?:-\s*)?(?:\{{\s*)?id:\s*[\"']?{re.escape(name)}[\"']?\s*(?:[,#].*)?$")
    for path in sorted(path for path in files_below(folder) if fnmatchcase(path.name, "*.y*ml")):
        for number, line in enumerate(read_bytes(path).decode("utf-8", "replace").splitlines(), start=1):
            if written.match(line):
                return path, number
    return None
