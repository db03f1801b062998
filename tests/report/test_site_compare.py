"""Compare in a real browser, from a folder and over http."""

from __future__ import annotations

import csv
import html
import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from site_browser import AXE, Watched, fonts, needs_browser
from site_rows import measured, published
from site_sample import sample

from dlperf.messages import ENGLISH
from dlperf.report.data import SiteData
from dlperf.report.pages.explorer import explorer_data, explorer_document
from dlperf.table.model import ConfigurationResult, MetricResult

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect
pytestmark = needs_browser

EXPLORER = "results/explorer.html"


def open_compare(page, address: str) -> None:
    page.goto(address)
    page.locator(".explorer-table table").wait_for()


def explorer_figures(page):
    return page.locator("#figure-explorer .explorer-table.rows td[data-column=value] a:not(.doubt)")


def facet(page, name: str):
    return page.get_by_role("group", name=name)


def test_a_batch_of_less_than_one_for_a_gpu_is_left_blank() -> None:
    data = replace(sample(), results=(published("paddle", 8, 100.0, batch_size=0),))
    document = explorer_document(ENGLISH, data)
    assert '"batch_size":0' not in json.dumps(document, separators=(",", ":"))


def test_compare_filters_by_chips_and_sorts_and_the_address_keeps_both(watched: Watched, address: str) -> None:
    page = watched.page
    open_compare(page, address + EXPLORER)
    everything = explorer_figures(page).all_inner_texts()
    facet(page, "Framework").get_by_role("button", name="Alpha").click()
    page.get_by_role("button", name="Result", exact=True).click()
    expect(explorer_figures(page)).to_have_text(["3,101", "400.1"])
    expect(page.locator(".explorer-chart .name")).to_have_count(2)
    facet(page, "Framework").get_by_role("button", name="Beta").press("Enter")
    expect(explorer_figures(page)).to_have_count(5)
    kept = page.url
    page.get_by_role("button", name="Reset").click()
    expect(explorer_figures(page)).to_have_text(everything)
    page.goto("about:blank")
    page.goto(kept)
    expect(explorer_figures(page)).to_have_count(5)
    chip = facet(page, "Framework").get_by_role("button", name="Beta")
    expect(chip).to_have_attribute("aria-pressed", "true")
    chip.click()
    expect(chip).to_be_focused()
    expect(explorer_figures(page)).to_have_text(["3,101", "400.1"])
    explorer_figures(page).first.click()
    page.wait_for_url("**/box_alpha_resnet50-imagenet.html#fp32-bs256-1n8g")
    assert watched.errors == []


@pytest.mark.parametrize(
    ("address", "drawn"), [(EXPLORER, ".explorer-table td"), ("results/your-number.html", ".costs td")]
)
def test_nothing_jumps_while_a_slow_telephone_draws(watched: Watched, site: Path, address: str, drawn: str) -> None:
    page = watched.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page.add_init_script("""window.shifted = 0
        new PerformanceObserver(list => list.getEntries().forEach(it => { shifted += it.value }))
            .observe({ type: "layout-shift", buffered: true })""")
    page.goto((site / address).as_uri())
    expect(page.locator(drawn).first).to_be_attached()
    assert page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(() => done(shifted))))") < 0.1


def test_compare_puts_missing_results_last_in_either_order(watched: Watched, site: Path) -> None:
    page = watched.page
    for order in ("value", "-value"):
        page.goto("about:blank")
        open_compare(page, (site / EXPLORER).as_uri() + f"#framework=Beta&sort={order}")
        expect(explorer_figures(page)).to_have_count(3)
        figures = explorer_figures(page).all_inner_texts()
        assert figures[0] == "380.5"
        assert sorted(figures[1:]) == ["failed: NCCL timeout", "out of memory"]


def test_compare_never_puts_two_units_into_one_order_or_chart(watched: Watched, site: Path) -> None:
    page = watched.page
    open_compare(page, (site / EXPLORER).as_uri() + "#sort=-value&metric=value")
    expect(page.locator(".explorer-chart figcaption")).to_contain_text(["images/s", "samples/s"])
    units = page.locator("#figure-explorer td[data-column=value] small").all_inner_texts()
    assert units == sorted(units)
    assert len(set(units)) == 2


