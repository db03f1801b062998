"""Every kind of page says what it is for, in both languages."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from html_text import Document, rows_of
from site_rows import measured, published
from site_sample import make_workspace, pages, sample

from claimable import claimable
from dlperf.catalog.files.load import load_catalog
from dlperf.catalog.hardware import SlurmOptions
from dlperf.derived.health import CASE as DIAGNOSIS
from dlperf.messages import CHINESE, ENGLISH
from dlperf.messages.finding import warning
from dlperf.report.build import overview_pages
from dlperf.report.data import SiteData
from dlperf.report.load import load_site_data, named_by_processor
from dlperf.report.machine import Probed
from dlperf.report.pages.hardware import hardware, hardware_index, search_ranks
from dlperf.report.pages.home import home
from dlperf.report.pages.methodology import methodology
from dlperf.report.pages.reports.report import report
from dlperf.report.pages.results.configurations import configurations_index
from dlperf.report.site import locations as at
from dlperf.runs.published import PublishedFigure
from dlperf.table.model import ConfigurationResult


def test_both_languages_have_the_same_pages() -> None:
    data = sample()
    assert [path for path, _ in overview_pages(ENGLISH, data)] == [path for path, _ in overview_pages(CHINESE, data)]


def test_the_home_page_answers_first() -> None:
    text = pages(sample())["index.md"]
    answer = text.index("Cannot tell: ")
    assert answer < text.index('<th class="words">Model</th>')
    said = " ".join(Document(text).text.split())
    assert re.search(
        "Alpha n=5.* 400.1 Beta n=5.* 380.5 † Cannot tell: numerics not recorded; GPUs not recorded.", said
    )


def test_what_differs_between_the_fastest_is_one_click_away() -> None:
    written = pages(sample())
    target = re.search('<a href="([^"#]+).html#fairness">Compare settings</a>', written["index.md"])
    assert target is not None
    assert "{ #fairness " in written[f"{target[1]}.md"]


def test_the_home_page_says_in_three_lines_how_it_was_measured() -> None:
    how = pages(sample())["index.md"].partition("{ #how }")[2].partition("\n## ")[0]
    assert len(re.findall("(?m)^- ", how)) == 3


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
    text = pages(SiteData(rows, published=reports))["index.md"].partition("{ #verdicts")[2]
    assert ">7.5</a>" in text
    assert ">9.5</a>" not in text


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
    cut = replace(figure, model="Deep V4, 16 layers", framework="several frameworks")
    spoken = SiteData(published={"published/perf": replace(report, figures=(cut,))}).localized(CHINESE)
    assert spoken.case_title("deep-v4-16-layers") == "Deep V4（16 层）"
    assert spoken.framework_title("several-frameworks", "published/perf") == "多个框架"


def test_a_link_on_a_page_is_relative_to_it() -> None:
    row = measured("alpha")
    target = at.configuration_page(row)
    assert at.relative("index.md", target) == target
    assert at.relative("results/reports/first/x.md", target) == "../../configurations/first/" + target.split("/")[-1]
    assert at.up_from(CHINESE, "index.md") == "../"


@pytest.mark.parametrize(
    "name", ["../../etc", "", "INDEX", "index", "a/b", "中文", ".hidden", "a b", "x" * 200, "A", "a"]
)
def test_an_address_is_safe_and_unique_whatever_the_name(name: str) -> None:
    slug = at.slug(name)
    assert re.fullmatch(r"[a-z0-9][a-z0-9.-]{0,62}", slug)
    assert slug != "index"
    assert slug != at.slug(name + " ")


def test_the_home_page_is_written_in_chinese_too() -> None:
    assert "无法判断：未记录数值精度；未记录所用 GPU。" in Document(home(CHINESE, sample())).text


def test_a_campaign_that_cannot_be_read_is_left_out_and_said(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, sample())
    broken = workspace.campaign("broken").plan
    broken.parent.mkdir()
    broken.write_text("[1]\n")
    assert load_site_data(workspace).problems == (
        f"left out: {broken}: not a campaign (a list and no mapping): "
        "put it back from a copy, or move the campaign's folder away",
    )


def test_what_others_published_is_not_told_among_what_was_measured_here() -> None:
    text = home(ENGLISH, sample()).partition("{ #verdicts")[2]
    here, others = text.index("**Our measurements**"), text.index("**Third-party results**")
    assert here < text.index('<span class="name">Alpha') < others
    assert others < text.index('<span class="name">paddle')


def test_the_page_of_a_machine_begins_with_the_frameworks_there() -> None:
    text = pages(sample())[at.hardware_page("v100")]
    assert text.index("Cannot tell: third-party results.") < text.index("## ")


def test_a_machine_that_only_reports_tell_of_has_the_accelerator_that_it_is_called_after() -> None:
    accelerator = sample().accelerators["v100-32g"].model_copy(update={"match": ("^v100$",)})
    data = replace(sample(), accelerators={"v100-32g": accelerator})
    assert "## Accelerator: Tesla V100-SXM2-32GB" in pages(data)[at.hardware_page("v100")]
    assert "## Accelerator" not in pages(data)[at.hardware_page("a100")]


def test_a_search_for_a_gpu_finds_one_of_it_before_the_parts_of_a_host() -> None:
    entry = load_catalog().hardware["h200"]
    (node, *_) = entry.nodes
    one = entry.model_copy(update={"nodes": (node,), "gpus_per_node": 1})
    parts = one.model_copy(update={"nodes": (node, node)})
    data = replace(sample(), hardware={"one": one, "parts": parts})
    ranks = search_ranks(replace(data, results=tuple(measured("alpha", hardware=name) for name in data.hardware)))
    assert ranks["results/hardware/one.html"] > 1 > ranks["results/hardware/parts.html"]


def test_gpus_of_a_host_that_ran_alone_are_no_cluster() -> None:
    one = load_catalog().hardware["h200"]
    entry = one.model_copy(update={"gpus_per_node": 1, "nodes": one.nodes[:1] * 8})
    alone = measured("alpha", hardware=entry.id)
    data = replace(sample(), hardware={entry.id: entry}, results=(alone,))
    assert "1 × 1 (up to 8 separate GPUs, each alone)" in hardware_index(ENGLISH, data)
    assert "1 (one of up to 8 separate GPUs)" in hardware(ENGLISH, data, entry.id, (alone,), ())
    together = measured("alpha", 4, 1600.0, hardware=entry.id)
    assert "separate" not in hardware_index(ENGLISH, replace(data, results=(alone, together)))


def test_a_cluster_has_the_nodes_that_a_job_may_have() -> None:
    cluster = load_catalog().hardware["h200"].model_copy(update={"slurm": SlurmOptions(partition="gpu", max_nodes=3)})
    data = replace(sample(), hardware={"v100": cluster})
    assert f"3 × {cluster.gpus_per_node}" in hardware_index(ENGLISH, data).replace("\u00a0", " ")
    assert "<td>Nodes</td> <td>3</td>" in hardware(ENGLISH, data, "v100", [], [])


def test_the_page_of_a_framework_says_where_it_stands_beside_the_others() -> None:
    text = pages(sample())[at.framework_page("pytorch")]
    standing = text[text.index("{ #standing") : text.index("{ #figures")]
    assert 'title="2791.98">2,792</a></td>' in standing
    assert '<a href="paddle.html">paddle</a></td> <td class="words">cannot tell: third-party results</td>' in standing
    assert "{ #standing" not in pages(replace(sample(), results=sample().results[:2]))[at.framework_page("alpha")]


def test_the_list_of_frameworks_counts_what_was_measured_here_and_what_others_published() -> None:
    text = pages(sample())[at.FRAMEWORKS]
    header, *rows = (re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall("<tr>.*?</tr>", text))
    assert header == ["Framework", "Our measurements", "Third-party results", "Without a value"]
    assert ['<a href="alpha.html">Alpha</a>', "2", "", ""] in rows
    assert ['<a href="pytorch.html">pytorch</a>', "", "2", "1"] in rows


def test_the_protocols_stand_side_by_side_before_each_is_described() -> None:
    text = pages(sample())[at.METHODOLOGY]
    overview = text[text.index("{ #protocols }") : text.index("\n<ul>", text.index("{ #protocols }"))]
    assert '<a href="#protocol-dlperf-v1"><code>dlperf-v1</code></a>' in overview
    assert '<td data-label="Steps dropped">20</td> <td data-label="Steps measured">100</td>' in overview
    assert '<li id="protocol-dlperf-v1"><code>dlperf-v1</code> ' in text
    assert overview.endswith('">3</td> </tr>\n</tbody></table>\n</div>\n'), "the figures that rest on it"


def test_a_long_table_has_its_figures_where_a_telephone_shows_them() -> None:
    text = pages(sample())[at.hardware_page("v100")]
    (header,) = re.findall("<tr><th.*?</tr>", text[text.index("{ #figures") :])
    assert re.findall(">([^<]+)</th>", header)[:3] == ["Model", "Framework", "Throughput"]


def test_in_the_block_of_a_row_numbers_stand_behind_their_names_and_the_figure_at_its_place() -> None:
    rows = (measured("alpha", 1), measured("beta", 8))
    text = hardware(ENGLISH, SiteData(rows), "box", rows, ())
    assert '<td data-label="Nodes × GPUs">1\u00a0×\u00a08</td>' in text
    assert text.count('<td data-place="value">') == 2
    assert "data-place" not in hardware_index(ENGLISH, SiteData(rows))


def test_what_is_the_same_in_every_row_is_said_once_above_the_table() -> None:
    rows = (measured("alpha", 1), measured("beta", 1), measured("beta", 8, unit="samples/s"))
    text = hardware(ENGLISH, SiteData(rows), "box", rows, ())
    once = "Model resnet50-imagenet, Precision FP32, Batch per GPU 256, Protocol dlperf-v1, Source first"
    assert f"All rows: {once}." in re.sub(r"<a [^>]*>|</a>", "", text)
    assert [">Protocol<" in text, ">Unit<" in text] == [False, True]


def test_the_index_of_configurations_holds_what_was_measured_here_in_one_table() -> None:
    rows = (measured("alpha"), measured("beta", campaign="second"), measured("beta", 8, campaign="second"))
    text = configurations_index(ENGLISH, SiteData(rows))
    assert text.count("## ") == 1
    assert ">1 configuration</a>" in text
    assert ">2 configurations</a>" in text


def test_the_methodology_shows_the_rule_and_the_claims_that_it_refused_with_their_numbers() -> None:
    text = Document(pages(sample())[at.METHODOLOGY]).text
    assert "at least 5 trials on each side in turns, on one GPU or on 3 GPUs of a kind or more together" in text
    assert "at most 2 of one side after each other." in text
    assert re.search(r"Comparisons of two frameworks that our measurements allow: \d+; with a claim: 0\.", text)
    assert "no p below 0.0625 with 5 trials on each side, and none below 0.0156 with 7" in text
    assert "GPUs not recorded" in text
    assert re.search(r"Alpha [0-9.,]+ n=\d+ .*images/s", " ".join(text.split()))


def test_the_home_page_names_the_frameworks_whose_losses_differ_as_readers_know_them() -> None:
    rows = [claimable(measured(name), turn=turn) for turn, name in enumerate(("alpha", "beta"))]
    learned = [
        replace(row, trials=tuple(replace(trial, losses=((100, loss),)) for trial in row.trials))
        for row, loss in zip(rows, (2.0, 3.0), strict=True)
    ]
    text = Document(home(ENGLISH, replace(sample(), results=tuple(learned)))).text
    assert "different loss at step 100: 2 with Alpha, 3 with Beta" in text


def refused(*rows: ConfigurationResult) -> list[list[str]]:
    """Reasons against claims about these rows, with the number of comparisons, as Methodology lists them."""
    page = methodology(ENGLISH, SiteData(rows))
    return rows_of(page.partition("Reason, with one example")[2].partition("</table>")[0])


def test_methodology_counts_a_reason_once_a_comparison_and_caveats_by_kind() -> None:
    pair = [claimable(measured(name), turn=turn) for turn, name in enumerate(("alpha", "beta"))]
    fault, lost = (warning("losses_apart", step=10, lowest=1.0, highest=2.0),), (warning("telemetry_lost", rows=3),)
    equal, unequal = (
        refused(*(replace(row, findings=found) for row, found in zip(pair, both, strict=True)))
        for both in ((fault, fault), (fault, lost))
    )
    assert [number for *_, number in equal] == ["1"]
    assert [number for *_, number in unequal] == ["1", "1"]


def test_methodology_says_what_the_precisions_of_the_results_stand_for() -> None:
    catalog = load_catalog(None)
    data = SiteData((measured("alpha", precision="bf16-pure"),), precisions=catalog.precisions)
    table = methodology(ENGLISH, data).partition("{ #precisions }")[2].partition("</table>")[0]
    assert rows_of(table)[-1] == ["BF16-PURE", *5 * ["bf16"]]


def test_a_report_of_no_training_says_what_its_case_measures() -> None:
    case = load_catalog(None).cases["node-health"]
    rows = (measured("alpha", case="node-health"),)
    data = SiteData(rows, cases={"node-health": case})
    text = Document(report(ENGLISH, data, "measured/dlperf-v1", "node-health", rows)).text
    assert "no training." in text
    assert "Training throughput of none" not in text


def test_a_page_that_counts_results_says_which_it_counts() -> None:
    rows = (measured("alpha"), measured("beta", value=None), measured("alpha", case=DIAGNOSIS), measured("beta", 8))
    text = pages(SiteData(rows))
    assert "We measured 2 results of" in text[at.HOME]
    assert "Our measurements: 3 results (training: 2; trials: 15)." in text[at.AUDIT]
    for page in (at.HARDWARE, at.FRAMEWORKS, at.EXPLORER):
        assert "Superseded results and node diagnosis are included." in text[page]
    assert "none that is superseded" in text[at.REPORTS]


def test_the_machine_that_dlperf_runs_on_is_named_by_its_processor_unless_its_owner_names_it() -> None:
    catalog = load_catalog(None)
    probed = {("first", "local", "numpy"): Probed({"cpu.model": "AMD EPYC 9554"})}
    named = named_by_processor(catalog, probed)["local"]
    assert (named.title, named.zh and named.zh.title) == ("AMD EPYC 9554", "")
    own = replace(catalog, own_hardware=frozenset({"local"}))
    assert named_by_processor(own, probed) == named_by_processor(catalog, {}) == catalog.hardware
