"""A profile stands beside the result that it does not enter, and is found from every result of its configuration."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from html_text import Document
from site_rows import measured
from site_sample import campaign, sample

from dlperf.catalog.axes import profiled_configuration
from dlperf.derived.profiles import Operations, Profile
from dlperf.messages import CHINESE, ENGLISH, Language
from dlperf.messages.finding import warning
from dlperf.plan import TrialKey
from dlperf.report.build import _write_group
from dlperf.report.data import SiteData
from dlperf.report.evidence import EvidenceReader
from dlperf.report.pages.reports.report import report
from dlperf.report.pages.results.configurations import configurations
from dlperf.report.site import locations as at
from dlperf.report.site.writing import Sources
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.store import write_record
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


PROFILE = Profile(
    framework="pytorch",
    device="gpu",
    steps=5,
    step_ms=95.0,
    profiled_step_ms=100.0,
    busy_ms=80.0,
    idle_share=0.2,
    kernels=(Operations("gemm<64>", 30, 300.0, 0.75, "matrix products and convolutions"),),
    classes=(Operations("matrix products and convolutions", 30, 300.0, 0.75), Operations("new", 1, 100.0, 0.25)),
    trace="profile.trace.json.gz",
)


def test_a_profile_stands_beside_the_result_that_it_does_not_enter(tmp_path: Path) -> None:
    row = measured("alpha")
    data = replace(sample(), results=(row,))
    group = at.group_of(row)
    workspace = WorkspacePaths(tmp_path)
    data = replace(data, campaigns={row.campaign: campaign([row])})
    planned = data.plan(row)
    assert planned is not None
    key = TrialKey(profiled_configuration(planned.configuration).id, 1)
    node = workspace.campaign(row.campaign).trial(key).node("n1")
    write_record(node.profile, PROFILE)
    node.trace.write_bytes(b"trace")
    sources = Sources(workspace.site_build)
    _write_group(group, (row,), sources, data, EvidenceReader(workspace))
    text = Document((workspace.site_build / "docs" / at.group_page(group)).read_text()).text
    words = " ".join(text.split())
    for part in ("GPU idle 20.0 %", "Under the profiler 100 ms"):
        assert part in words
    for part in ("gemm<64>", "75.0 %", "60 ms", "new"):
        assert part in text
    assert (
        workspace.site_build / at.file_download(sha256(b"trace").hexdigest(), node.trace.name)
    ).read_bytes() == b"trace"