def test_a_baseline_gives_a_ratio_to_what_is_comparable(watched: Watched, site: Path) -> None:
    page = watched.page
    open_compare(page, (site / EXPLORER).as_uri() + "#metric=value&gpu_count=1&precision=FP32")
    chart = page.locator(".explorer-chart figure").first
    expect(chart.locator(".times").first).to_have_text("1.00×")
    page.get_by_label("Baseline").select_option(label="ResNet50V1.5 · Beta · V100 · FP32 · 1 GPU · batch 256")
    expect(chart.locator(".times").first).to_have_text("1.05×")
    cells = page.locator("#figure-explorer td[data-column=times]")
    assert cells.all_inner_texts()[:2] == ["1.05×", "1.00×"]
    assert "" in cells.all_inner_texts(), "no ratio between different models"


def test_columns_are_chosen_and_the_address_keeps_them(watched: Watched, site: Path) -> None:
    page = watched.page
    open_compare(page, (site / EXPLORER).as_uri())
    page.locator(".explorer-bar summary").click()
    page.get_by_role("checkbox", name="MFU", exact=True).check()
    page.get_by_role("checkbox", name="Source", exact=True).uncheck()
    page.reload()
    headers = page.locator("#figure-explorer .explorer-table.rows th")
    expect(headers.filter(has_text="MFU")).to_have_count(1)
    expect(headers.filter(has_text="Source")).to_have_count(0)


def tick(page, *places: int) -> None:
    for place in places:
        page.locator("#figure-explorer .explorer-table.rows input[type=checkbox]").nth(place).check()


def test_two_to_five_rows_stand_side_by_side_with_their_differences_marked(watched: Watched, address: str) -> None:
    page = watched.page
    open_compare(page, address + EXPLORER)
    tick(page, 0, 1)
    sides = page.get_by_role("table", name="Compare side by side")
    differing = sides.locator("tr.differs th")
    expect(differing.filter(has_text="Nodes × GPUs")).to_have_count(1)
    expect(sides.locator("tr", has_text="Estimator")).to_contain_text("window(20,120)")
    expect(sides.locator("tr.differs", has_text="Precision")).to_have_count(0)
    tick(page, 2, 3, 4)
    boxes = page.locator("#figure-explorer .explorer-table.rows input[type=checkbox]")
    expect(boxes.nth(5)).to_be_disabled()
    expect(sides.locator("thead th")).to_have_count(5)
    page.get_by_label("Only differences").check()
    expect(sides.locator("tbody tr:not(.section, .differs)")).to_have_count(0)
    before = sides.inner_text()
    page.reload()
    expect(sides).to_have_text(before, use_inner_text=True)
    assert watched.errors == []


@fonts
def test_a_reader_who_ticks_rows_goes_on_where_he_was_and_reads_the_comparison(watched: Watched, site: Path) -> None:
    page = watched.page
    page.set_viewport_size({"width": 390, "height": 500})
    open_compare(page, (site / EXPLORER).as_uri())
    boxes = page.locator("#figure-explorer .explorer-table.rows input[type=checkbox]")
    for place in (5, 6):
        boxes.nth(place).focus()
        page.keyboard.press("Space")
        expect(boxes.nth(place)).to_be_focused()
    page.get_by_role("button", name="Compare side by side").click()
    region = page.get_by_role("region", name="Compare side by side")
    expect(region).to_be_focused()
    expect(region.get_by_role("heading")).to_be_in_viewport()
    page.locator(".explorer-bar summary").click()
    page.add_script_tag(path=str(AXE))
    found = page.evaluate("axe.run('body').then(result => result.violations)")
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []


