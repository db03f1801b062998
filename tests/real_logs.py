"""The raw logs of the public reports, where they lie beside the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dlperf.formats.registry import parser_for
from dlperf.formats.samples import Run

LOGS = Path(os.environ.get("DLPERF_LOGS", Path(__file__).parents[2] / "shared" / "logs"))

needs_real_logs = pytest.mark.skipif(not LOGS.is_dir(), reason=f"no raw logs in {LOGS} (set DLPERF_LOGS)")


def parsed(format_id: str, data: bytes) -> list[Run]:
    parser = parser_for(format_id)
    parser.feed(data)
    parser.finish()
    return parser.runs
