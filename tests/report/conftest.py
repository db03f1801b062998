"""One small site, built once for every test that only reads it."""

from __future__ import annotations

from pathlib import Path

import pytest
from site_sample import make_workspace, sample

from dlperf.report.build import write_pages
from dlperf.report.mkdocs import build_html


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole site, built as ``--strict`` builds it."""
    workspace = make_workspace(tmp_path_factory.mktemp("workspace"), sample())
    write_pages(workspace, sample())
    build_html(workspace, workspace.site_html, strict=True)
    return workspace.site_html