def test_what_is_shown_is_taken_away_as_markdown_csv_pictures_and_code(watched: Watched, site: Path) -> None:
    page = watched.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_compare(page, (site / EXPLORER).as_uri() + "#framework=Beta&precision=FP32")

    def copy(name: str) -> None:
        page.evaluate("document.querySelector('.explorer-said').textContent = ''")
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.locator(".explorer-said")).to_have_text("Copied")

    def copied(name: str) -> str:
        copy(name)
        return page.evaluate("navigator.clipboard.readText()")

    markdown = copied("Markdown")
    assert "| ResNet50V1.5 | Beta | 380.5 images/s †1 |" in markdown
    assert "†1 the throughput falls by 3.0 %" in markdown
    rows = list(csv.DictReader(copied("CSV").splitlines()))
    assert [(row["value"], row["unit"], row["gpus"]) for row in rows] == [
        ("380.5", "images/s", "1"),
        ("", "images/s", "8"),
    ]
    assert "falls" in rows[0]["caveats"]
    picture = ElementTree.fromstring(copied("SVG"))
    words = " ".join(picture.itertext())
    assert all(text in words for text in ("ResNet50V1.5", "Beta", "380.5 †", "1.00×", "falls"))
    assert "framework=Beta" in words.replace(" ", ""), "the address of what is shown"
    assert re.fullmatch(
        r"ResNet50V1.5, images/s · Throughput per GPU[.] dlperf[.] file://.*#.*framework=Beta.*\n", copied("Citation")
    )
    copy("PNG")
    kinds = "navigator.clipboard.read().then(items => items[0].types)"
    page.wait_for_function(f"{kinds}.then(found => found.includes('image/png'))")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download PNG").click()
    assert saved.value.suggested_filename == "resnet50v1-5-images-s-throughput-per-gpu.png"
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")
    frame = re.search('src="([^"]+)" title="([^"]+)" width="100%" height="([0-9]+)"', copied("Embed code"))
    assert frame[2] == "ResNet50V1.5, images/s · Throughput per GPU"
    embedded = html.unescape(frame[1])
    page.goto("about:blank")
    page.goto(embedded)
    expect(page.locator(".explorer-chart .name")).to_have_text(["Beta V100 · FP32 · 1 GPU"])
    expect(page.get_by_text("† the throughput falls by 3.0 %")).to_be_visible()
    expect(page.locator(".legend .published"), "no third-party results").to_have_count(0)
    expect(page.locator(".legend > span").first).to_have_text(re.compile("^× is a ratio"))
    expect(page.locator(".legend")).not_to_contain_text("false")
    expect(page.locator(".explorer-chart > *").first).to_have_class("legend")  # above the fold of any frame
    alone = "dlperf.data.rows.filter(row => dlperf.gpusOf(row) === 1 && dlperf.of(row, 'value'))"
    alike = page.evaluate(f"dlperf.named({alone}, row => [dlperf.of(row, 'framework'), '']).map(String)")
    assert len(set(alike)) == len(alike)
    assert frame[3] == str(290 + 36 + 20), "of one bar and one note"
    for hidden in (".md-header", ".explorer-facets", ".explorer-table.rows", "#counts"):
        expect(page.locator(hidden)).to_be_hidden()
    assert watched.errors == []


