"""A hook of MkDocs: its search does not parse tables in sections that it leaves out, a fifth of the time of MkDocs."""

import re
from typing import Any

from mkdocs.plugins import event_priority
from mkdocs.structure.pages import Page

SECTION = re.compile(r"(?=<h[1-6]\s[^>]*\bid=)")
LEFT_OUT = "data-search-exclude"
TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
MARK = "\x02unsearched\x03"
"""In place of a table; Markdown takes these characters out of every page."""
_tables: dict[str, list[str]] = {}
"""Of each page, by its address, until the search has seen the rest."""


def on_page_content(html: str, *, page: Page, **_: Any) -> str:
    """Take the tables out."""
    tables = _tables[page.url] = []

    def taken(table: re.Match[str]) -> str:
        tables.append(table[0])
        return MARK

    sections = SECTION.split(html)
    return "".join(TABLE.sub(taken, part) if LEFT_OUT in part.partition(">")[0] else part for part in sections)


@event_priority(-100)
def on_page_context(context: Any, *, page: Page, **_: Any) -> Any:
    """Put them back, after the search."""
    tables = iter(_tables.pop(page.url))
    page.content = re.sub(MARK, lambda _: next(tables), page.content or "")
    return context
