"""The report of a campaign has what the public reports have."""

from __future__ import annotations

import re
from dataclasses import replace

from html_text import Document, rows_of
from site_rows import measured, published
from site_sample import campaign, pages, sample

from claimable import claimable
from dlperf.catalog.files.load import load_catalog
from dlperf.catalog.placeholders import RUNTIME
from dlperf.evidence.names import FRAMEWORKS
from dlperf.messages import ENGLISH
from dlperf.plan import Selection
from dlperf.plan.axes import run_command
from dlperf.report.data import FAMILIES, SiteData
from dlperf.report.pages.explorer import explorer_document
from dlperf.report.pages.overview import model_charts
from dlperf.report.pages.page import Page
from dlperf.report.pages.reports.conditions import FILLED_IN, filled_in, hardware_of, launched
from dlperf.report.pages.reports.report import report
from dlperf.report.pages.results.configurations import configurations
from dlperf.report.site import locations as at


def test_a_report_begins_with_its_results_and_ends_with_its_conditions() -> None:
    text = pages(sample())[at.report_page("measured/dlperf-v1", "resnet50-imagenet")]
    assert re.findall(r"^## (.*) \{", text, re.MULTILINE) == [
        "Results",
        "Caveats",
        "Why? Compare settings",
        "How to reproduce",
        "Logs and sources",
        "Test conditions",
        "Frameworks and images",
        "Environment",
        "Set-up",
    ]


def test_frameworks_are_compared_by_gpu_count_for_each_hardware_and_precision() -> None:
    text = pages(sample())[at.report_page("published/perf", "resnet50-imagenet")]
    comparison = text[text.index("### Comparison") :]
    assert re.search(
        r'<td>1 GPU, batch 256</td> <td[^>]*><a href="[^"]*" title="393.561">393\.6</a>.*?</td> '
        r'<td[^>]*><a href="[^"]*" title="370.194">370\.2</a>',
        comparison,
    )
    assert re.search(
        r"<td>32 GPUs, batch 256</td> <td[^>]*><em>not published</em></td> "
        r'<td[^>]*><a href="[^"]*"><em>not published</em></a>',
        comparison,
    )


def test_figures_of_different_sequence_lengths_stand_apart() -> None:
    rows = [
        published(framework, 1, value + length, axes=(("sequence_length", length),))
        for framework, value in (("alpha", 1.0), ("beta", 2.0))
        for length in (2048, 8192)
    ]
    text = report(ENGLISH, SiteData(tuple(rows)), "published/perf", "resnet50-imagenet", rows)
    compared = [row for row in rows_of(text) if row[0].startswith("1 GPU, batch 256, ")]
    assert compared == [
        ["1 GPU, batch 256, sequence length 2,048", "2,049", "2,050"],
        ["1 GPU, batch 256, sequence length 8,192", "8,193", "8,194"],
    ]


def test_more_than_two_batch_sizes_make_a_table_of_batch_sizes_by_scales() -> None:
    rows = [published("fleet", gpus, 100.0 * gpus, batch_size=batch) for batch in (32, 64, 128) for gpus in (1, 8)]
    text = report(ENGLISH, SiteData(tuple(rows)), "published/perf", "resnet50-imagenet", rows)
    rows = rows_of(text)
    assert rows[rows.index(["Batch per GPU", "1\u00a0×\u00a01", "1\u00a0×\u00a08"]) + 1] == ["batch 32", "100", "800"]


def test_two_batch_sizes_of_each_precision_stand_beside_each_other_with_a_row_for_each_scale() -> None:
    axes = [(precision, batch) for precision, largest in (("fp32", 160), ("amp", 208)) for batch in (128, largest)]
    rows = [published("ngc", gpus, None, precision=p, batch_size=batch) for p, batch in axes for gpus in (1, 8, 32)]
    text = report(ENGLISH, SiteData(tuple(rows)), "published/perf", "resnet50-imagenet", rows)
    rows = rows_of(text)
    first = (
        rows.index(["Nodes × GPUs", "FP32 (batch 128)", "FP32 (batch 160)", "AMP (batch 128)", "AMP (batch 208)"]) + 1
    )
    assert [row[0] for row in rows[first : first + 3]] == ["1\u00a0×\u00a01", "1\u00a0×\u00a08", "4\u00a0×\u00a08"]


def test_a_framework_without_a_rival_is_drawn_at_every_scale_with_its_fastest_batch_size() -> None:
    rows = [published("fleet", gpus, batch * gpus, batch_size=batch) for batch in (32, 64) for gpus in (1, 8)]
    text = report(ENGLISH, SiteData(tuple(rows)), "published/perf", "resnet50-imagenet", rows)
    drawn = text.partition("### Training throughput")[2].partition("<figure")[2].partition("</figure>")[0]
    assert " ".join(Document(drawn).text.split()).endswith("images/s 1 GPU (1 × 1) 64 8 GPUs (1 × 8) 512")


