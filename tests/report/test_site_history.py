"""What several campaigns measured, and what is new."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from site_rows import measured
from site_sample import campaign, sample

from dlperf.report import locations as at
from dlperf.report.data import SiteData
from dlperf.report.feed import NAMESPACE, feed
from dlperf.report.pages.history import history
from dlperf.report.pages.home import home
from dlperf.report.text import ENGLISH


def twice(before: float, after: float) -> SiteData:
    """The same configuration in campaign ``first`` and, a year later, in ``again``."""
    rows = (measured("alpha", value=before), measured("alpha", value=after, campaign="again"))
    records = {row.campaign: campaign([row]) for row in rows}
    later = replace(records["again"], created="2027-01-02T03:04:05Z")
    return replace(sample(), results=rows, campaigns={**records, "again": later})


def test_a_slower_figure_is_marked_as_a_regression() -> None:
    text = history(ENGLISH, twice(400.0, 380.0))
    assert text.index("[first]") < text.index("[again]")
    assert "| -5.0 % | **regression**{ .regression } |" in text


def test_a_figure_within_the_spread_is_no_regression() -> None:
    text = history(ENGLISH, twice(400.0, 399.5))
    assert ".regression" not in text
    assert "within the spread" in text


def test_published_figures_have_no_history() -> None:
    assert "No configuration has been measured by more than one campaign" in history(ENGLISH, sample())


def test_the_home_page_shows_the_newest_of_two_campaigns_with_the_same_frameworks() -> None:
    text = home(ENGLISH, twice(400.0, 380.5))
    assert "[380.5]" in text
    assert "[400]" not in text


def test_the_feed_has_the_newest_first_and_only_what_has_a_date() -> None:
    data = twice(400.0, 380.0)
    root = ElementTree.fromstring(feed(data))
    titles = [entry.findtext(f"{{{NAMESPACE}}}title") for entry in root.iter(f"{{{NAMESPACE}}}entry")]
    assert titles == ["ResNet50V1.5 – again", "ResNet50V1.5 – first"]
    links = [link.get("href") for link in root.iter(f"{{{NAMESPACE}}}link")]
    assert links[0] == at.html_address(at.FEED, at.report_page("again", "resnet50-imagenet"))
    assert root.findtext(f"{{{NAMESPACE}}}updated") == "2027-01-02T03:04:05Z"


def test_a_date_of_a_year_or_a_month_is_a_time_in_the_feed() -> None:
    data = sample()
    dated = {name: replace(report, date="2021-05") for name, report in data.published.items()}
    assert "<updated>2021-05-01T00:00:00Z</updated>" in feed(replace(data, published=dated))


def test_a_feed_without_entries_is_one_all_the_same() -> None:
    assert ElementTree.fromstring(feed(SiteData())).findtext(f"{{{NAMESPACE}}}updated") == "1970-01-01T00:00:00Z"
