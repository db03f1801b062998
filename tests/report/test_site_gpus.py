"""What several GPUs measured together, each on its own."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from html_text import Document, rows_of
from site_rows import measured
from site_sample import campaign, sample

from claimable import CONDITIONS, claimable, of_trials
from dlperf.measured.findings.program_faults import UNFAIR
from dlperf.messages import ENGLISH
from dlperf.messages.finding import warning
from dlperf.report.answer import answers
from dlperf.report.build import overview_pages, tables
from dlperf.report.data import SiteData
from dlperf.report.figures import metric_value, per_joule
from dlperf.report.pages.explorer import explorer, explorer_document
from dlperf.report.pages.history import history
from dlperf.report.pages.home import home
from dlperf.report.pages.overview import best_rows
from dlperf.report.pages.page import Page
from dlperf.report.pages.reports.fairness import fairness
from dlperf.report.pages.reports.report import reports_index
from dlperf.report.pages.results.configurations import configurations
from dlperf.report.pages.results.pictures import comparison_chart
from dlperf.report.pages.your_number import your_number
from dlperf.report.site import locations as at
from dlperf.table.model import MetricResult


def on_gpus(created: str, campaigns: dict[str, tuple[str, float]]) -> SiteData:
    """The same configuration in campaigns, each on its GPU, that began within the hour."""
    rows = [
        of_trials(claimable(measured("alpha", value=value, campaign=name)), conditions=CONDITIONS | {"gpu.uuid": gpu})
        for name, (gpu, value) in campaigns.items()
    ]
    records = {row.campaign: replace(campaign([row]), created=created.format(n)) for n, row in enumerate(rows)}
    return replace(sample(), results=tuple(rows), campaigns=records)


TOGETHER = {f"on-{gpu}": (f"GPU-{gpu}", value) for gpu, value in enumerate((403.0, 401.0, 400.0, 402.0))}


def test_gpus_that_were_measured_together_are_one_point_of_the_history_and_no_change() -> None:
    first, later = (on_gpus(f"2026-{month}-02T00:0{{}}:00Z", TOGETHER) for month in ("01", "03"))
    assert first.repeated == {}
    again = tuple(replace(row, campaign=f"again-{row.campaign}") for row in later.results)
    records = {f"again-{name}": record for name, record in later.campaigns.items()}
    both = replace(first, results=(*first.results, *again), campaigns=first.campaigns | records)
    ((before, after),) = both.repeated.values()
    assert (before.campaign, after.campaign) == ("on-1", "again-on-1")  # the same GPU
    text = history(ENGLISH, both)
    assert text.count("one of 4 GPUs, 400 to 403") == 3
    assert set(dict(tables(both))[at.HISTORY]["campaign"]) == {*first.campaigns, *records}


def test_of_gpus_measured_together_a_pair_is_judged_by_the_campaign_that_ran_both_sides() -> None:
    ran = {"alpha": ("more", "on-0"), "beta": ("on-0",)}
    rows = [measured(framework, campaign=name) for framework, names in ran.items() for name in names]
    (answer,) = answers(rows, score=lambda row: 401.5)
    assert {row.campaign for row in answer.ranked} == {"on-0"}


def test_what_a_later_campaign_supersedes_is_no_part_of_its_measurement() -> None:
    data = on_gpus("2026-01-02T00:0{}:00Z", TOGETHER)
    first, *others = data.results
    data = replace(data, results=(replace(first, findings=(warning("superseded"),)), *others))
    assert [len(rows) for rows in data.of_several_gpus] == [3]
    said = " ".join(Document(home(ENGLISH, data)).text.split())
    assert "Alpha median of 3 GPUs" in said
    assert " 401 " in said


def test_a_value_of_gpus_that_were_measured_together_is_their_median_with_their_number() -> None:
    data = on_gpus("2026-01-02T00:0{}:00Z", TOGETHER)
    said = " ".join(Document(home(ENGLISH, data)).text.split())
    assert "Alpha median of 4 GPUs · 0.7 % 401.5" in said, said[said.index("Alpha m") :][:80]
    text = dict(overview_pages(ENGLISH, data))[at.report_page("measured/dlperf-v1", "resnet50-imagenet")]
    assert "median of 4 GPUs" in text
    assert "median of 4 GPUs" in text[text.index("{ #s_utilisation") :]
    assert all(name in text[text.index("{ #s_repeats") :] for name in TOGETHER)


def test_every_list_shows_the_value_that_stands_for_gpus_measured_together() -> None:
    data = on_gpus("2026-01-02T00:0{}:00Z", TOGETHER)
    assert [row.value for row in data.current] == [401.5]
    assert [row.value for row in data.joint_where_alone(data.results[:1])] == [401.5]
    assert data.joint_where_alone(data.results) == data.results
    assert "Of ours 1 are current; the other 3 are superseded" in explorer(ENGLISH, data)
    rows = explorer_document(ENGLISH, data)
    values = {row[rows["columns"].index("value")]: row[rows["columns"].index("newest")] for row in rows["rows"]}
    assert values == {401.5: 1, 403.0: 0, 400.0: 0, 402.0: 0}
    (one,) = data.current
    doubted = replace(data.results[0], findings=(warning("drift", drift=0.03),))
    (marked,) = replace(data, results=(doubted, *data.results[1:])).current
    assert [finding.code for finding in marked.caveats] == ["drift"], "of a GPU that is not the one in the middle"
    assert (one.n, one.spread) == (None, pytest.approx(3 / 401.5)), "of the GPUs, not of the trials of one"
    page = Page(ENGLISH, data, at.HOME)
    assert (page.figure(data.current[0]).value, page.gpus_text(data.current[0])) == ("401.5", "median of 4 GPUs")
    index = reports_index(ENGLISH, data)
    assert ("401.5" in index, "one of 4 GPUs" in index) == (True, False)
    assert page.figure(data.results[0]).below == "one of 4 GPUs"


def test_energy_and_memory_of_gpus_measured_together_are_medians_of_all_or_nothing() -> None:
    data = on_gpus("2026-01-02T00:0{}:00Z", TOGETHER)
    known = [
        replace(
            row, samples_per_joule=joules, metrics=(MetricResult("peak_memory_per_gpu", joules * 10, "GiB", "lower"),)
        )
        for row, joules in zip(data.results, (2.0, 5.0, 3.0, 1.0), strict=True)
    ]
    (one,) = replace(data, results=tuple(known)).current
    assert (per_joule(one), metric_value(one, "peak_memory_per_gpu")) == (2.5, 25.0)
    known[0] = replace(known[0], samples_per_joule=None, metrics=())
    (one,) = replace(data, results=tuple(known)).current
    assert (per_joule(one), metric_value(one, "peak_memory_per_gpu")) == (None, None)


def test_the_page_of_one_of_several_gpus_names_their_median_and_the_others() -> None:
    data = on_gpus("2026-01-02T00:0{}:00Z", TOGETHER)
    row = data.results[1]
    said = " ".join(Document(configurations(ENGLISH, data, at.group_of(row), (row,), {})).text.split())
    assert "One of 4 GPUs measured together, each on its own; their median is 401.5 images/s. The others: 403" in said
    assert said.index("their median is 401.5") < said.index("401 images/s"), "the value that a list leads from is first"
    cited = re.findall(r"@misc\{(.*?), title = \{.*?: ([0-9.]+) images/s\}.*?note = \{(.*?)\}", said)
    assert [value for _, value, _ in cited] == ["401.5", "401"]
    assert "median of 4 GPUs, on-0, on-1, on-2, on-3" in cited[0][2]
    assert cited[1][2].endswith("one of 4 GPUs")
    assert cited[0][0] != cited[1][0]


def on_gpus_in_turns() -> SiteData:
    """The same two frameworks on four GPUs, in turns on each."""
    data = on_gpus("2026-01-02T00:0{}:00Z", TOGETHER)
    rivals = [
        of_trials(
            claimable(measured("beta", value=(row.value or 0.0) / 1.1, campaign=row.campaign), turn=1),
            conditions=CONDITIONS | {"gpu.uuid": TOGETHER[row.campaign][0]},
        )
        for row in data.results
    ]
    return replace(data, results=(*data.results, *rivals))


def test_each_ratio_of_a_claim_about_a_kind_leads_to_the_page_of_its_gpu() -> None:
    text = home(ENGLISH, on_gpus_in_turns())
    ratios = text[text.index("On each: ") :].partition("</p>")[0]
    assert [f"on-{gpu}/" in link for gpu, link in enumerate(ratios.split("</a>")[:4])] == [True] * 4, ratios


def test_the_page_of_a_result_leads_to_the_other_side_of_its_campaign() -> None:
    data = on_gpus_in_turns()
    row = data.results[1]
    text = configurations(ENGLISH, data, at.group_of(row), (row,), {})
    said = text[text.index("Other frameworks in the same campaign") :].partition("</p>")[0]
    assert said.count("</a>") == 1
    assert "Beta 364.5" in said
    assert "on-0" not in said


def report_of(data: SiteData) -> str:
    return dict(overview_pages(ENGLISH, data))[at.report_page("measured/dlperf-v1", "resnet50-imagenet")]


def test_a_report_says_how_all_gpus_of_a_claim_are_measured_and_judged_again() -> None:
    data = on_gpus_in_turns()
    text = report_of(data)
    logs = text[text.index("{ #logs") :]
    assert "Campaigns: on-0, on-1, on-2, on-3" in logs
    a, b = (row.id for row in (data.results[4], data.results[0]))
    assert f"dlperf compare {a} {b}" in text, "which names no campaign: it is judged over all"
    assert "one command for each GPU" in text


def test_a_report_lists_the_trials_of_a_comparison_in_their_order_on_each_gpu() -> None:
    text = report_of(on_gpus_in_turns())
    found = [row for row in rows_of(text[text.index("{ #s_order") :]) if row[0] in TOGETHER]
    assert len(found) == 4 * 2 * 5
    assert [row[:6] for row in found[:3]] == [
        ["on-0", "GPU-0", "1", "2026-01-01T01:00:00", "Alpha", "402.9"],
        ["on-0", "GPU-0", "2", "2026-01-01T01:01:00", "Beta", "366.3"],
        ["on-0", "GPU-0", "3", "2026-01-01T02:00:00", "Alpha", "403"],
    ]


def test_a_report_says_how_a_p_was_made_and_what_would_overturn_a_claim() -> None:
    data = on_gpus_in_turns()
    (answer,) = answers(data.results, data.context)
    assert answer.claim is not None
    assert answer.claim.found is not None
    said = " ".join(Document(report_of(data)).text.split())
    assert f"This p is {answer.claim.found.p / 6:.2g} of the paired t test over 4 GPUs" in said
    assert "times 6: from three GPUs on" in said
    assert "one more V100 on which Alpha is less than" in said
    assert "a program of Beta that gains 10.0" in said


def test_a_chart_shows_what_no_known_fault_raises_before_what_has_more_trials() -> None:
    data = on_gpus("2026-01-02T00:0{}:00Z", TOGETHER)
    (fault,) = sorted(UNFAIR)[:1]
    old = claimable(measured("alpha", value=500.0, campaign="old", hardware="v100"), *[500.0] * 5)
    old = replace(old, findings=(warning(fault),))
    both = replace(data, results=(old, *data.results), campaigns=data.campaigns | {"old": campaign([old])})
    assert "median of 4 GPUs" in your_number(ENGLISH, both)
    assert [row.campaign for row in best_rows(both, both.current)] == ["on-1"]  # of four GPUs, the lower in the middle


def test_your_number_says_how_far_gpus_of_a_kind_are_apart() -> None:
    said = your_number(ENGLISH, on_gpus("2026-01-02T00:0{}:00Z", TOGETHER))
    assert "the fastest GPU was ahead of the slowest by 0.7 % (median; 0.7 % to 0.7 %)" in said
    assert "How sure is such a ratio" not in your_number(ENGLISH, sample())


def test_a_chart_of_two_gpus_that_no_claim_is_about_is_titled_with_both() -> None:
    data = on_gpus("2026-01-02T00:0{}:00Z", dict([*TOGETHER.items()][:2]))
    rivals = tuple(replace(row, framework="beta") for row in data.results)
    both = replace(data, results=(*data.results, *rivals))
    (answer,) = answers(both.results, both.context)
    title = comparison_chart(Page(ENGLISH, both, at.HOME), answer).title
    assert Document(title[-1]).text == "on V100, 2 GPUs each on its own"


def test_the_clock_of_gpus_that_were_measured_together_is_that_of_all() -> None:
    data = on_gpus("2026-01-02T00:0{}:00Z", TOGETHER)
    rows = [of_trials(row, sm_clock_mhz=1900.0 + place) for place, row in enumerate(data.results)]
    both = (rows[0], claimable(measured("beta", campaign="on-0"), turn=1))
    page = Page(ENGLISH, replace(data, results=(*rows, both[1])), at.HOME)
    (told,) = fairness(page, both)
    assert "1,900–1,903 MHz" in str(told.unequal)
