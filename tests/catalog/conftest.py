"""A workspace's catalogue written by a test."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def write(tmp_path):
    """Write a file of a catalogue folder; gives the folder."""

    def write_file(text: str | bytes, name: str = "hardware.yaml") -> Path:
        path = tmp_path / "catalog" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / "catalog"

    return write_file