def test_single_runs_stand_with_their_average_and_median() -> None:
    text = pages(sample())[at.report_page("published/plsc", "arcface")]
    assert "### Individual runs (samples/s) {" in text
    (row,) = re.findall("<tr>.*>397.4<.*</tr>", text)
    cells = dict(re.findall('<td data-label="(.*?)">(.*?)</td>', row))
    values = ["397.4", "397.6", "398.1", "399", "397.8"]
    assert [cells[f"Run\u00a0{number}"] for number in range(1, 6)] == values
    assert (cells["Average"], cells["Median"]) == ("398", "397.8")


def test_a_result_is_marked_where_it_may_be_called_better_than_all_others_of_its_row() -> None:
    rows = [measured(name, gpus) for gpus in (1, 2, 4) for name in ("alpha", "beta")]
    rows = [replace(row, value=900.0) if row.framework == "beta" else row for row in rows]
    rows = [claimable(row, turn=row.framework == "beta") for row in rows]
    rows[3] = replace(rows[3], trials=rows[3].trials[:3])
    rows[5] = replace(rows[5], value=None)
    text = report(ENGLISH, SiteData(tuple(rows)), "measured/dlperf-v1", "resnet50-imagenet", rows)
    marked = [line for line in text.splitlines() if 'class="best"' in line]
    assert [row[0] for row in rows_of("".join(marked))] == ["1 GPU, batch 256"]


def test_what_was_tested_is_named_in_the_order_of_scales() -> None:
    rows = (measured("alpha", 8, nodes=2), measured("alpha", 4), measured("alpha", 1))
    text = report(ENGLISH, SiteData(rows), "measured/dlperf-v1", "resnet50-imagenet", rows)
    assert ["Nodes × GPUs", "1\u00a0×\u00a01, 1\u00a0×\u00a04, 2\u00a0×\u00a08"] in rows_of(text)


def test_configurations_of_a_report_are_called_by_what_sets_them_apart() -> None:
    here, there = measured("alpha", 1), measured("alpha", 1, hardware="case")
    text = report(ENGLISH, SiteData((here, there)), "measured/dlperf-v1", "resnet50-imagenet", (here, there))
    assert ">box\u00a0· FP32, batch 256, 1 GPU</a></td>" in text
    assert ">case\u00a0· FP32, batch 256, 1 GPU</a></td>" in text
    alone = report(ENGLISH, SiteData((here,)), "measured/dlperf-v1", "resnet50-imagenet", (here,))
    assert ">FP32, batch 256, 1 GPU</a></td>" in alone


def test_a_report_gives_the_command_that_runs_it_again() -> None:
    selection = Selection(hardware=("my box",), cases=("a", "b"), batch_sizes=(256,), repeats=3)
    command = "dlperf run --hardware 'my box' --case a,b --batch-size 256 --repeats 3"
    assert run_command(selection) == command
    assert run_command(replace(selection, first_seed=7)) == f"{command} --first-seed 7"


def test_a_report_gives_the_commands_of_launchers_with_the_machine_where_there_are_several() -> None:
    rows = tuple(replace(measured("alpha"), hardware=name) for name in ("box", "other"))
    record = campaign(list(rows))
    plans = tuple(
        replace(
            plan,
            configuration=replace(plan.configuration, hardware=row.hardware),
            launch=replace(plan.launch, launcher="torchrun"),
        )
        for plan, row in zip(record.configurations, rows, strict=True)
    )
    data = replace(sample(), results=rows, campaigns={"first": replace(record, configurations=plans)})
    page = Page(ENGLISH, data, at.HOME)
    ((_, lines),) = launched(page, plans)
    assert [machine for machine, _ in lines] == [", ".join(data.hardware_title(name) for name in ("box", "other"))]
    assert lines[0][1].startswith("torchrun --nnodes ")
    ((_, lines),) = launched(page, plans[:1])
    assert [machine for machine, _ in lines] == [""], "of one machine it says nothing"


def test_a_report_says_what_stands_in_braces_in_its_commands() -> None:
    assert FILLED_IN.keys() == RUNTIME
    (row,) = rows = (measured("alpha"),)
    record = campaign([row])
    (plan,) = record.configurations
    plans = (replace(plan, launch=replace(plan.launch, launcher="torchrun", command=("train.py", "{trial}"))),)
    data = replace(sample(), results=rows, campaigns={"first": replace(record, configurations=plans)})
    text = Document(pages(data)[at.report_page("measured/dlperf-v1", "resnet50-imagenet")]).text
    assert "{trial} the number of the trial, from 1: its seed; {master_address} the address" in text
    assert "{build}" not in text
    assert filled_in(Page(ENGLISH, data, at.HOME), ["train.py"]) == []


