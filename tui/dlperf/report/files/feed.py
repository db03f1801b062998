"""The Atom feed of new results (RFC 4287)."""

import html
from collections.abc import Sequence
from urllib.parse import urlsplit
from xml.etree import ElementTree

from dlperf.messages import ENGLISH
from dlperf.report import markdown as md
from dlperf.report.answer import answers_of_site
from dlperf.report.data import SiteData
from dlperf.report.pages.hardware import shared_title
from dlperf.report.pages.home import best_of_cases, headline
from dlperf.report.pages.page import Page
from dlperf.report.site import locations as at
from dlperf.report.site.metadata import changed
from dlperf.table.model import ConfigurationResult

NAMESPACE = "http://www.w3.org/2005/Atom"
NO_DATE = "1970-01-01T00:00:00Z"
"""Date of a feed without entries: Atom demands one."""


def feed(data: SiteData) -> str:
    """Return an entry for each report, newest first.

    Links are relative to the feed, unless the address of the site is known (``site_url`` in mkdocs.yml).
    """
    entries = sorted(_dated(data), reverse=True)
    root = ElementTree.Element("feed", {"xmlns": NAMESPACE})
    _add(root, "title", data.title)
    site = urlsplit(data.address)
    name = f"tag:{site.hostname or 'dlperf'},2026:{site.path.lstrip('/')}"
    _add(root, "id", f"{name}results")
    if data.address:
        ElementTree.SubElement(root, "link", {"rel": "self", "href": f"{data.address}{at.FEED}"})
    _add(root, "updated", entries[0][0] if entries else NO_DATE)
    _add(ElementTree.SubElement(root, "author"), "name", data.title)
    for updated, source, case in entries:
        entry = ElementTree.SubElement(root, "entry")
        _add(entry, "title", shared_title(Page(ENGLISH, data, at.FEED), case, data.reports[source, case]))
        _add(entry, "id", f"{name}{at.campaign_folder(source)}/{at.slug(case)}")
        _add(entry, "updated", updated)
        _add(entry, "summary", _summary(data, data.reports[source, case]))
        from_here = at.HOME if data.address else at.FEED
        address = data.address + at.html_address(from_here, at.report_page(source, case))
        ElementTree.SubElement(entry, "link", {"href": address})
    ElementTree.indent(root, " ")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _dated(data: SiteData) -> list[tuple[str, str, str]]:
    """Return date, source and case of every report with a known date."""
    dates = {key: max(changed(data, row) for row in rows) for key, rows in data.reports.items()}
    return [(date, source, case) for (source, case), date in dates.items() if date]


def _summary(data: SiteData, rows: Sequence[ConfigurationResult]) -> str:
    """Return values and verdict of a report's first comparison, in one sentence each."""
    page = Page(ENGLISH, data, at.FEED)
    found = headline(page, best_of_cases(answers_of_site(data, rows)))
    return html.unescape(page.render("feed_summary.j2", answer=found[0])).strip() if found else "No result"


def _add(parent: ElementTree.Element, name: str, words: str) -> None:
    ElementTree.SubElement(parent, name).text = md.FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", words)
