"""A profile is found from every result of its configuration."""

from __future__ import annotations

from dataclasses import replace

from html_text import Document
from site_rows import measured
from site_sample import sample

from dlperf.messages import CHINESE, ENGLISH, Language
from dlperf.messages.finding import warning
from dlperf.report.data import SiteData
from dlperf.report.pages.reports.report import report
from dlperf.report.pages.results.configurations import configurations
from dlperf.report.site import locations as at
from dlperf.table.model import ConfigurationResult

SHOWN = replace(measured("alpha"), campaign="five-trials")
PROFILED = replace(SHOWN, campaign="alpha-profile", trials=SHOWN.trials[:1])


def data_with(*profiled: ConfigurationResult) -> SiteData:
    keys = frozenset((row.campaign, row.id) for row in profiled)
    return replace(sample(), results=(SHOWN, PROFILED), profiled=keys, campaigns={})


def page_of(row: ConfigurationResult, data: SiteData) -> str:
    return configurations(ENGLISH, data, at.group_of(row), (row,), {})


def report_of(data: SiteData, language: Language = ENGLISH) -> str:
    ((source, case), results) = next(item for item in data.reports.items() if SHOWN in item[1])
    assert PROFILED not in results
    return report(language, data, source, case, results)


def test_a_result_links_to_the_campaign_that_profiled_its_configuration():
    page = page_of(SHOWN, data_with(PROFILED))
    assert "alpha-profile" in Document(page).text
    assert at.html_address(at.group_page(at.group_of(SHOWN)), at.configuration_page(PROFILED)) in page


def test_a_result_with_a_profile_of_its_own_links_to_no_other():
    assert "alpha-profile" not in page_of(SHOWN, data_with(SHOWN, PROFILED))
    assert "five-trials" not in Document(page_of(PROFILED, data_with(PROFILED))).text.replace("five-trials/", "")


def test_a_profile_of_a_faulty_program_is_none_of_the_corrected_one():
    faulty = replace(PROFILED, findings=(warning("stem_not_trained"),))
    data = replace(data_with(faulty), results=(SHOWN, faulty))
    assert "alpha-profile" not in page_of(SHOWN, data)
    assert "alpha-profile" in page_of(replace(SHOWN, findings=faulty.findings), data)


def test_a_report_links_to_the_profiles_of_its_results():
    text = report_of(data_with(PROFILED))
    assert "(alpha-profile)" in Document(text).text
    assert "Profiles:" in text
    assert "性能剖析：" in report_of(data_with(PROFILED), CHINESE)
    assert "Profiles:" not in report_of(data_with())
