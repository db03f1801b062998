"""Reading HTML as a browser does: what is text, which elements there are, where links go."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
TAG = re.compile(r"<[a-z][^<>]*>")
ATTRIBUTE = re.compile(r"""\s(href|src|id)="([^"]*)\"""")
SCRIPT = re.compile(r"(<script\b[^>]*>).*?</script>", re.DOTALL)


def links_and_ids(html: str) -> tuple[list[str], set[str]]:
    """Return what ``Document`` calls links and ids, in a tenth of its time: attributes stand in double quotes."""
    tags = TAG.findall(SCRIPT.sub(r"\1", html))
    found = [(name, unescape(value)) for tag in tags for name, value in ATTRIBUTE.findall(tag)]
    return [value for name, value in found if name != "id"], {value for name, value in found if name == "id"}


class Document(HTMLParser):
    """Text, element names, ids and links of a document."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.elements: list[str] = []
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        if tag not in VOID:
            self._open.append(tag)
        for name, value in attrs:
            self.attributes.append((tag, name, value or ""))
            if name == "id":
                self.ids.add(value or "")
            if name in ("href", "src"):
                self.links.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self._open):
            self.text += data


def rows_of(html: str) -> list[list[str]]:
    """Every row of every table, as the text of its cells."""
    rows = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    return [[Document(cell).text for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)] for row in rows]
