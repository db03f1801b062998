"""The guide's tables of measured stacks hold the values of kept results."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dlperf.messages.numbers import percent
from dlperf.runs.paths import WorkspacePaths
from dlperf.table.load import load_results

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["site/docs/guide/stacks.md", "site/docs/zh/guide/stacks.md"])
def test_each_throughput_in_a_table_of_the_guide_is_a_kept_result(page: str, kept: frozenset[tuple[str, str]]) -> None:
    rows = [line for line in (ROOT / page).read_text().splitlines() if line.startswith("|")]
    stated = re.findall(r"\| (\d{1,3}(?:,\d{3})+) \| ([\d.]+ %)", "\n".join(rows))
    assert len(stated) > 20
    assert set(stated) <= kept


@pytest.fixture(scope="module")
def kept() -> frozenset[tuple[str, str]]:
    """Throughput and MFU as the guide prints them."""
    rows = load_results(WorkspacePaths(ROOT))
    return frozenset((f"{row.value:,.0f}", percent(row.mfu)) for row in rows if row.value and row.mfu)
