"""Your number in a real browser: what is typed is compared with the results of its model and accelerator."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from site_browser import Watched, fonts, needs_browser
from site_rows import measured, published
from site_sample import sample

from dlperf.catalog.files.load import load_catalog
from dlperf.messages import ENGLISH
from dlperf.messages.finding import warning
from dlperf.report.pages.explorer import explorer_data
from dlperf.report.pages.your_number import your_number_data
from dlperf.table.model import ConfigurationResult

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect
pytestmark = needs_browser

PAGE = "results/your-number.html"


def open_page(page, address: str, typed: str = "", *, at: str = PAGE) -> None:
    page.goto(f"{address}{at}{typed}")
    page.locator(".costs table").wait_for()


def serve(page, name: str, script: str) -> None:
    page.route(f"**/{name}.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))


def open_with(page, site: Path, rows: tuple[ConfigurationResult, ...], typed: str) -> None:
    """Open the page of a site of these results alone."""
    known = load_catalog()
    data = replace(sample(), results=rows, precisions=known.precisions, accelerators=known.accelerators)
    for name, script in (("figures", explorer_data), ("your-number-data", your_number_data)):
        serve(page, name, script(ENGLISH, data))
    open_page(page, f"{site.as_uri()}/", typed)


def cells(page, row: int) -> list[str]:
    return page.locator(f".costs tbody tr:nth-child({row}) td").all_inner_texts()


def test_the_time_of_a_step_is_compared_with_the_results_of_its_gpu(watched: Watched, address: str) -> None:
    page = watched.page
    open_page(page, address)
    page.get_by_label("Given as").select_option("step")
    page.get_by_label("GPUs", exact=True).fill("4")
    page.get_by_label("Global batch").fill("1024")
    page.get_by_label("Throughput or time").fill("0.64")
    answer = page.locator(".answer")
    expect(answer.locator(".large")).to_have_text("400 images/s per GPU")
    said = answer.locator("li")
    expect(said.nth(0)).to_contain_text("101.6 % of the best third-party result 393.6 paddle")
    expect(said.nth(1)).to_contain_text("100.0 % of the best of our measurements 400.1 Alpha")
    expect(said.nth(1)).to_contain_text(re.compile(r"n=\d"))
    assert [page.locator(f"select[name={name}]").input_value() for name in ("first", "second")] == ["A100", "V100"]
    expect(said.nth(3)).to_contain_text("Place 2 of ")
    expect(answer.get_by_text("yours on 4: a throughput per GPU may fall")).to_be_visible()
    expect(answer.locator("tbody").get_by_text("Best reproducible:")).to_have_count(1)
    page.get_by_label("Precision").select_option("FP32")
    expect(said.nth(2)).to_contain_text("MFU is not known")
    expect(said.nth(3)).to_contain_text(" on V100 · FP32.")
    expect(answer.locator("tbody tr").first).to_contain_text("dlperf reproduce ")
    assert watched.errors == []


def test_a_number_is_of_one_gpu_unless_a_reader_says_otherwise(watched: Watched, address: str) -> None:
    page = watched.page
    open_page(page, address)
    page.get_by_label("GPUs", exact=True).fill("8")
    page.get_by_label("Throughput or time").fill("380")
    answer, doubted = page.locator(".answer"), page.locator(".answer .reading")
    expect(answer.locator(".large")).to_have_text("380 images/s per GPU")
    expect(doubted).to_have_count(0)
    page.get_by_label("Given as").select_option("total")
    expect(doubted).to_have_text("Given as images/s per GPU, it would be 95.0 % of the best: check “Given as”.")
    page.get_by_label("Given as").select_option("per_gpu")
    page.get_by_label("Throughput or time").fill("3040")
    expect(doubted).to_have_text("Given as images/s in total, it would be 95.0 % of the best: check “Given as”.")


def test_prices_give_costs_and_the_address_keeps_what_was_typed(watched: Watched, address: str) -> None:
    page = watched.page
    open_page(page, address)
    prices = page.get_by_role("group", name="Price of one GPU for an hour")
    prices.get_by_label("V100").fill("2.88")
    page.get_by_label("Million images to train on").fill("144")
    page.get_by_label("GPUs used").fill("10")
    assert cells(page, 1)[3:-1] == ["2.06", "", "10.32\nthe result ran on 8 GPUs", "297", "2.88 (1.00×)"]
    assert cells(page, 1)[-1].startswith("Alpha ")  # time and cost are of the result that is named
    page.get_by_label("Million images to train on").fill("1440")
    assert [row[5].splitlines()[0] for row in map(partial(cells, page), (1, 2))] == ["103.2", "44.04"]
    page.get_by_label("GPUs used").fill("1")
    assert cells(page, 1)[1:6] == ["400.1", "1.44", "2", "", "999.7\n41.65 days"]  # in hours whatever else is shown
    page.get_by_label("Million images to train on").fill("144")
    kept = page.evaluate("location.href")  # ``page.url`` may lag behind
    page.goto("about:blank")
    open_page(page, kept.partition(PAGE)[0], kept.partition(PAGE)[2])
    expect(prices.get_by_label("V100")).to_have_value("2.88")
    assert cells(page, 1)[6] == "288"
    assert cells(page, 2)[7] == "no program ran on both with equal settings"


def test_of_two_accelerators_a_table_says_by_precision_what_one_is_worth(watched: Watched, site: Path) -> None:
    rows = (
        measured("alpha", value=100.0, precision="amp", hardware="h100", findings=(warning("measured_once"),)),
        measured("alpha", value=130.0, precision="amp", hardware="h200", findings=(warning("measured_once"),)),
        measured("beta", value=90.0, precision="amp", hardware="h100"),
        measured("beta", value=160.0, precision="amp", hardware="h200", findings=(warning("one_synthetic_batch"),)),
        measured("gamma", value=90.0, precision="amp", hardware="h100"),
        measured("gamma", value=150.0, precision="amp", hardware="h200", findings=(warning("measured_once"),)),
        measured("alpha", gpus=2, value=280.0, precision="amp", hardware="h200"),
        measured("beta", value=80.0, precision="tf32", hardware="h100"),
        measured("beta", value=160.0, precision="tf32", hardware="h200"),
        published("paddle", 8, 1600.0, precision="fp8", hardware="h100"),
        published("paddle", 64, 6400.0, precision="fp8", hardware="h100"),
        measured("alpha", value=400.0, precision="fp8", hardware="h200"),
        published("paddle", 8, 800.0, precision="fp32", hardware="h100-PCIe"),
    )
    open_with(watched.page, site, rows, "#first=H100&second=H200&price+H100=2&price+H200=3.5")
    expect(watched.page.locator("#pair")).to_have_text("Which GPU, H100 or H200?")
    pair = watched.page.locator(".pair")
    expect(pair.locator(".large")).to_have_text(
        "At your prices one H200 costs 1.75 times as much as one H100. "
        "By these results H200 is the cheaper one at TF32 alone."
    )
    watched.page.locator(".prices").get_by_label("H200").fill("2.8")  # 1.40 times as much: between 1.30 and 1.67
    expect(pair.locator(".large")).to_have_text(
        "At your prices one H200 costs 1.40 times as much as one H100. "
        "By these results H200 is the cheaper one at TF32 alone. At AMP the programs differ on it."
    )
    watched.page.locator(".prices").get_by_label("H200").fill("3.5")
    expect(pair.locator("p").nth(1)).to_contain_text("one H200 had 1.30–2.00 times the throughput of one H100.")
    alike, unlike = (table.locator("tbody tr") for table in pair.locator("table").all())
    assert [row.locator("td").all_inner_texts()[:4] for row in alike.all()] == [
        ["AMP", "1.67× †", "H100 6.17 < H200 6.48", "gamma Our measurements · batch 256"],
        ["AMP", "1.30× †", "H100 5.56 < H200 7.48", "Alpha Our measurements · batch 256"],
        ["TF32", "2.00×", "H200 6.08 < H100 6.94", "Beta Our measurements · batch 256"],
    ]
    both = "H100: a single trial\nH200: a single trial"
    expect(alike.nth(1).locator(".doubt").first).to_have_attribute("title", both)
    assert [row.locator("td").all_inner_texts()[:2] for row in unlike.all()] == [
        ["FP8", "program, number of GPUs, origin"],  # of two programs: no ratio, and no part of the verdict
        ["AMP", "program"],
    ]
    expect(pair.locator("tr", has_text="paddle")).to_contain_text("not recomputed here")
    watched.page.get_by_label("Million images to train on").fill("2304")
    watched.page.get_by_label("GPUs used").fill("60")
    expect(watched.page.locator(".costs tbody tr", has_text="paddle").first.locator("td").nth(5)).to_have_text(
        re.compile("106.7.*the result ran on 64 GPUs")
    )
    expect(watched.page.locator(".costs tbody tr", has_text="Alpha").locator("td").nth(5)).to_have_text(
        re.compile("76.19.*the result ran on 2 GPUs")  # not the faster one of 1 GPU
    )
    breaking_even = watched.page.locator(".costs tbody tr", has_text="paddle").first.locator("td").nth(7)
    expect(breaking_even).to_contain_text("1.75–2.69 (0.50–0.77×) †")  # not of the best of each: two programs
    expect(breaking_even).to_contain_text(re.compile("by (gamma · AMP|Alpha · AMP|Beta · TF32|, ){5}$"))
    watched.page.locator("select[name=precision]").select_option("AMP")
    expect(watched.page.locator(".costs tbody tr", has_text="H200").locator("td").nth(1)).to_have_text("140")
    expect(alike).to_have_count(2)
    expect(pair.locator("p").nth(1)).to_contain_text("one H200 had 1.30–1.67 times the throughput of one H100.")
    watched.page.locator("select[name=precision]").select_option("FP8")
    expect(pair).to_contain_text("No program has results of both with equal settings")
    expect(pair.locator(".large")).to_have_text("At your prices one H200 costs 1.75 times as much as one H100.")
    watched.page.locator("select[name=precision]").select_option("BF16")
    expect(pair).to_contain_text("At BF16 there are no results of both.")
    watched.page.locator("select[name=precision]").select_option("")
    nearest = watched.page.get_by_label("Throughput or time")
    watched.page.get_by_label("Hardware").select_option("H100")
    nearest.fill("200")
    expect(watched.page.locator(".answer")).to_contain_text(
        "no such program in dlperf; with Alpha: dlperf reproduce published/"
    )
    expect(watched.page.locator(".answer li").last).to_contain_text(
        "Place 1 of 7 with the results of ResNet50V1.5 on H100. The table lists results on H100 PCIe, too."
    )
    watched.page.locator("select[name=precision]").select_option("BF16")  # at which nothing ran
    expect(watched.page.locator(".answer")).to_contain_text("No third-party result with this model, GPU and precision.")
    expect(watched.page.locator(".answer tbody tr")).to_have_count(6)
    watched.page.locator("select[name=precision]").select_option("FP32")
    expect(watched.page.locator(".answer li").first).to_contain_text(
        "this model, GPU and precision. On H100 PCIe: 200.0 % of the best third-party result 100"
    )
    assert watched.errors == []


def test_a_number_stands_beside_results_of_its_sequence_length_and_what_is_left_out_is_said(
    watched: Watched, site: Path
) -> None:
    def of_length(framework: str, value: float, length: int, **axes: str):
        settings = (("sequence_length", length), *axes.items())
        return measured(framework, value=value, precision="bf16", hardware="h100", unit="tokens/s", axes=settings)

    rows = (
        of_length("alpha", 400.0, 8192),
        of_length("beta", 390.0, 8192),
        of_length("gamma", 50.0, 32768),
        of_length("delta", 900.0, 8192, task="lora"),
    )
    open_with(watched.page, site, rows, "#gpu=H100&value=51&gpus=8&sequence=8192")
    answer = watched.page.locator(".answer")
    expect(answer.locator("tbody tr")).to_have_count(2)
    for said in (
        "All results on this GPU ran on 1 GPU(s), yours on 8",
        "Left out, of other sequence lengths (32,768): 1.",
        "Left out, since they do not train the whole model, such as LoRA: 1;",
    ):
        expect(answer).to_contain_text(said)
    watched.page.locator("input[name=sequence]").fill("4096")
    expect(answer).to_contain_text("Your sequence length is 4,096, that of the results 8,192, 32,768")
    heading, pair = watched.page.locator("#pair"), watched.page.locator(".pair")
    expect(heading).to_have_text("Which of two GPUs?")
    expect(pair).to_have_text(re.compile("All results of .* are on H100: there is no second GPU to compare."))
    expect(watched.page.get_by_label("First GPU")).to_be_hidden()
    assert watched.errors == []


def test_a_number_is_ranked_among_results_without_their_padding(watched: Watched, site: Path) -> None:
    rows = (
        measured("alpha", value=400.0, hardware="h100", trials=1),
        measured("torchtitan", value=200.0, hardware="h100"),
        measured("maxtext", value=420.0, hardware="h100", findings=(warning("padded_tokens"),)),  # 394.4 of them text
    )
    open_with(watched.page, site, rows, "#gpu=H100&value=398")
    answer = watched.page.locator(".answer")
    expect(answer).to_contain_text("Best reproducible (a new run gives a ratio;")
    expect(answer).to_contain_text("Place 2 of 4 with the results")
    assert [row.locator("td").nth(1).inner_text() for row in answer.locator("tbody tr").all()] == [
        "400",
        "394.4 †",
        "200",
    ]
    expect(answer.locator("tbody tr").nth(1)).to_contain_text("without padding")
    changes = answer.get_by_role("link", name="What a user of torchtitan can change")
    expect(changes).to_have_attribute("href", "../guide/stacks.html#torchtitan-changes")
    assert '"torchtitan-changes"' in (site / "guide/stacks.html").read_text()
    assert watched.errors == []


def test_an_amount_stays_with_the_unit_that_it_was_typed_for(watched: Watched, site: Path) -> None:
    rows = (
        measured("alpha", value=400.0),
        measured("beta", value=410.0, case="vgg16-imagenet"),
        measured("alpha", value=9000.0, case="llama3-8b", unit="tokens/s"),
    )
    open_with(watched.page, site, rows, "")
    amount, model = watched.page.locator("input[name=amount]"), watched.page.get_by_label("Model")
    options = dict(zip(model.locator("option").all_inner_texts(), range(3), strict=True))
    language = next(name for name in options if "llama" in name.lower())
    first, second = (name for name in options if name != language)
    model.select_option(label=language)
    amount.fill("15000")
    for chosen, kept in ((first, ""), (language, "15000"), (first, "")):
        model.select_option(label=chosen)
        expect(amount).to_have_value(kept)
    amount.fill("144")
    model.select_option(label=second)
    expect(amount).to_have_value("144")
    assert watched.errors == []


def test_costs_name_program_and_precision_and_may_be_of_one_framework(watched: Watched, site: Path) -> None:
    rows = (
        measured("alpha", value=200.0, precision="fp8", hardware="h100"),
        measured("beta", value=100.0, precision="fp8", hardware="h100"),
        measured("beta", value=80.0, precision="bf16", hardware="h100"),
        measured("beta", value=300.0, precision="bf16", hardware="h200"),
        published("paddle", 8, 400.0, precision="bf16", hardware="h100"),
    )
    open_with(watched.page, site, rows, "#amount=144&fleet=8&price+H100=2&origin=0")
    costs = watched.page.locator(".costs")
    named = [cells(watched.page, row)[0].splitlines() for row in (1, 2)]
    assert sorted(named) == [["H100", "Alpha · FP8"], ["H200", "Beta · BF16"]]
    expect(costs).to_contain_text("The frameworks differ: ")
    expect(costs).to_contain_text("used 8 GPUs together")
    watched.page.locator("select[name=framework]").select_option("Beta")
    watched.page.locator("select[name=precision]").select_option("BF16")
    on_h100 = costs.locator("tbody tr", has_text="H100")
    expect(on_h100.locator("td").first).to_have_text(re.compile("H100Beta · BF16"))
    expect(on_h100.locator("td").nth(6)).to_have_text("1,000")
    expect(costs).not_to_contain_text("The frameworks differ")
    kept = watched.page.evaluate("location.href")
    watched.page.goto("about:blank")
    open_page(watched.page, kept.partition(PAGE)[0], kept.partition(PAGE)[2])
    expect(watched.page.locator("select[name=framework]")).to_have_value("Beta")
    watched.page.get_by_label("GPUs used").fill("1")
    expect(costs).not_to_contain_text("together")
    assert watched.errors == []


@fonts
@pytest.mark.parametrize("page", [PAGE, f"zh/{PAGE}"])
def test_tables_drawn_while_typing_fit_a_phone(watched: Watched, site: Path, page: str) -> None:
    watched.page.set_viewport_size({"width": 390, "height": 844})
    open_page(watched.page, f"{site.as_uri()}/", at=page)
    drawn = watched.page.locator(".your-number")
    for name in ("", "amount", "fleet", "value"):
        if name:
            watched.page.locator(f"input[name={name}]").fill("144")
        assert watched.page.evaluate("document.documentElement.scrollWidth") == 390, name
        assert drawn.locator("table").count() == drawn.locator(".md-typeset__scrollwrap").count(), name
        windows = watched.page.locator(":is(.pair, .costs) .md-typeset__scrollwrap")
        moved = windows.evaluate_all("found => found.filter(one => one.scrollWidth > one.clientWidth).length")
        assert (windows.count() > 0, moved) == (True, 0), "rows are blocks"


def test_without_scripts_the_best_results_are_a_table(browser, site) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"file://{site}/{PAGE}")
    expect(page.locator(".your-number")).to_be_hidden()
    row = page.get_by_role("row").filter(has_text="Alpha")
    expect(row).to_contain_text("400.1")
    expect(row).to_contain_text("1.44")
