"""The successor of Material for MkDocs builds the same site from the same files."""

from __future__ import annotations

from pathlib import Path

from zensical_site import unknown_differences


def test_zensical_builds_the_same_pages(site: Path) -> None:
    found, pages = unknown_differences(site.parent)
    assert found == []
    assert pages > 50
