"""What the audit says of how results were checked."""

from __future__ import annotations

from dataclasses import replace

from html_text import Document, rows_of
from site_sample import pages, sample

from dlperf.messages import CHINESE, ENGLISH, message
from dlperf.report.build import overview_pages
from dlperf.report.pages.audit import audit
from dlperf.report.site import locations as at
from dlperf.table.audited import Verified


def test_the_audit_begins_with_how_much_could_be_checked_and_what_came_of_it() -> None:
    text = pages(sample())[at.AUDIT]
    answer = (
        "Third-party reports print 2 values of 7 results. 2 of these values have a public raw log. dlperf recomputed"
        " 1 of them under the source's own rule: 1"
    )
    assert answer in text[: text.index("## ")]
    overview = text[text.index("<table>") : text.index("## ")]
    assert ["2", "2", "1", "1", "0 %"] in [row[1:] for row in rows_of(overview)]
    assert '<a href="#report-perf">' in overview
    assert "{ #report-perf" in text


def test_the_audit_says_when_and_by_which_version_a_kept_verdict_was_computed() -> None:
    data = sample()
    kept = replace(data.audit[0], date="2026-11-23", version="0.2.0")
    text = pages(replace(data, audit=(kept, data.audit[1])))[at.AUDIT]
    assert "1 verdicts are of <time>2026-11-23</time>, by dlperf 0.2.0; the raw logs are not in this build." in text


def test_the_audit_says_so_where_results_were_checked_when_transcribed_only() -> None:
    data = sample()
    noted = message("noted_difference", difference=-0.01)
    rows = tuple(replace(row, recomputed=None, difference=None, verdict=noted) for row in data.audit)
    text = dict(overview_pages(ENGLISH, replace(data, audit=rows)))[at.AUDIT]
    assert "dlperf recomputed 0 of them" in text
    assert "2 more were checked when their report was transcribed, not by dlperf: 0 exactly, 2 with a different" in text
    assert "Recomputed" not in text[: text.index("## ")]


def test_the_audit_adds_up_and_shows_differences_found_when_transcribed() -> None:
    exact, unread = sample().audit
    rows = (
        exact,
        replace(unread, verdict=message("noted_difference", difference=-0.02), difference=-0.02),
        replace(unread, verdict=message("noted_not_reproduced"), log=""),
    )
    text = dict(overview_pages(ENGLISH, replace(sample(), audit=rows)))[at.AUDIT]
    assert "2 of these values have a public raw log. dlperf recomputed 1 of them" in text
    assert "1 more were checked when their report was transcribed" in text
    assert "1 further values have no raw log of their own" in text
    overview = text[text.index("<table>") : text.index("## ")]
    assert ["3", "2", "1", "1", "1", "2 %"] in [row[1:] for row in rows_of(overview)]
    assert "not reproduced when transcribed" in text


def test_the_audit_says_how_our_own_results_were_checked() -> None:
    text = pages(sample())[at.AUDIT]
    trials = sum(len(row.values) for row in sample().results if row.campaign == "first" and row.value is not None)
    assert f"; trials: {trials}). This build compared the SHA-256" in text


def test_the_audit_says_when_our_own_values_were_recomputed() -> None:
    assert "were recomputed from their raw logs on" not in pages(sample())[at.AUDIT]
    checked = {name: Verified("2026-11-26T10:00:00Z", "0.1.0", 3, "") for name in ("first", "second")}
    data = replace(sample(), verified=checked)
    assert "6 个数值于 2026-11-26 由 dlperf 0.1.0" in Document(audit(CHINESE, data)).text
    text = Document(pages(data)[at.AUDIT]).text
    assert "6 values of our trials were recomputed from their raw logs on 2026-11-26, by dlperf 0.1.0" in text
