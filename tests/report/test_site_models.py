"""Results of all sources on a model."""

from __future__ import annotations

import re
from dataclasses import replace

from html_text import Document, rows_of
from site_rows import measured, published
from site_sample import pages, sample

from claimable import CONDITIONS, of_trials
from dlperf.catalog.files.load import load_catalog
from dlperf.messages import ENGLISH
from dlperf.messages.finding import warning
from dlperf.report.build import overview_pages
from dlperf.report.data import SiteData
from dlperf.report.pages.models import by_precision, model, quality_cells
from dlperf.report.pages.page import Page
from dlperf.report.pages.reports.tables import side_by_side
from dlperf.report.site import locations as at
from dlperf.report.views import FigureView
from dlperf.table.model import ConfigurationResult, Status


def test_a_case_of_several_sources_has_a_page_with_each_result_beside_the_best_of_its_accelerator() -> None:
    length = {"axes": (("sequence_length", 8192),), "case": "llama", "unit": "tokens/s"}
    ours = measured(gpus=1, value=11000.0, **length)
    theirs = published("titan", 8, 80000.0, **length)
    data = replace(sample(), results=(ours, theirs, published("titan", 8, 1.0, case="other")))

    texts = pages(data)

    page = at.model_page("llama")
    assert [row[1:5] for row in rows_of(texts[page])[1:]] == [
        ["Alpha", "Our measurements", "11,000 n=5 · 0.4\N{NO-BREAK SPACE}%", "100.0 %"],
        ["titan", "Third-party results", "10,000", "90.9 %"],
    ]
    assert "Sequence length 8192" in texts[page]
    assert page.rpartition("/")[2].replace(".md", ".html") in texts[at.report_page("published/perf", "llama")]
    assert at.model_page("other") not in texts


def test_the_precision_of_most_frameworks_comes_first_and_an_unknown_one_last() -> None:
    best = {"fp8": ("alpha", 9.0), "bf16": ("beta", 4.0), "unstated": ("gamma", 8.0), "bf16-pure": ("gamma", 5.0)}
    rows = [measured(name, value=value, precision=form) for form, (name, value) in best.items()]
    rows.append(measured("delta", value=7.0, precision="bf16", axes=(("task", "lora"),)))
    text = model(ENGLISH, replace(sample(), results=tuple(rows)), rows[0].case, rows)
    assert [row[0] for row in rows_of(text)[1:]] == ["BF16", "BF16", "BF16-PURE", "FP8", "not stated"]
    assert [row[1] for row in rows_of(text)[1:3]] == ["Beta", "delta"]


def test_a_model_names_stacks_without_a_value_and_rows_of_other_machines() -> None:
    def stack(framework: str, machine: str, value: float | None = 9.0, **other: object) -> ConfigurationResult:
        row = measured(framework, 4, value, campaign=f"on-{machine[-1]}", **other)
        return replace(row, trials=tuple(replace(one, conditions={"gpu.uuid": machine}) for one in row.trials))

    oom = Status("out_of_memory")
    rows = [stack("alpha", "a"), stack("beta", "b"), stack("delta", "a, c"), stack("epsilon", "c")]
    failed = [stack("gamma", "a", None, status=oom), stack("alpha", "b", None, status=oom)]
    failed = [replace(row, trials=rows[0].trials) for row in failed]
    text = model(ENGLISH, replace(sample(), results=(*rows, *failed)), rows[0].case, rows)
    said = " ".join(Document(text).text.split())
    assert "Without a value: gamma (FP32, A box: out of memory) A box, 2 machines: on-b; on-a, on-c." in said


def test_a_model_names_the_stacks_that_were_not_run_on_it() -> None:
    rows = [measured(name, case="llama3-8b") for name in ("torchtitan", "maxtext", "huggingface")]
    data = replace(sample(), results=tuple(rows), frameworks=load_catalog(None).frameworks)
    (said,) = re.findall("Not measured: (.*?)[.]", model(ENGLISH, data, "llama3-8b", rows))
    assert "LitGPT" in said
    assert "torchtitan" not in said


