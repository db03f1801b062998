"""A catalogue, a workspace and a folder for logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlperf.catalog.files.load import Catalog, load_catalog
from dlperf.runs.paths import WorkspacePaths
from handmade_trials import workspace_in


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspacePaths:
    return workspace_in(tmp_path / "workspace")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "logs"
    path.mkdir()
    return path
