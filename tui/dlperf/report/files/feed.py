"""The Atom feed of new results, and of those that no longer count (RFC 4287)."""

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit
from xml.etree import ElementTree

from dlperf.measured.findings.program_faults import FAULTS, FOUND, UNFAIR
from dlperf.messages import ENGLISH
from dlperf.report import markdown as md
from dlperf.report.answer import answers_of_site
from dlperf.report.data import SiteData, distinct
from dlperf.report.pages.hardware import shared_title
from dlperf.report.pages.history import faulty
from dlperf.report.pages.home import best_of_cases, headline
from dlperf.report.pages.page import Page
from dlperf.report.site import locations as at
from dlperf.report.site.metadata import changed
from dlperf.table.model import ConfigurationResult

NAMESPACE = "http://www.w3.org/2005/Atom"
NO_DATE = "1970-01-01T00:00:00Z"
"""Date of a feed without entries: Atom demands one."""


@dataclass(frozen=True, order=True)
class FeedEntry:
    """What is new: a report with newer results, or claims and values that no longer count."""

    updated: str
    id: str
    """Below the name of the site."""
    title: str
    summary: str
    page: str
    anchor: str = ""


def feed(data: SiteData) -> str:
    """Return an entry for each report and each fault of a program by which results lost their claims, newest first.

    Links are relative to the feed, unless the address of the site is known (``site_url`` in mkdocs.yml).
    """
    entries = sorted((*_reports(data), *_faults(data)), reverse=True)
    root = ElementTree.Element("feed", {"xmlns": NAMESPACE})
    _add(root, "title", data.title)
    site = urlsplit(data.address)
    name = f"tag:{site.hostname or 'dlperf'},2026:{site.path.lstrip('/')}"
    _add(root, "id", f"{name}results")
    if data.address:
        ElementTree.SubElement(root, "link", {"rel": "self", "href": f"{data.address}{at.FEED}"})
    _add(root, "updated", entries[0].updated if entries else NO_DATE)
    _add(ElementTree.SubElement(root, "author"), "name", data.title)
    for one in entries:
        _add_entry(root, data, name, one)
    ElementTree.indent(root, " ")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _add_entry(root: ElementTree.Element, data: SiteData, name: str, one: FeedEntry) -> None:
    entry = ElementTree.SubElement(root, "entry")
    _add(entry, "title", one.title)
    _add(entry, "id", f"{name}{one.id}")
    _add(entry, "updated", one.updated)
    _add(entry, "summary", one.summary)
    address = data.address + at.html_address(at.HOME if data.address else at.FEED, one.page)
    ElementTree.SubElement(entry, "link", {"href": f"{address}{one.anchor}"})


def _reports(data: SiteData) -> Iterator[FeedEntry]:
    """Yield an entry for every report with a known date."""
    page = Page(ENGLISH, data, at.FEED)
    for (source, case), rows in data.reports.items():
        if date := max(changed(data, row) for row in rows):
            title, name = shared_title(page, case, rows), f"{at.campaign_folder(source)}/{at.slug(case)}"
            yield FeedEntry(date, name, title, _summary(data, rows), at.report_page(source, case))


def _faults(data: SiteData) -> Iterator[FeedEntry]:
    """Yield an entry for each fault that the page of changes lists, with how many results it concerns."""
    kinds = (
        ("withdrawn", "No claim rests on these results", UNFAIR),
        ("faults", "Results of a faulty program left out", FAULTS),
    )
    for anchor, kind, codes in kinds:
        for fault, rows in faulty(data, codes):
            models = ENGLISH.separator.join(distinct(data.case_title(row.case) for row in rows))
            summary = f"{md.unmarked(ENGLISH.render(fault.message))}. Results concerned: {len(rows)}."
            name = f"{anchor}/{fault.code}"
            yield FeedEntry(FOUND[fault.code], name, f"{kind}: {models}", summary, at.HISTORY, f"#{anchor}")


def _summary(data: SiteData, rows: Sequence[ConfigurationResult]) -> str:
    """Return values and verdict of a report's first comparison, in one sentence each."""
    page = Page(ENGLISH, data, at.FEED)
    found = headline(page, best_of_cases(answers_of_site(data, rows)))
    return html.unescape(page.render("feed_summary.j2", answer=found[0])).strip() if found else "No result"


def _add(parent: ElementTree.Element, name: str, words: str) -> None:
    ElementTree.SubElement(parent, name).text = md.FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", words)
