"""The guide's tables of measured stacks hold the values of kept results."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dlperf.messages.numbers import percent
from dlperf.runs.paths import WorkspacePaths
from dlperf.table.load import load_results

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["site/docs/guide/stacks.md", "site/docs/zh/guide/stacks.md"]
RATE = r"(\d{1,3}(?:,\d{3})+)"


@pytest.mark.parametrize("page", PAGES)
def test_each_throughput_in_a_table_of_the_guide_is_a_kept_result(page: str, kept: frozenset[tuple[str, str]]) -> None:
    stated = re.findall(rf"\| {RATE}[^|]* \| [^|]*?([\d.]+ %)[^|]* \| .", tables(page))
    assert len(stated) == len(re.findall(r" \| [^|]*[\d.]+ %[^|]* \| .", tables(page))) > 20
    assert set(stated) <= kept


@pytest.mark.parametrize("page", PAGES)
def test_each_gap_in_a_table_of_the_guide_is_that_of_two_kept_results(
    page: str, kept: frozenset[tuple[str, str]]
) -> None:
    values = {value for value, _ in kept}
    gaps = re.findall(rf"\| {RATE} \| {RATE} \| ([\d.]+ %) \|$", tables(page), re.MULTILINE)
    assert len(gaps) == 4
    for behind, ahead, gap in gaps:
        assert {behind, ahead} <= values
        assert gap == percent(1 - number(behind) / number(ahead))


def tables(page: str) -> str:
    return "\n".join(line for line in (ROOT / page).read_text().splitlines() if line.startswith("|"))


def number(text: str) -> float:
    return float(text.replace(",", ""))


@pytest.fixture(scope="module")
def kept() -> frozenset[tuple[str, str]]:
    """Throughput and MFU as the guide prints them."""
    rows = load_results(WorkspacePaths(ROOT))
    return frozenset((f"{row.value:,.0f}", percent(row.mfu)) for row in rows if row.value and row.mfu)