def test_rows_side_by_side_are_copied_with_all_that_is_shown_of_them(watched: Watched, site: Path) -> None:
    page = watched.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_compare(page, (site / EXPLORER).as_uri())
    tick(page, 0, 1)
    sides = page.get_by_role("table", name="Compare side by side")
    expect(sides.locator("tr", has_text="Estimator")).to_contain_text("window(20,120)")
    page.get_by_role("button", name="Markdown", exact=True).click()
    expect(page.locator(".explorer-said")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert re.findall(r"^\| ([^|]+) \|", copied, re.MULTILINE) == sides.locator("tbody th").all_text_contents()
    assert "| Estimator | window(20,120) | window(20,120) |" in copied
    assert watched.errors == []


@fonts
def test_on_a_telephone_compare_shows_each_result_with_its_spread(watched: Watched, site: Path) -> None:
    page = watched.page
    page.set_viewport_size({"width": 390, "height": 844})
    open_compare(page, (site / EXPLORER).as_uri())
    for cell in page.locator("#figure-explorer td:is([data-column=value], [data-column=spread]):not(:empty)").all():
        box = cell.bounding_box()
        assert box is not None
        assert 0 < box["x"] < box["x"] + box["width"] <= 390
    filters = page.locator(".explorer-facets .chips").first
    ends = filters.evaluate("""row => {
        row.scrollLeft = row.scrollWidth;
        return [row.getBoundingClientRect().right, row.lastElementChild.getBoundingClientRect().right];
    }""")
    expect(filters, "a row of filters that goes on fades out").not_to_have_css("mask-image", "none")
    assert ends[0] - ends[1] > 20, "and its last one is read whole"
    page.get_by_role("button", name="Result", exact=True).click()
    expect(explorer_figures(page).first).to_have_text("3,101")


@fonts
def test_on_a_telephone_a_side_by_side_table_keeps_its_names_and_says_that_it_scrolls(
    watched: Watched, site: Path
) -> None:
    page = watched.page
    page.set_viewport_size({"width": 390, "height": 844})
    open_compare(page, (site / EXPLORER).as_uri())
    hint = page.get_by_text("Scroll the table sideways")
    tick(page, 0, 1)
    window = page.locator(".explorer-sides .explorer-table")
    assert window.evaluate("box => box.scrollWidth <= box.clientWidth"), "two results fit"
    expect(hint).to_be_hidden()
    tick(page, 2, 3)
    expect(hint).to_be_visible()
    names = window.locator("tbody th")
    before = [name.bounding_box() for name in names.all()]
    assert all(box["width"] >= 110 for box in before)
    window.evaluate("box => { box.scrollLeft = 150 }")
    assert [name.bounding_box() for name in names.all()] == before
    assert {"Result", "Conditions"} <= set(names.all_inner_texts())
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_compare_stays_fast_with_ten_thousand_results(watched: Watched, site: Path) -> None:
    rows = tuple(measured(f"f{number % 50}", 1, 100.0 + number, batch_size=number) for number in range(10_000))
    script = explorer_data(ENGLISH, SiteData(rows))
    assert len(script) < 2_000_000
    watched.page.route("**/figures.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))
    open_compare(watched.page, (site / EXPLORER).as_uri())
    expect(explorer_figures(watched.page)).to_have_count(50)
    expect(watched.page.locator(".explorer-count")).to_contain_text("10,000 of 10,000")
    watched.page.get_by_role("button", name="Next page").click()
    expect(explorer_figures(watched.page).first).to_have_text("10,049")
    expect(watched.page.get_by_role("region", name="All results")).to_be_focused()


def test_compare_shows_costs_with_their_prices_and_each_currency_alone(watched: Watched, site: Path) -> None:
    def priced(framework: str, currency: str) -> ConfigurationResult:
        price = f"2 {currency}/GPU-hour (list, 2026-11-01)"
        cost = MetricResult("cost_per_million", 31.25, f"{currency}/million images", "lower", basis=price)
        return replace(measured(framework), metrics=(cost,))

    rows = (priced("alpha", "EUR"), priced("beta", "EUR"), priced("gamma", "USD"))
    script = explorer_data(ENGLISH, SiteData(rows))
    watched.page.route("**/figures.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))
    shown = "#metric=cost_per_million&columns=framework,value,cost_per_million"
    open_compare(watched.page, (site / EXPLORER).as_uri() + shown)
    asides = [
        f"{currency}/million images · cost_per_million · lower is better · 2 {currency}/GPU-hour (list, 2026-11-01)"
        for currency in ("EUR", "USD")
    ]
    expect(watched.page.locator(".explorer-chart figcaption")).to_contain_text(asides)
    cells = watched.page.locator("#figure-explorer td[data-column=cost_per_million]")
    expect(cells.first).to_have_text("31.25 EUR/million images: 2 EUR/GPU-hour (list, 2026-11-01)")
    assert watched.errors == []
