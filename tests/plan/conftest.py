"""A catalogue made for tests, over the built-in one."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlperf.catalog.files.load import load_catalog

CATALOG = Path(__file__).parents[1] / "data" / "catalog"


@pytest.fixture(scope="session")
def catalog():
    return load_catalog(CATALOG)
