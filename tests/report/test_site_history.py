"""What several campaigns measured, and what became of it."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from html_text import Document
from site_rows import measured, published
from site_sample import campaign, sample, twice

from claimable import claimable
from dlperf.catalog.files.problem import CatalogError
from dlperf.messages import ENGLISH
from dlperf.messages.finding import warning
from dlperf.report.build import overview_pages
from dlperf.report.markdown import BETWEEN, NO_BREAK
from dlperf.report.pages.history import history
from dlperf.report.pages.home import home
from dlperf.report.pages.methodology import methodology
from dlperf.report.pages.results.configurations import configurations
from dlperf.report.site import locations as at
from dlperf.report.site.lists.reading import read_list
from dlperf.report.site.lists.withdrawn import Withdrawn
from dlperf.table.model import ConfigurationResult


def test_a_slower_figure_is_marked_as_a_regression() -> None:
    text = unescape(history(ENGLISH, twice(400.0, 380.0)))
    assert text.index(">first</a>") < text.index(">again</a>")
    assert '<strong class="regression">regression</strong></td> <td data-place="aside">-5.0 %</td>' in text


def test_an_imported_log_is_no_measurement_again_and_stands_for_none() -> None:
    data = twice(380.0, 400.0)
    record = data.campaigns["again"]
    imported = tuple(replace(item, launch=replace(item.launch, executor="imported")) for item in record.configurations)
    data = replace(data, campaigns=data.campaigns | {"again": replace(record, configurations=imported)})
    assert data.repeated == {}
    assert [row.campaign for row in data.current] == ["first", "again"]


def test_a_changed_program_is_said_where_a_configuration_was_measured_again() -> None:
    data = twice(400.0, 380.0)
    first, again = data.results
    edited = tuple(replace(trial, conditions=trial.conditions | {"programs.new.py": "2"}) for trial in again.trials)
    text = history(ENGLISH, replace(data, results=(first, replace(again, trials=edited))))
    assert text.count(">Training program</td>") == 1
    assert "Training program" not in history(ENGLISH, data)


def test_the_history_begins_with_what_became_of_each_configuration() -> None:
    rows = (*twice(400.0, 380.0).results, *(replace(row, gpus=8) for row in twice(400.0, 440.0).results))
    text = history(ENGLISH, replace(twice(400.0, 380.0), results=rows))
    overview = text[: text.index("## ")]
    places = [overview.index(f"#{at.history_anchor(row)}") for row in (rows[0], rows[2])]
    assert places == sorted(places), "the largest loss comes first"
    assert overview.count('class="regression"') == 1
    assert all(f"{{ #{at.history_anchor(row)} }}" in text for row in rows)


def test_the_history_says_first_how_many_configurations_became_slower() -> None:
    rows = (*twice(400.0, 380.0).results, *(replace(row, gpus=8) for row in twice(400.0, 440.0).results))
    text = history(ENGLISH, replace(twice(400.0, 380.0), results=rows))
    cards = dict(re.findall("<dt>(.*?)</dt> <dd>(.*?)</dd>", text[: text.index("<table>")]))
    assert cards["Configurations measured again"] == "2"
    assert (cards["Worse than before"], cards["Better than before"], cards["Possible regressions"]) == ("1", "1", "0")


def test_what_all_configurations_of_the_history_share_is_said_once() -> None:
    text = history(ENGLISH, twice(400.0, 380.0))
    assert "All rows: Framework Alpha, Model" in text
    assert f">FP32{BETWEEN}batch 256{BETWEEN}1 GPU</a>" in text


def test_a_chart_of_the_history_shows_dates_the_spread_of_the_trials_and_rings_a_regression() -> None:
    text = history(ENGLISH, twice(400.0, 380.0))
    chart = text[text.index("<svg") : text.index("</svg>")]
    assert [day for day in ("2026-01-02", "2027-01-02") if f">{day}</text>" in chart] == ["2026-01-02", "2027-01-02"]
    assert 'class="whisker"' in chart
    assert chart.count('class="outlier"') == 1
    assert "<title>Alpha: 2027-01-02, 380</title>" in chart
    assert ">0</text>" not in chart


def test_changes_are_told_by_the_versions_of_a_framework_where_these_differ() -> None:
    data = twice(400.0, 380.0)
    rows = tuple(
        replace(
            row,
            trials=tuple(replace(one, conditions=one.conditions | {"framework_version": build}) for one in row.trials),
        )
        for row, build in zip(data.results, ("2.10.0", "2.11.0"), strict=True)
    )
    text = history(ENGLISH, replace(data, results=rows))
    chart = text[text.index("<svg") : text.index("</svg>")]
    assert [build for build in ("2.10.0", "2.11.0") if f">{build}</text>" in chart] == ["2.10.0", "2.11.0"]
    assert ">Version and commit</text>" in chart
    cards = [
        dict(re.findall("<dt>(.*?)</dt> <dd>(.*?)</dd>", history(ENGLISH, one)))
        for one in (replace(data, results=rows), data)
    ]
    assert [found["Of several versions"] for found in cards] == ["1", "0"]
    unknown = "whether they hold over releases is not known"
    assert [unknown in history(ENGLISH, one) for one in (replace(data, results=rows), data)] == [False, True]
    assert text.count('<td class="words">2.11.0</td>') == 1


def test_a_configuration_in_several_releases_of_a_third_party_framework_is_a_line_in_their_order() -> None:
    rows = [published(f"Stack ({release})", 8, value) for release, value in (("1.10", 130.0), ("1.9", 100.0))]
    rows.append(published("Stack (1.9)", 8, 900.0, precision="amp"))  # in no other release
    page = " ".join(Document(history(ENGLISH, replace(sample(), results=tuple(rows)))).text.split())
    told = page.partition("Stack · ResNet50V1.5 (images/s)")[2]
    assert "1.91.10throughput" in told  # the names below the chart
    assert "12.5 1.9 16.25 1.10 +30.0 %" in told
    assert "AMP" not in told


def test_a_configuration_leads_to_its_history() -> None:
    data = twice(400.0, 380.0)
    group, rows = next(iter(data.groups.items()))
    assert f"history.html#{at.history_anchor(rows[0])}" in configurations(ENGLISH, data, group, rows, {})
    alone = replace(data, results=rows)
    assert "history.html" not in configurations(ENGLISH, alone, group, rows, {})


def test_a_difference_that_the_test_does_not_show_is_no_regression() -> None:
    text = unescape(history(ENGLISH, twice(400.0, 399.96)))
    assert ".regression" not in text
    assert "cannot tell" in text or "same" in text
    assert ">0.0 %</td>" in text


NOISY = (400.0, 404.0, 398.0, 402.0, 396.0)


@pytest.mark.parametrize(("started", "cell"), [("2026", ">regression<"), ("2027", ">possible regression<")])
def test_one_of_many_configurations_is_worse_only_where_chance_makes_none_of_them_so(started: str, cell: str) -> None:
    def again(gpus: int, share: float) -> list[ConfigurationResult]:
        rows = [
            claimable(measured("alpha", gpus), *NOISY),
            claimable(measured("alpha", gpus, campaign="again"), *(share * value for value in NOISY), turn=1),
        ]
        later = tuple(replace(one, started=f"{started}{(one.started or '')[4:]}") for one in rows[1].trials)
        return [rows[0], replace(rows[1], trials=later)]

    slower, equal = (
        again(1, 0.97 if started == "2026" else 0.88),
        [row for gpus in range(2, 22) for row in again(gpus, 1.0)],
    )
    alone, among = (
        unescape(history(ENGLISH, replace(twice(400.0, 400.0), results=tuple(rows))))
        for rows in (slower, [*slower, *equal])
    )
    assert (cell in alone, cell in among) == (True, False)


def test_a_loss_under_unequal_conditions_is_a_possible_regression() -> None:
    data = twice(400.0, 380.0)
    before, after = data.results
    later = replace(after, trials=tuple(replace(one, started="2027-01-01T00:00:00Z") for one in after.trials))
    text = unescape(history(ENGLISH, replace(data, results=(before, later))))
    assert '<strong class="warning">possible regression</strong><br> cannot tell: trials not interleaved</td>' in text
    assert "<dt>Possible regressions</dt> <dd>1</dd>" in text
    few = replace(after, trials=after.trials[:3])
    text = unescape(history(ENGLISH, replace(data, results=(before, few))))
    assert "cannot tell: a new campaign of about 5 trials each would decide</td>" in text


def test_the_history_begins_with_the_claims_that_the_site_withdrew() -> None:
    data = twice(400.0, 400.0)
    rows = (*data.results, measured("beta", value=588.4, campaign="again"))
    claim = Withdrawn(campaign="again", ahead=rows[2].id, behind=rows[1].id, lead="47.1 %", fault="layers_scanned")
    missing = claim.model_copy(update={"campaign": "gone"})
    withdrawn = replace(data, results=rows, withdrawn=(claim, missing))
    text = unescape(history(ENGLISH, withdrawn))
    told = " ".join(Document(text[: text.index("## Measured again")]).text.split())
    assert "2026-11-27 Beta 47.1 % ahead of Alpha" in told.replace(NO_BREAK, " ")
    assert told.count("ahead of") == 1, "a claim whose results are elsewhere is left out"
    assert "588.4" in told
    assert "400 n=5" in told
    undecided = text[text.index("<details class=") :]
    assert undecided.index("Same, or cannot tell") < undecided.index("<table>"), "what nothing is told of is folded"
    of_site = [methodology(ENGLISH, one) for one in (withdrawn, replace(withdrawn, withdrawn=(missing,)))]
    assert ["[Changes](history.md#withdrawn)" in one for one in of_site] == [True, False]


def test_a_list_of_withdrawn_claims_with_a_mistake_is_named_and_left_out(tmp_path: Path) -> None:
    path = tmp_path / "withdrawn.yaml"
    path.write_text("- {campaign: a, ahead: b, behind: c, lead: 47.1 %, fault: nothing}\n")
    with pytest.raises(CatalogError, match=r"withdrawn\.yaml:1: fault: .*layers_scanned"):
        read_list(path, Withdrawn)


def test_a_change_that_rounds_to_zero_has_no_sign() -> None:
    assert ">0.0 %</td>" in history(ENGLISH, twice(400.0, 399.99)), "zero has no sign"


def test_published_figures_have_no_history() -> None:
    assert "No configuration has been measured by more than one campaign" in history(ENGLISH, sample())


def test_what_two_campaigns_measured_by_one_protocol_is_compared() -> None:
    rows = (measured("alpha", value=400.0), measured("beta", value=300.0, campaign="again"))
    data = replace(sample(), results=rows, campaigns={row.campaign: campaign([row]) for row in rows})
    said = " ".join(Document(home(ENGLISH, data)).text.split())
    assert re.search("Alpha n=5 .{,9} 400 Beta n=5 .{,9} 300 Cannot tell: ", said)
    text = dict(overview_pages(ENGLISH, data))[at.report_page("measured/dlperf-v1", "resnet50-imagenet")]
    assert "Campaigns: again, first" in text


def test_figures_of_two_protocols_are_not_compared() -> None:
    rows = (measured("alpha"), replace(measured("beta"), protocol="mlperf"))
    assert (
        Document(home(ENGLISH, replace(sample(), results=rows))).text.count(
            "No other framework ran this with the same settings."
        )
        == 1
    )


def test_a_report_shows_the_newest_of_two_figures_for_one_configuration() -> None:
    pages = dict(overview_pages(ENGLISH, twice(400.0, 380.5)))
    text = pages[at.report_page("measured/dlperf-v1", "resnet50-imagenet")]
    assert ">380.5</a>" in text
    assert ">400</a>" not in text


def test_a_later_campaign_of_fewer_trials_does_not_displace_one_of_five() -> None:
    data = twice(400.0, 380.5)
    first, again = data.results
    data = replace(data, results=(first, replace(again, trials=again.trials[:1])))
    assert [row.campaign for row in data.current] == ["first"]


def test_a_configuration_measured_under_two_protocols_is_drawn_once() -> None:
    data = twice(400.0, 380.5)
    first, again = data.results
    data = replace(data, results=(replace(first, protocol="mlperf"), again))
    assert len(data.reports) == 2
    assert [row.campaign for row in data.current] == ["again"]


def test_the_home_page_does_not_count_diagnoses_of_machines_as_training() -> None:
    data = twice(400.0, 380.5)
    health = measured("diagnosis", campaign="health", case="node-health")
    both = [home(ENGLISH, each) for each in (data, replace(data, results=(*data.results, health)))]
    before, after = (text[: text.index("## What is new")] for text in both)
    assert after == before


def test_campaigns_of_one_day_on_one_case_are_one_line_of_news() -> None:
    data = twice(400.0, 380.5)
    of_one_day = {name: replace(record, created="2027-01-02T03:04:05Z") for name, record in data.campaigns.items()}
    texts = [home(ENGLISH, each) for each in (data, replace(data, campaigns=of_one_day))]
    assert [text.count("\n- 20") for text in texts] == [2, 1]
    assert "- 2027-01-02 – 2 campaigns: " in texts[1]


def test_the_home_page_shows_the_newest_of_two_campaigns_with_the_same_frameworks() -> None:
    text = home(ENGLISH, twice(400.0, 380.5))
    assert ">380.5</a>" in text
    assert ">400</a>" not in text


def test_results_of_a_faulty_program_are_listed_and_no_correction_is_a_regression() -> None:
    data = twice(400.0, 380.0)
    before, after = data.results
    faulty = replace(before, findings=(warning("stem_not_trained"),))
    text = history(ENGLISH, replace(data, results=(faulty, after)))
    assert "No configuration has been measured by more than one campaign" in text
    faults = text[text.index("{ #faults }") :]
    assert "kept its initial weights" in faults
    assert at.html_address(at.HISTORY, at.configuration_page(faulty)) in faults
    assert at.html_address(at.HISTORY, at.configuration_page(after)) not in faults
    assert "{ #faults }" not in history(ENGLISH, data)


def test_reports_leave_out_results_of_a_faulty_program() -> None:
    data = twice(400.0, 380.0)
    faulty = replace(data.results[1], findings=(warning("stem_not_trained"),))
    data = replace(data, results=(data.results[0], faulty))
    assert list(data.reports.values()) == [(data.results[0],)]
    assert data.current == (data.results[0],)


def test_withdrawn_claims_are_listed_and_their_results_stay_in_reports() -> None:
    data = twice(400.0, 380.0)
    unfair = replace(data.results[1], findings=(warning("layers_scanned"),))
    data = replace(data, results=(data.results[0], unfair))
    text = history(ENGLISH, data)
    assert at.html_address(at.HISTORY, at.configuration_page(unfair)) in text[text.index("{ #withdrawn }") :]
    assert any(unfair in rows for rows in data.reports.values())
    assert "{ #faults }" not in text