def test_tf32_figures_that_were_published_as_fp32_say_so() -> None:
    text = pages(sample())[at.report_page("published/perf", "resnet50-imagenet")]
    assert "the source calls these results FP32" in text


def test_what_differs_between_frameworks_stands_in_a_table_of_its_own() -> None:
    text = pages(sample())[at.report_page("measured/dlperf-v1", "resnet50-imagenet")]
    section = text[text.index("Why? Compare settings") : text.index("How to reproduce")]
    assert ["DALI", "yes", "no"] in rows_of(section)
    assert "Equal for all frameworks: Version, " in section


def test_what_the_catalogue_plans_alike_is_called_equal_only_where_every_program_reports_it() -> None:
    data, types = sample(), {"weights": "fp32", "compute": "bf16"}
    rows = [measured("alpha"), measured("beta")]
    record = data.campaigns["first"]
    plans = tuple(replace(item, numerics=types) for item in record.configurations)
    for names, told in (("Weights, Compute", {}), ("Weights", {"compute": "bf16"}), ("", types)):
        trials = [replace(trial, numerics=told) for trial in rows[1].trials]
        results = (claimable(rows[0]), replace(rows[1], trials=tuple(trials)))
        text = pages(replace(data, results=results, campaigns={"first": replace(record, configurations=plans)}))
        section = text[at.report_page("measured/dlperf-v1", "resnet50-imagenet")].partition("Why? Compare")[2]
        equal, planned = (
            re.findall(f"{start}: (.*)\\.", section)
            for start in ("Equal for all frameworks", "Equal as planned, not reported by every program")
        )
        assert planned == ([names] if names else [])
        assert not set(names.split(", ")) & set(equal[0].split(", "))
        assert ("reported them in their logs: Weights fp32, Compute bf16." in section) is (told == types)
    other = replace(record, configurations=(replace(plans[0], numerics=types | {"compute": "fp16"}), *plans[1:]))
    text = pages(replace(data, results=(claimable(rows[0]), rows[1]), campaigns={"first": other}))
    found = rows_of(text[at.report_page("measured/dlperf-v1", "resnet50-imagenet")].partition("Why? Compare")[2])
    assert next(row[1:] for row in found if row[0] == "Compute") == ["fp16", "bf16, as planned"]


def test_a_campaign_of_imported_logs_does_not_claim_to_have_run() -> None:
    data = sample()
    record = data.campaigns["first"]
    launched = tuple(replace(item, launch=replace(item.launch, executor="imported")) for item in record.configurations)
    text = pages(replace(data, campaigns={"first": replace(record, configurations=launched)}))
    report_text = text[at.report_page("first", "resnet50-imagenet")]
    assert "Nothing was run here" in report_text
    assert "dlperf run" not in report_text
    assert "The data are those of the source." in report_text
    assert "Computed from imported logs (1)" in text["index.md"]


def test_imported_logs_are_drawn_as_results_of_others() -> None:
    data, drawn = sample(), {}
    record = data.campaigns["first"]
    for executor in ("direct", "imported"):
        plans = tuple(replace(item, launch=replace(item.launch, executor=executor)) for item in record.configurations)
        site = replace(data, campaigns={"first": replace(record, configurations=plans)}, results=(measured(),))
        (chart,) = model_charts(Page(ENGLISH, site, at.HOME))
        table = explorer_document(ENGLISH, site)
        row = dict(zip(table["columns"], table["rows"][0], strict=True))
        bars = [bar.published for _, group in chart["groups"] for bar in group]
        drawn[executor] = bars, row["published"]
    assert drawn == {"direct": ([False], 0), "imported": ([True], 1)}


def test_every_source_and_date_of_imported_logs_is_told_of_their_machine() -> None:
    data = sample()
    record = data.campaigns["first"]
    plan = record.configurations[0]
    plans = tuple(
        replace(
            plan, configuration=replace(plan.configuration, gpus=gpus), facts={"log_source": source, "log_date": date}
        )
        for gpus, source, date in ((1, "a/b@1", "2024"), (2, "c/d@2", "2025"), (4, "a/b@1", "2025"))
    )
    site = replace(data, campaigns={"first": replace(record, configurations=plans)})
    told = hardware_of(Page(ENGLISH, site, at.HOME), "box", [measured(gpus=gpus) for gpus in (1, 2, 4)])
    assert (told["log_source"], told["log_date"]) == ("a/b@1; c/d@2", "2024; 2025")