def test_pages_of_three_stacks_lead_to_what_separates_them() -> None:
    rows = tuple(measured(name, axes=(("checkpointing", name),)) for name in ("alpha", "beta", "gamma"))
    other = published("paddle", 1, 393.5, case=rows[0].case)
    for found, said in ((rows, True), (rows[:1], False)):
        pages = dict(overview_pages(ENGLISH, replace(sample(), results=(*found, other))))
        assert ("guide/stacks.html#separates" in pages[at.model_page(rows[0].case)]) is said


def test_padding_counts_neither_in_the_order_of_stacks_nor_in_their_share_of_the_best() -> None:
    elsewhere = CONDITIONS | {"gpu.uuid": "GPU-9"}
    rows = [
        of_trials(measured(name, gpus=8, value=value, precision="bf16"), conditions=CONDITIONS)
        for name, value in (("alpha", 1000.0), ("beta", 930.0))
    ]
    padded = replace(measured("gamma", gpus=8, value=960.0, precision="bf16"), findings=(warning("padded_tokens"),))
    rows.append(of_trials(padded, conditions=elsewhere))
    assert [row.framework for row in by_precision(rows)] == ["alpha", "beta", "gamma"]
    page = Page(ENGLISH, SiteData(tuple(rows)), at.HOME)
    share = quality_cells(page, rows)["of_best"](rows[2])
    assert isinstance(share, FigureView)
    assert (share.value, share.below) == ("90.1 %", "without padding")
    apart = [replace(row, axes=(("microbatches", place),)) for place, row in enumerate(rows)]
    (part,) = side_by_side(page, apart)
    assert "measured on 2 sets of GPUs" in part.title


def test_a_result_that_nothing_of_its_work_stands_beside_has_no_share_of_the_best() -> None:
    rows = [measured(name, precision="fp8", axes=(("attention", name),)) for name in ("alpha", "beta")]
    alone = replace(rows[0], precision="bf16")
    of_best = quality_cells(Page(ENGLISH, SiteData((*rows, alone)), at.HOME), (*rows, alone))["of_best"]
    assert [of_best(row) for row in (*rows, alone)] == ["100.0 %", "100.0 %", ""]


def test_a_share_above_the_best_says_why_it_is_not_the_best() -> None:
    once, often = (
        of_trials(measured("alpha", value=value, precision="fp8", axes=(("layers", count),)), conditions=CONDITIONS)
        for value, count in ((103.0, 1), (100.0, 3))
    )
    often = replace(often, trials=often.trials * 3, n=3)
    once = replace(once, n=1)
    of_best = quality_cells(Page(ENGLISH, SiteData((once, often)), at.HOME), (once, often))["of_best"]
    share = of_best(once)
    assert isinstance(share, FigureView)
    assert (share.value, share.below) == ("103.0 %", "fewer trials than the best")
    assert of_best(often) == "100.0 %"


def test_a_result_left_out_for_a_caveat_says_so_instead_of_a_share_of_the_best() -> None:
    rows = [measured(name, precision="fp8", axes=(("attention", name),)) for name in ("alpha", "beta")]
    faulty = replace(measured("gamma", precision="fp8"), findings=(warning("one_synthetic_batch"),))
    of_best = quality_cells(Page(ENGLISH, SiteData((*rows, faulty)), at.HOME), (*rows, faulty))["of_best"]
    cell = of_best(faulty)
    assert isinstance(cell, FigureView)
    assert (cell.value, cell.missing) == ("left out for a caveat", True)


def test_the_best_of_a_model_is_one_result_in_all_cells_of_its_row() -> None:
    rows = [
        replace(measured("alpha", gpus=1, value=100.0, mfu=0.4), findings=()),
        replace(measured("beta", gpus=1, value=110.0, mfu=0.2), findings=(warning("one_synthetic_batch"),)),
    ]
    (row,) = rows_of(pages(replace(sample(), results=tuple(rows)))[at.YOUR_NUMBER])[1:]
    assert row[2].startswith("100 Alpha")
    assert row[4:6] == ["40.0 %", "0.36"]
