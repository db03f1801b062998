"""The catalogue, read in a thread: its library takes longer to import than a picture to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dlperf.catalog.load import Catalog
    from dlperf.runs.paths import Workspace


def read_catalog(workspace: Workspace) -> Catalog:
    """The built-in catalogue with the workspace's over it.

    Raises:
        CatalogError: something is wrong with a file.
    """
    from dlperf.catalog.load import load_catalog
    from dlperf.formats.registry import format_ids

    return load_catalog(workspace.catalog, format_ids())
