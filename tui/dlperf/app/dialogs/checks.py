"""A page of what ``dlperf check`` found on machines."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any

from rich.cells import cell_len

from dlperf.app.dialogs.pages import ListPage
from dlperf.app.model.table import Column, Row
from dlperf.messages import Message, _, message, render
from dlperf.view.text import printable


def check_page(rows: dict[Hashable, Row], problem: str = "") -> ListPage:
    """Return a page of what the checks found, with the cursor on the first that failed."""
    titles = (_("node"), _("hardware"), _("check"), "")
    widths = [max(cell_len(row.cells[at]) for row in (Row(titles), *rows.values())) for at in range(4)]
    columns = (
        Column(titles[0], min(widths[0], 24), importance=9),
        Column(titles[1], min(widths[1], 24), importance=7),
        Column(titles[2], widths[2], importance=8),
        Column(titles[3], widths[3], importance=9),
        Column(_("details"), 20, importance=9, flexible=True),
    )
    failed = next((key for key, row in rows.items() if "bad" in row.tones), None)
    return ListPage(_("Are the machines ready?"), columns, rows, problem, chooses=False, selected=failed)


def check_rows(output: str) -> dict[Hashable, Row]:
    """Turn the output of ``dlperf check --json`` into rows; none where it is something else."""
    try:
        items = json.loads(output)
    except ValueError:
        return {}
    return dict(enumerate(map(_check_row, items if isinstance(items, list) else ())))


def _check_row(item: dict[str, Any]) -> Row:
    found, advice = Message.from_json(item["message_code"]), item.get("advice_code")
    if advice:
        found = message("and_more", subject=found, more=Message.from_json(advice))
    name = render(message(f"check_{item['check']}")).replace("_", " ")
    verdict, tone = (_("ok"), "good") if item["ok"] else (_("NOT READY"), "bad")
    if item.get("caution"):
        verdict, tone = _("CAUTION"), "warn"
    cells = (str(item["node"]), str(item.get("hardware", "")), name, verdict, render(found))
    return Row(tuple(map(printable, cells)), tones=("", "dim", "", tone, ""))