def test_imported_logs_tell_a_framework_and_no_version_of_it() -> None:
    data = sample()
    record = data.campaigns["first"]
    (plan, *_) = record.configurations
    there = replace(plan, configuration=replace(plan.configuration, framework="tensorflow"))
    tensorflow = load_catalog(None).frameworks["tensorflow"]
    told: dict[str, str] = {}
    for executor in ("direct", "imported"):
        made = replace(there, launch=replace(there.launch, executor=executor))
        of_one = replace(record, configurations=(made,))
        data = replace(data, campaigns={"first": of_one}, frameworks={"tensorflow": tensorflow})
        told[executor] = data.framework_title("tensorflow", "first")
    assert told == {"direct": tensorflow.title, "imported": "TensorFlow"}
    assert set(FAMILIES) == set(FRAMEWORKS)


def test_two_figures_for_one_configuration_both_stand() -> None:
    rows = (published("mxnet", 32, 11233.92), published("mxnet", 32, 11331.93))
    text = pages(SiteData(rows))[at.report_page("published/perf", "resnet50-imagenet")]
    links = '<a href="[^"]*" title="11233.92">11,234</a><br> <a href="[^"]*" title="11331.93">11,332</a>'
    assert re.search(rf"<td[^>]*>4\s×\s8</td> <td[^>]*>{links}</td> </tr>", text)


def test_a_report_on_synthetic_data_does_not_claim_the_data_set() -> None:
    data = sample()
    record = data.campaigns["first"]
    plans = tuple(replace(plan, options={**plan.options, "synthetic_data": True}) for plan in record.configurations)
    text = pages(replace(data, campaigns={"first": replace(record, configurations=plans)}))
    assert (
        "-shaped data; input pipeline not measured" in text[at.report_page("measured/dlperf-v1", "resnet50-imagenet")]
    )
    assert "synthetic data" not in pages(data)[at.report_page("measured/dlperf-v1", "resnet50-imagenet")]


def test_the_chart_of_the_verdict_is_drawn_once() -> None:
    rows = [measured(name, value=value, precision=form) for name, value in RIVALS for form in ("fp32", "amp")]
    text = pages(replace(sample(), results=tuple(rows)))[at.report_page("measured/dlperf-v1", "resnet50-imagenet")]
    titles = re.findall(r"<figcaption>(.*?)</figcaption>", text)
    assert [title.split("· ")[1].strip() for title in titles] == ["AMP"]
    assert Document(text.partition("</section>")[0]).text.count("FP32") > 0


def test_axes_that_all_results_share_are_stated_once() -> None:
    rows = tuple(
        measured(name, gpus, value * gpus, axes=(("sequence_length", 8192),))
        for name, value in RIVALS
        for gpus in (1, 8)
    )
    data = replace(sample(), results=rows)
    text = Document(pages(data)[at.report_page("measured/dlperf-v1", "resnet50-imagenet")]).text
    assert "All results on ResNet50V1.5 on this page: sequence length 8,192." in text
    assert text.partition("How to reproduce")[0].count("sequence length 8,192") == 1
    text = Document(configurations(ENGLISH, data, at.group_of(rows[0]), rows[:2], {})).text
    assert "All results on ResNet50V1.5 on this page: sequence length 8,192." in text
    titles = [f"FP32, batch 256, {gpus}" for gpus in ("1 GPU", "8 GPUs")]
    assert re.findall("## (FP32.*?) {", text) == titles


def test_scaling_is_drawn_as_throughput_per_gpu_of_that_of_one() -> None:
    rows = [measured("alpha", 1, speedup=1.0, efficiency=1.0), measured("alpha", 8, 3000.0, efficiency=0.9375)]
    text = pages(replace(sample(), results=tuple(rows)))[at.report_page("measured/dlperf-v1", "resnet50-imagenet")]
    section = text[text.index("### Scaling") :]
    assert re.findall("--share:([0-9.]+)%", section) == ["93.75"]
    assert "Alpha 8 GPUs, batch 256 93.8 %" in " ".join(Document(section).text.split())


RIVALS = (("alpha", 400.0), ("beta", 380.0))


def test_without_rivals_a_report_opens_with_the_precision_of_most_frameworks_and_names_the_settings_of_each() -> None:
    fast = measured("alpha", value=900.0, precision="fp8")
    rows = [
        measured(name, value=400.0, precision="bf16", axes=(("checkpointing", how),))
        for name, how in (("alpha", "selective"), ("beta", "full"))
    ]
    text = pages(replace(sample(), results=(fast, *rows)))[at.report_page("measured/dlperf-v1", "resnet50-imagenet")]
    assert "BF16" in text.partition("## Results")[0]
    assert "FP8" not in text.partition("## Results")[0]
    section = text[text.index("Why? Compare settings") : text.index("How to reproduce")]
    assert any("full activation checkpointing" in row for row in rows_of(section))
