"""The records of a workspace as tests read them."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from dlperf.runs.store import parse_record

Record = TypeVar("Record")


def read_record(path: Path, kind: type[Record]) -> Record:
    return parse_record(path, path.read_bytes(), kind)
