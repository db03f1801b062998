"""Example packages of ``docs``, installed for a test as pip would: by their metadata on the path."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from dlperf.catalog.plugins import scan_packages
from dlperf.formats import registry
from dlperf.measured.throughput.estimators import parse_estimator

DOCS = Path(__file__).parents[1] / "docs"


def install_example(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the package of ``docs/<name>`` until the test ends.

    Args:
        folder: an empty one, which takes the metadata.
    """
    project = tomllib.loads((DOCS / name / "pyproject.toml").read_text())["project"]
    metadata = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 1.0\n")
    groups = project["entry-points"].items()
    lines = [line for group, names in groups for line in (f"[{group}]", *(f"{k} = {v}" for k, v in names.items()))]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    module = project["name"].replace("-", "_")
    for known in [known for known in sys.modules if known.split(".")[0] == module]:
        monkeypatch.delitem(sys.modules, known)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.syspath_prepend(str(DOCS / name))
    forget_plugins()


def forget_plugins() -> None:
    """Let dlperf look again for what is installed."""
    scan_packages.cache_clear()
    registry._builtin_formats.cache_clear()
    parse_estimator.cache_clear()
