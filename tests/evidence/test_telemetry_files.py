"""Files of telemetry, which a payload may have written to."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from dlperf.evidence import telemetry
from dlperf.evidence.telemetry import read_telemetry


@pytest.fixture
def at_most(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(telemetry, "MOST_ROWS", 100)
    return 100


def test_rows_beyond_what_can_be_held_are_thinned_by_whole_moments(tmp_path: Path, at_most: int):
    path = tmp_path / "telemetry.csv"
    rows = (f"{1000 + second},{gpu},99\n" for second in range(500) for gpu in range(4))
    path.write_text("time,gpu,power_watts\n" + "".join(rows))
    found = read_telemetry(path, "n0")
    assert at_most / 2 <= len(found) <= at_most
    assert set(Counter(row.time for row in found).values()) == {4}
    times = sorted({row.time for row in found})
    assert len({later - time for time, later in pairwise(times)}) == 1
    assert times[-1] > 1450


def test_a_row_that_is_repeated_without_end_takes_little_memory(tmp_path: Path, at_most: int):
    path = tmp_path / "telemetry.csv"
    path.write_text("time,cpu_percent\n" + "1000,50\n" * 2000)
    assert len(read_telemetry(path, "n0")) <= at_most
