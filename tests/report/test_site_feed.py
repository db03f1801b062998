"""The feed of what is new on a site."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest
from site_sample import sample, twice

from dlperf.measured.findings.program_faults import known_faults
from dlperf.measured.model import TrialResult
from dlperf.messages.finding import warning
from dlperf.report.data import SiteData
from dlperf.report.files.feed import NAMESPACE, feed
from dlperf.report.site import locations as at
from dlperf.report.site.metadata import changed, with_metadata
from dlperf.report.site.settings import read_settings, site_address


def test_the_feed_has_the_newest_first_and_only_what_has_a_date() -> None:
    published = {name: replace(report, date="2021-05-12") for name, report in sample().published.items()}
    results = (*twice(400.0, 380.0).results, *(row for row in sample().results if row.campaign in published))
    data = replace(twice(400.0, 380.0), results=results, published=published)
    root = ElementTree.fromstring(feed(data))
    titles = [entry.findtext(f"{{{NAMESPACE}}}title") for entry in root.iter(f"{{{NAMESPACE}}}entry")]
    assert titles[0] == "ResNet50V1.5: training speed on Tesla V100-SXM2-32GB"
    assert len(titles) == 3
    links = [link.get("href") for link in root.iter(f"{{{NAMESPACE}}}link")]
    assert links[0] == at.html_address(at.FEED, at.report_page("measured/dlperf-v1", "resnet50-imagenet"))
    assert root.findtext(f"{{{NAMESPACE}}}updated") == "2027-01-02T03:04:05Z"


def test_an_entry_of_the_feed_says_the_value_and_the_verdict_and_changes_when_a_trial_is_added() -> None:
    data = twice(400.0, 380.0)
    (*others, newest) = data.results
    entry = f"{{{NAMESPACE}}}entry/{{{NAMESPACE}}}"
    summary = ElementTree.fromstring(feed(data)).findtext(f"{entry}summary")
    assert summary.startswith("ResNet50V1.5 on A box in FP32, batch 256: Alpha 380 images/s.")
    trials = (*newest.trials, TrialResult(9, "succeeded", started="2027-01-03T00:00:00Z", value=381.0))
    later = feed(replace(data, results=(*others, replace(newest, trials=trials))))
    assert ElementTree.fromstring(later).findtext(f"{entry}updated") == "2027-01-03T00:00:00Z"


def test_a_date_of_a_year_or_a_month_is_a_time_in_the_feed() -> None:
    data = sample()
    dated = {name: replace(report, date="2021-05") for name, report in data.published.items()}
    assert "<updated>2021-05-01T00:00:00Z</updated>" in feed(replace(data, published=dated))


@pytest.mark.parametrize("date", ["2025-06</s", "'\nhide: x", "2025-13", "20256", "2025-06-01T00:00:00Z<x>", "T"])
def test_a_date_that_is_none_is_in_no_feed_sitemap_or_front_matter(date: str) -> None:
    data = sample()
    row = next(row for row in data.results if row.campaign == "published/plsc")
    dated = {name: replace(report, date=date) for name, report in data.published.items()}
    data = replace(data, published=dated, address="https://bench.example.org/")
    assert changed(data, row) == ""
    assert "updated" not in with_metadata("---\n---\n", data, at.HOME, [row])


def test_an_entry_keeps_its_id_when_its_report_gets_newer_figures() -> None:
    before, after = twice(400.0, 380.0), replace(twice(400.0, 380.0), results=twice(400.0, 380.0).results[:1])
    entry = f"{{{NAMESPACE}}}entry/{{{NAMESPACE}}}id"
    ids = [ElementTree.fromstring(feed(data)).findtext(entry) for data in (before, after)]
    assert ids[0] == ids[1] is not None


def test_the_feed_says_which_claims_were_withdrawn_and_which_results_are_left_out() -> None:
    data = twice(400.0, 380.0)
    before, after = data.results
    marked = (
        replace(before, findings=(warning("stem_not_trained"),)),
        replace(after, findings=(warning("layers_scanned"),)),
    )
    root = ElementTree.fromstring(feed(replace(data, results=marked, address="https://bench.example.org/")))
    fields = ("id", "title", "updated", "summary")
    entries = [
        [one.findtext(f"{{{NAMESPACE}}}{name}") for name in fields] for one in root.iter(f"{{{NAMESPACE}}}entry")
    ]
    links = [one.find(f"{{{NAMESPACE}}}link").get("href") for one in root.iter(f"{{{NAMESPACE}}}entry")]
    assert [entry[:3] for entry in entries[1:]] == [
        [
            "tag:bench.example.org,2026:withdrawn/layers_scanned",
            "No claim rests on these results: ResNet50V1.5",
            "2026-11-27T06:36:07Z",
        ],
        [
            "tag:bench.example.org,2026:faults/stem_not_trained",
            "Results of a faulty program left out: ResNet50V1.5",
            "2026-11-25T19:20:31Z",
        ],
    ]
    assert "from 47.1 % to 9.4 %" in entries[1][3]
    assert entries[1][3].endswith("so no claim rests on this result. Results concerned: 1.")
    page = "https://bench.example.org/results/history.html"
    assert links[1:] == [f"{page}#withdrawn", f"{page}#faults"]


def test_when_each_fault_was_found_is_a_time() -> None:
    for fault in known_faults():
        assert datetime.fromisoformat(fault.found).tzinfo is not None, fault.code
        assert fault.found.endswith("Z"), fault.code


def test_where_the_site_stands_is_known_the_feed_has_whole_addresses(tmp_path: Path) -> None:
    config = tmp_path / "mkdocs.yml"
    config.write_text("site_name: x\nsite_url: 'https://bench.example.org/site'\n")
    root = ElementTree.fromstring(feed(replace(twice(400.0, 380.0), address=site_address(read_settings(config)[0]))))
    links = {link.get("rel", "alternate"): link.get("href") for link in root.iter(f"{{{NAMESPACE}}}link")}
    assert links == {
        "self": "https://bench.example.org/site/data/feed.xml",
        "alternate": "https://bench.example.org/site/results/reports/measured/dlperf-v1/resnet50-imagenet.html",
    }
    assert root.findtext(f"{{{NAMESPACE}}}id") == "tag:bench.example.org,2026:site/results"
    assert site_address(read_settings(tmp_path / "none.yml")[0]) == ""


def test_a_feed_without_entries_is_one_all_the_same() -> None:
    assert ElementTree.fromstring(feed(SiteData())).findtext(f"{{{NAMESPACE}}}updated") == "1970-01-01T00:00:00Z"
