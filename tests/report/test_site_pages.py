"""Every kind of page says what it is for."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from site_sample import make_workspace, measured, published, sample

from dlperf.measure.finding import Finding
from dlperf.plan import Selection
from dlperf.report import figures
from dlperf.report import locations as at
from dlperf.report.answer import answers
from dlperf.report.build import overview_pages
from dlperf.report.data import SiteData
from dlperf.report.evidence import Evidence
from dlperf.report.load import load_site_data
from dlperf.report.machine import Probed
from dlperf.report.pages.configurations import configurations
from dlperf.report.pages.home import home
from dlperf.report.pages.report import report
from dlperf.report.pages.report_conditions import run_command
from dlperf.report.pages.trial_evidence import curves
from dlperf.report.text import CHINESE, ENGLISH
from dlperf.report.words import WORDS
from dlperf.results.model import ConfigurationResult
from dlperf.results.timeline import LogLines, Origin, Timeline
from dlperf.runs.published import PublishedFigure


def pages(data: SiteData) -> dict[str, str]:
    return dict(overview_pages(ENGLISH, data))


def test_every_words_have_both_languages_with_the_same_values() -> None:
    for key, (english, chinese) in WORDS.items():
        assert english, key
        assert chinese, key
        assert set(re.findall(r"\{(\w+)\}", english)) == set(re.findall(r"\{(\w+)\}", chinese)), key


def test_both_languages_have_the_same_pages() -> None:
    data = sample()
    assert [path for path, _ in overview_pages(ENGLISH, data)] == [path for path, _ in overview_pages(CHINESE, data)]


def test_the_home_page_answers_first() -> None:
    text = pages(sample())["index.md"]
    answer = text.index("is fastest on")
    assert answer < text.index("| Case |")
    assert "5.2 %" in text[answer : answer + 400]


def test_a_workspace_without_results_says_what_to_do() -> None:
    assert "dlperf quickstart" in pages(SiteData())["index.md"]


def test_the_order_in_which_campaigns_are_read_does_not_change_a_page() -> None:
    data = sample()
    campaigns = {
        row.campaign: [other for other in data.results if other.campaign == row.campaign] for row in data.results
    }
    reordered = tuple(row for rows in reversed(campaigns.values()) for row in rows)
    assert reordered != data.results
    assert pages(data) == pages(replace(data, results=reordered))


def test_of_several_reports_on_the_same_the_newest_stands_on_the_home_page() -> None:
    rows = tuple(
        published("paddle", 1, value, campaign=f"published/{year}") for year, value in (("2019", 9.5), ("2021", 7.5))
    )
    reports = {
        f"published/{year}": replace(sample().published["published/perf"], date=year) for year in ("2019", "2021")
    }
    text = pages(SiteData(rows, published=reports))["index.md"]
    assert "[7.5]" in text
    assert "[9.5]" not in text


def test_a_published_report_keeps_its_own_names_and_the_catalogue_its_own() -> None:
    figure = PublishedFigure(
        "m", "Alpha 0.1", "V100", 1, 1, "FP32", 256, "throughput", "images/s", 1.0, "1.0", "", "", ""
    )
    report = replace(sample().published["published/perf"], figures=(figure, replace(figure, framework="alpha")))
    data = replace(sample(), published={"published/perf": report})
    assert data.framework_title("alpha-0.1") == "Alpha 0.1"
    assert data.framework_title("alpha") == "Alpha"
    assert data.framework_title("alpha", "published/perf") == "alpha"
    assert data.hardware_title("v100", "published/perf") == "V100"


def test_the_fastest_is_named_at_the_largest_scale_on_which_two_frameworks_have_a_figure() -> None:
    (answer,) = answers([measured("alpha", 1, 400.0), measured("beta", 1, 410.0), measured("alpha", 8, 3000.0)])
    assert (answer.best.framework, answer.best.gpus) == ("beta", 1)
    assert answer.lead == pytest.approx(0.025)


@pytest.mark.parametrize(
    ("best", "second", "sure"),
    [
        (measured("alpha", value=410.0, spread=0.004), measured("beta", value=400.0, spread=0.01), "sure_yes"),
        (measured("alpha", value=402.0, spread=0.004), measured("beta", value=400.0, spread=0.01), "sure_tie"),
        (measured("alpha", value=410.0, trials=1), measured("beta", value=400.0), "sure_single"),
        (published("paddle", 1, 393.5), published("pytorch", 1, 370.2), "sure_unknown"),
    ],
)
def test_how_sure_an_answer_is_follows_from_spread_and_trials(
    best: ConfigurationResult, second: ConfigurationResult, sure: str
) -> None:
    (answer,) = answers([second, best])
    assert answer.certainty == sure


def test_figures_of_different_sources_are_never_compared() -> None:
    assert all(answer.second is None for answer in answers([measured("alpha"), published("paddle", 1, 393.5)]))


@pytest.mark.parametrize(
    ("value", "text"), [(393.561, "393.561"), (1888.2, "1888.2"), (22690.0, "22690"), (1e-7, "0.0000001")]
)
def test_a_published_figure_keeps_every_digit(value: float, text: str) -> None:
    assert figures.exact(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(400.123456, "400.12"), (39972.131, "39972"), (1234567.8, "1234568"), (0.0123456, "0.012346")]
)
def test_a_measured_figure_has_five_significant_digits(value: float, text: str) -> None:
    assert figures.sensible(value) == text


@pytest.mark.parametrize(
    ("status", "english", "chinese"),
    [
        ("not run", "not run", "未测试"),
        ("out of memory", "out of memory", "显存不足"),
        ("failed: NCCL timeout", "failed: NCCL timeout", "失败：NCCL timeout"),
        ("not supported: no <AMP>", "not supported: no &#60;AMP&#62;", "不支持：no &#60;AMP&#62;"),
        ("a reason of its own", "a reason of its own", "a reason of its own"),
    ],
)
def test_a_missing_figure_says_why(status: str, english: str, chinese: str) -> None:
    assert figures.status_text(ENGLISH, status) == english
    assert figures.status_text(CHINESE, status) == chinese


def test_a_report_has_the_sections_of_the_public_reports_in_order() -> None:
    text = pages(sample())[at.report_page("first", "resnet50-imagenet")]
    assert re.findall(r"^## \d+\. (.*) \{", text, re.MULTILINE) == [
        "What was tested",
        "Environment",
        "Frameworks and images",
        "What differs between the frameworks",
        "Set-up",
        "Steps",
        "Results",
        "Logs and sources",
        "What a careful reader must know",
    ]


def test_frameworks_are_compared_by_gpu_count_for_each_hardware_and_precision() -> None:
    text = pages(sample())[at.report_page("published/perf", "resnet50-imagenet")]
    comparison = text[text.index("### Comparison") :]
    assert re.search(r"GPU=1, BS=256 \| \*\*\[393\.561\]\(.*?\)\*\*\{ \.best \} \| \[370\.194\]\(", comparison)
    assert re.search(r"GPU=32, BS=256 \| \*not published\* \| \[\*not published\*\]\(", comparison)


def test_more_than_two_batch_sizes_make_a_table_of_batch_sizes_by_scales() -> None:
    rows = [published("fleet", gpus, 100.0 * gpus, batch_size=batch) for batch in (32, 64, 128) for gpus in (1, 8)]
    text = report(ENGLISH, SiteData(tuple(rows)), "published/perf", "resnet50-imagenet", rows)
    assert re.search(r"\|  \| 1 × 1 \| 1 × 8 \|\n.*\n\| BS=32 \| \[100\]\(.*?\) \| \[800\]\(", text)


def test_single_runs_stand_with_their_average_and_median() -> None:
    text = pages(sample())[at.report_page("published/plsc", "arcface")]
    assert "| 397.44 | 397.64 | 398.05 | 398.98 | 397.78 | 397.98 | 397.78 |" in text


def test_a_report_gives_the_command_that_runs_it_again() -> None:
    selection = Selection(hardware=("my box",), cases=("a", "b"), batch_sizes=(256,), repeats=3)
    assert run_command(selection) == "dlperf run --hardware 'my box' --case a,b --batch-size 256 --repeats 3"


def test_tf32_figures_that_were_published_as_fp32_say_so() -> None:
    text = pages(sample())[at.report_page("published/perf", "resnet50-imagenet")]
    assert "the source calls these figures FP32" in text


def test_a_configuration_shows_what_its_figure_rests_on() -> None:
    row = measured("alpha")
    data = replace(sample(), results=(row,))
    group = at.group_of(row)
    lines = LogLines(("step 21 <401>",), 98, ("step 120 403",), first_line=21)
    evidence = {
        (at.configuration_anchor(row), 1): Evidence(
            "n1", "exec a && b", {"os": "Linux"}, timeline=Timeline(log_lines=lines)
        )
    }
    text = configurations(ENGLISH, data, group, (row,), evidence)
    for part in ("window(20,120)", "exec a &amp;&amp; b", "| os | Linux |", "     21  step 21 &lt;401&gt;", "98 lines"):
        assert part in text


def test_the_lines_that_gave_a_figure_are_marked_among_those_around_them() -> None:
    row = measured("alpha")
    lines = LogLines(("step <21>",), 0, ("step 22",), first_line=21, before=("start",), after=("end",))
    text = configurations(
        ENGLISH, sample(), at.group_of(row), (row,), {_key(row): Evidence("n1", timeline=Timeline(log_lines=lines))}
    )
    assert re.findall(r"<mark>\s+(\d+) {2}(.*?)</mark>", text) == [("21", "step &lt;21&gt;"), ("22", "step 22")]
    assert "     20  start\n" in text
    assert "\n     23  end" in text


def test_a_configuration_shows_its_trials_over_time_with_the_measured_window() -> None:
    row = measured("alpha", trials=1)
    points = tuple((float(step), 400.0) for step in range(1, 151))
    timeline = Timeline(Origin(), points, ((60.0, 400.0),), {"power_watts": ((0.0, 100.0), (1.0, 690.0))})
    text = configurations(ENGLISH, sample(), at.group_of(row), (row,), {_key(row): Evidence("n1", timeline=timeline)})
    for part in ('class="band warm-up"', 'class="band measured"', 'class="outlier"', "Power per GPU, W"):
        assert part in text


def test_a_configuration_gives_the_command_that_measures_it_again() -> None:
    row = measured("alpha", 8)
    text = configurations(ENGLISH, sample(), at.group_of(row), (row,), {})
    assert "dlperf run --hardware box --framework alpha --case resnet50-imagenet --precision fp32" in text
    assert "--batch-size 256 --gpus 1n8g --repeats 5" in text


def _key(row: ConfigurationResult) -> tuple[str, int]:
    return at.configuration_anchor(row), 1


def test_what_differs_between_frameworks_stands_in_a_table_of_its_own() -> None:
    text = pages(sample())[at.report_page("first", "resnet50-imagenet")]
    section = text[text.index("What differs") : text.index("Set-up")]
    assert "| DALI | true | false |" in section
    assert "The same in every column: Version, " in section


def test_a_link_on_a_page_is_relative_to_it() -> None:
    row = measured("alpha")
    target = at.configuration_page(row)
    assert at.relative("index.md", target) == target
    assert at.relative("results/reports/first/x.md", target) == "../../configurations/first/" + target.split("/")[-1]
    assert at.relative_file(CHINESE, "index.md", "data/results.json") == "../data/results.json"


@pytest.mark.parametrize(
    "name", ["../../etc", "", "INDEX", "index", "a/b", "中文", ".hidden", "a b", "x" * 200, "A", "a"]
)
def test_an_address_is_safe_and_unique_whatever_the_name(name: str) -> None:
    slug = at.slug(name)
    assert re.fullmatch(r"[a-z0-9][a-z0-9.-]{0,62}", slug)
    assert slug != "index"
    assert slug != at.slug(name + " ")


def test_the_home_page_is_written_in_chinese_too() -> None:
    assert "上最快的是" in home(CHINESE, sample())


def test_a_campaign_of_imported_logs_does_not_claim_to_have_run() -> None:
    data = sample()
    record = data.campaigns["first"]
    launched = tuple(replace(item, launch=replace(item.launch, executor="imported")) for item in record.configurations)
    text = pages(replace(data, campaigns={"first": replace(record, configurations=launched)}))
    report_text = text[at.report_page("first", "resnet50-imagenet")]
    assert "Nothing was run here" in report_text
    assert "dlperf run" not in report_text
    assert "## Computed from imported logs" in text["index.md"]


def test_findings_of_trials_stand_with_their_number() -> None:
    row = measured("alpha", trials=2)
    finding = Finding("drift", "the speed falls")
    row = replace(row, trials=(row.trials[0], replace(row.trials[1], findings=(finding,))), findings=(finding,))
    text = configurations(ENGLISH, replace(sample(), results=(row,)), at.group_of(row), (row,), {})
    assert text.count("the speed falls") == 1
    assert "**warning** Trial 2: the speed falls" in text


def test_two_figures_for_one_configuration_both_stand_and_a_repeated_one_once() -> None:
    rows = (published("mxnet", 32, 11233.92), published("mxnet", 32, 11331.93), published("mxnet", 32, 11331.93))
    text = pages(SiteData(rows))[at.report_page("published/perf", "resnet50-imagenet")]
    assert re.search(r"\| 4 × 8 \| \[11233\.92\]\([^)]*\)<br>\[11331\.93\]\([^)]*\) \|", text)


def test_each_of_two_figures_of_one_configuration_has_an_address_of_its_own() -> None:
    rows = (published("mxnet", 32, 11233.92), published("mxnet", 32, 11331.93, variant=2))
    data = SiteData(rows)
    first, second = map(at.configuration_page, data.ordered)
    assert second == f"{first}-2"
    text = configurations(ENGLISH, data, at.group_of(rows[0]), rows, {})
    assert f"{{ #{at.configuration_anchor(rows[1])} }}" in text


def test_a_report_on_synthetic_data_does_not_claim_the_data_set() -> None:
    data = sample()
    record = data.campaigns["first"]
    plans = tuple(replace(plan, options={**plan.options, "synthetic_data": True}) for plan in record.configurations)
    text = pages(replace(data, campaigns={"first": replace(record, configurations=plans)}))
    assert "synthetic data of the shape of" in text[at.report_page("first", "resnet50-imagenet")]
    assert "synthetic data" not in pages(data)[at.report_page("first", "resnet50-imagenet")]


def test_a_report_shows_what_was_probed_on_its_machines() -> None:
    environment = {"os": "Debian 12", "gpus.0.name": "V100", "gpus.1.name": "V100", "driver": "550.1"}
    probed = {("first", "box", "alpha"): Probed(environment, {"framework_version": "2.11"}, "GPU0 X NV2")}
    text = pages(replace(sample(), probed=probed))[at.report_page("first", "resnet50-imagenet")]
    for part in ("| System | Debian 12 |", "| GPUs of a node | 2 × V100 |", "| Driver | 550.1 |", "GPU0 X NV2", "2.11"):
        assert part in text


def test_what_a_published_report_says_of_each_framework_stands_side_by_side() -> None:
    text = pages(sample())[at.report_page("published/perf", "resnet50-imagenet")]
    section = text[text.index("What differs between the frameworks") : text.index("Results")]
    assert "the source does not say" in section


def test_the_curves_of_a_page_are_one_file_with_every_point() -> None:
    row = measured("alpha", trials=1)
    timeline = Timeline(Origin(), ((1.0, 400.0), (2.0, 401.5)), (), {"power_watts": ((0.0, 100.0), (1.0, 690.0))})
    evidence = {_key(row): Evidence("n1", timeline=timeline)}
    told = json.loads(curves(evidence).removeprefix("window.dlperfCurves = ").rstrip(";\n"))
    anchor = at.configuration_anchor(row)
    assert told == {
        f"{anchor}/speed": [[1, [1.0, 2.0], [400.0, 401.5]]],
        f"{anchor}/power_watts": [[1, [0.0, 1.0], [100.0, 690.0]]],
    }
    page = configurations(CHINESE, sample(), at.group_of(row), (row,), evidence)
    assert f'data-curve="{anchor}/speed"' in page
    assert 'data-curves="../../../../data/curves/first/box_alpha_resnet50-imagenet.js"' in page


def test_a_campaign_that_cannot_be_read_is_left_out_and_said(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, sample())
    broken = workspace.campaign("broken").plan
    broken.parent.mkdir()
    broken.write_text("- 1\n")
    assert load_site_data(workspace).problems == (f"left out: {broken}: not a campaign (a list and no mapping)",)
