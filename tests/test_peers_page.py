"""The comparison with other tools gives a reason for each row in which one of them is ahead."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "peers.md"
RANK = {"–": 0, "no": 0, "partly": 1, "yes": 2}


def rows(text: str) -> list[list[str]]:
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:2] == "| "]
    return [row for row in cells if row[0] and set(row[0]) != {"-"}]


def test_every_row_in_which_a_peer_is_ahead_has_a_reason():
    matrix, reasons = PAGE.read_text().split("## Where a peer is ahead")
    features = rows(matrix)
    assert {len(row) for row in features} == {9}
    behind = {name for name, own, *peers in features if RANK[own] < max(RANK[peer] for peer in peers)}
    explained = {name for name, _ in rows(reasons.partition("\n## ")[0])}
    assert behind <= explained <= {row[0] for row in features}


def test_links_lead_to_files():
    targets = re.findall(r"\]\((?!https://)([^)#]+)", PAGE.read_text())
    assert [target for target in targets if not (PAGE.parent / target).exists()] == []
