"""What is new, as an Atom feed (RFC 4287)."""

from __future__ import annotations

from urllib.parse import urlsplit
from xml.etree import ElementTree

from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.data import SiteData
from dlperf.report.text import ENGLISH

NAMESPACE = "http://www.w3.org/2005/Atom"
NO_DATE = "1970-01-01T00:00:00Z"
"""Of a feed without entries: Atom demands one."""


def feed(data: SiteData) -> str:
    """An entry for each report, the one with the newest figures first. Links are relative to the feed, unless it is
    known where the site stands (``site_url`` in mkdocs.yml)."""
    entries = sorted(_dated(data), reverse=True)
    root = ElementTree.Element("feed", {"xmlns": NAMESPACE})
    _add(root, "title", "dlperf")
    name = f"tag:{urlsplit(data.address).hostname or 'dlperf'},2026:"
    _add(root, "id", f"{name}results")
    if data.address:
        ElementTree.SubElement(root, "link", {"rel": "self", "href": f"{data.address}{at.FEED}"})
    _add(root, "updated", entries[0][0] if entries else NO_DATE)
    _add(ElementTree.SubElement(root, "author"), "name", "dlperf")
    for updated, source, case in entries:
        entry = ElementTree.SubElement(root, "entry")
        _add(entry, "title", f"{data.case_title(case)} – {data.source_title(ENGLISH, source)}")
        _add(entry, "id", f"{name}{at.campaign_folder(source)}/{at.slug(case)}")
        _add(entry, "updated", updated)
        from_here = at.HOME if data.address else at.FEED
        address = data.address + at.html_address(from_here, at.report_page(source, case))
        ElementTree.SubElement(entry, "link", {"href": address})
    ElementTree.indent(root, " ")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _dated(data: SiteData) -> list[tuple[str, str, str]]:
    """Date, source and case of every report whose date is known."""
    dates = {key: max(data.created(row.campaign) for row in rows) for key, rows in data.reports.items()}
    return [(_moment(date), source, case) for (source, case), date in dates.items() if date]


def _moment(date: str) -> str:
    """A time as it is; ``2021``, ``2021-05`` or ``2021-05-12`` as the first moment of it."""
    return date if "T" in date else f"{date}{'-01-01'[len(date) - 4 :] if len(date) < 10 else ''}T00:00:00Z"


def _add(parent: ElementTree.Element, name: str, words: str) -> None:
    ElementTree.SubElement(parent, name).text = md.FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", words)
