"""The raw logs of the public reports, where they lie beside the repository."""

from __future__ import annotations

import csv
import os
import tarfile
from pathlib import Path

import pytest

from dlperf.formats.registry import parser_for
from dlperf.formats.samples import Run

SHARED = Path(__file__).parents[2] / "shared"
LOGS = Path(os.environ.get("DLPERF_LOGS", SHARED / "logs"))
PACKED = SHARED / "corpus2" / "logs.tar.xz"
CASES = SHARED / "cases"
FOLDERS = tuple(folder for folder in (SHARED / "corpus", CASES) if folder.is_dir())

needs_real_logs = pytest.mark.skipif(not LOGS.is_dir(), reason=f"no raw logs in {LOGS} (set DLPERF_LOGS)")


def parsed(format_id: str, data: bytes) -> list[Run]:
    parser = parser_for(format_id)
    parser.feed(data)
    parser.finish()
    return parser.runs


def packed_logs() -> list[str]:
    """The names of the logs in the packed corpus; none where it is not here."""
    if not PACKED.is_file():
        return []
    with PACKED.with_name("manifest.csv").open(encoding="utf-8") as stream:
        return sorted({row["file"] for row in csv.DictReader(stream)})


def unpack_logs(folder: Path) -> None:
    """Unpack that corpus."""
    with tarfile.open(PACKED) as archive:
        for member in filter(tarfile.TarInfo.isfile, archive):
            content = archive.extractfile(member)
            assert content is not None
            path = folder / member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.read())


def plain_logs() -> list[Path]:
    """The logs of the corpora that lie unpacked."""
    return sorted(path for folder in FOLDERS for path in folder.rglob("*") if path.is_file() and path.suffix != ".csv")
