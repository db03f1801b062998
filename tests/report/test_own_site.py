"""This repository's own site, as its readers get it."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path

import pytest
from site_browser import Watched, fonts, needs_browser

pytestmark = needs_browser
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

HOMES = ("index.html", "zh/index.html")
COMPARES = ("results/explorer.html", "zh/results/explorer.html")
MOST_BYTES = {**dict.fromkeys(HOMES, 250_000), **dict.fromkeys(COMPARES, 250_000)}
"""Of a page with all that it loads, each file compressed by gzip as a server sends it."""
AT_A_DESK = (
    "index.html",
    "results/reports/measured/dlperf/resnet50.html",
    "results/reports/published/perf-resnet50-2.5/resnet50.html",
    "results/reports/published/plsc-arcface/arcface.html",
    "results/configurations/h200-pytorch-resnet50/h200-1x_pytorch-compiled_resnet50.html",
    "results/reports/all-sources/llama3-8b.html",
    "results/hardware/h200-1x.html",
    "results/frameworks/pytorch-compiled.html",
    "results/audit.html",
    "results/your-number.html",
    "results/reports/index.html",
)
CUT = """[...document.querySelectorAll("article table")].filter(table => {
    const box = table.closest(".md-typeset__scrollwrap") || table;
    return box.scrollWidth > box.clientWidth;
}).map(table => table.tHead ? table.tHead.innerText : "")"""


@pytest.mark.parametrize("page", MOST_BYTES)
@pytest.mark.parametrize("served", [False, True], ids=["folder", "http"])
def test_a_page_is_light(watched: Watched, own_site: Path, serve, page: str, served: bool) -> None:
    root = serve(own_site) if served else own_site.as_uri() + "/"
    watched.open(root + page)
    files = {url.removeprefix(root).partition("?")[0].partition("#")[0] for url in watched.requests}
    assert {page, f"{'zh/' * page.startswith('zh/')}assets/stylesheets/dlperf.css"} <= files
    loaded = [own_site / name for name in files if (own_site / name).is_file()]
    assert sum(len(gzip.compress(path.read_bytes())) for path in loaded) < MOST_BYTES[page]


@pytest.mark.parametrize("page", COMPARES)
def test_the_table_of_compare_is_read_whole_at_a_desk(watched: Watched, own_site: Path, page: str) -> None:
    watched.page.goto((own_site / page).as_uri())
    for order in ("", "-value", "source", "-hardware"):
        watched.page.evaluate(f"location.hash = 'sort={order}'")
        table = watched.page.locator("#figure-explorer .explorer-table.rows")
        assert table.evaluate("box => box.scrollWidth <= box.clientWidth")


def test_the_menu_shows_the_names_of_many_own_pages_whole(watched: Watched, own_site: Path) -> None:
    watched.page.set_viewport_size({"width": 1280, "height": 800})
    watched.page.goto((own_site / "index.html").as_uri())
    menu = watched.page.locator(".md-tabs__list")
    one_line = menu.evaluate("list => list.clientHeight")
    names = menu.evaluate("""list => [...Array(3)].map(() => list.appendChild(list.lastElementChild.cloneNode(true)))
        && [list.scrollWidth - list.clientWidth, list.scrollHeight - list.clientHeight, list.clientHeight]""")
    assert names[:2] == [0, 0]
    assert one_line < names[2] < 2 * one_line


@fonts
@pytest.mark.parametrize("page", [*AT_A_DESK, *(f"zh/{page}" for page in AT_A_DESK)])
def test_a_table_is_read_whole_at_a_desk(watched: Watched, own_site: Path, page: str) -> None:
    watched.page.goto((own_site / page).as_uri())
    assert watched.page.evaluate(CUT) == []


ENDS = """[...document.querySelectorAll("article table:has(.doubt)")].flatMap(table => {
    const digits = cell =>
        [...cell.querySelectorAll(":scope > a:not(.doubt), :scope > small")].at(-1).getBoundingClientRect().right;
    const isNumber = cell => cell.matches("[style*=right], [data-place=value]") &&
        cell.querySelector(":scope > a[title]") && !cell.querySelector("br");
    const cells = [...table.tBodies[0].rows].flatMap(row => [...row.cells].filter(isNumber));
    const ends = Map.groupBy(cells, cell => cell.cellIndex);
    return [...ends.values()].filter(column => column.some(cell => cell.querySelector(".doubt")))
        .map(column => column.map(digits)).map(column => Math.max(...column) - Math.min(...column));
})"""
"""Of each column with a marked number: how far apart the numbers end."""


@fonts
@pytest.mark.parametrize("medium", ["screen", "print"])
@pytest.mark.parametrize("page", [AT_A_DESK[2], "results/hardware/tesla-v100-sxm2-32gb.html", COMPARES[0]])
def test_numbers_stand_under_each_other_whether_they_are_marked_or_not(
    watched: Watched, own_site: Path, page: str, medium: str
) -> None:
    watched.open((own_site / page).as_uri())
    watched.page.emulate_media(media=medium)
    apart = watched.page.evaluate(ENDS)
    assert apart
    assert max(apart) < 1


@fonts
@pytest.mark.parametrize("home", HOMES)
def test_the_answers_are_read_whole_on_a_phone(watched: Watched, own_site: Path, home: str) -> None:
    watched.page.set_viewport_size({"width": 390, "height": 844})
    watched.page.goto((own_site / home).as_uri())
    assert watched.page.evaluate(CUT) == []
    rows = watched.page.locator(".answers tbody tr")
    assert rows.count() > 10
    assert all(row.bounding_box()["width"] < 390 for row in rows.all())


LISTS = (
    "results/reports/index.html",
    "results/hardware/index.html",
    "results/hardware/h200-4x.html",
    "results/hardware/tesla-v100-sxm2-16gb.html",
    "results/frameworks/index.html",
    "results/frameworks/pytorch-compiled.html",
    "results/configurations/index.html",
    "results/configurations/h200-4x-resnet50/h200-4x_pytorch-compiled_resnet50.html",
    "results/configurations/published/plsc-arcface/tesla-v100-sxm2-16gb_paddlepaddle-1.8.5_arcface.html",
    "results/history.html",
    "results/methodology.html",
    "results/audit.html",
)


@fonts
@pytest.mark.parametrize("page", [*LISTS, *(f"zh/{page}" for page in LISTS)])
def test_a_list_is_read_whole_on_a_phone(watched: Watched, own_site: Path, page: str) -> None:
    watched.page.set_viewport_size({"width": 390, "height": 844})
    watched.page.goto((own_site / page).as_uri())
    assert watched.page.evaluate(CUT) == []
    assert watched.page.evaluate("document.documentElement.scrollWidth") == 390
    assert watched.page.locator(".rows tbody tr").count() > 1


def test_the_address_of_a_page_that_moved_leads_to_its_place_on_the_new_one(watched: Watched, own_site: Path) -> None:
    watched.page.goto((own_site / "zh/results/protocols.html").as_uri() + "#protocol-dlperf-v1")
    watched.page.wait_for_url("**/zh/results/methodology.html#protocol-dlperf-v1")
    assert watched.page.locator("#protocol-dlperf-v1").count() == 1
    watched.page.goto((own_site / "guide/reading.html").as_uri())
    watched.page.wait_for_url("**/results/methodology.html#definitions")


MATRIX = "results/reports/published/perf-resnet50-2.5/resnet50.html"
WIDE_IN_ANY_FONT = ".md-typeset__scrollwrap td + td { min-width: 10rem !important }"
"""A machine without fonts draws the matrix so narrow that it need not be moved."""


@fonts
@pytest.mark.parametrize("page", [MATRIX, f"zh/{MATRIX}"])
def test_the_names_of_rows_stay_where_a_matrix_is_moved_on_a_phone(watched: Watched, own_site: Path, page: str) -> None:
    watched.page.set_viewport_size({"width": 390, "height": 844})
    watched.page.goto((own_site / page).as_uri())
    watched.page.add_style_tag(content=WIDE_IN_ANY_FONT)
    assert watched.page.evaluate("document.documentElement.scrollWidth") == 390
    window = watched.page.locator(".md-typeset__scrollwrap", has_text="256").first
    name, figure = (window.locator("tbody tr").first.locator("td").nth(place) for place in (0, 1))
    moved = figure.bounding_box()["x"]
    window.evaluate("box => { box.scrollLeft = 90 }")
    assert figure.bounding_box()["x"] == moved - 90
    assert name.bounding_box()["x"] >= 0
    assert watched.page.locator(".rows tbody tr").count() > 30


ON_PAPER = (
    "results/explorer.html",
    "results/reports/measured/dlperf/resnet50.html",
    "results/reports/published/dlperf-readme/resnet50.html",
)
BROKEN_NUMBERS = """[...document.querySelectorAll("article td a")]
    .filter(it => /^[0-9.]+$/.test(it.innerText) && it.getClientRects().length > 1).map(it => it.innerText)"""


@fonts
@pytest.mark.parametrize("page", ON_PAPER)
def test_a_wide_table_fits_the_paper_and_breaks_no_number(watched: Watched, own_site: Path, page: str) -> None:
    watched.page.set_viewport_size({"width": 718, "height": 1000})
    watched.page.emulate_media(media="print")
    watched.page.goto((own_site / page).as_uri())
    watched.page.locator("article table").first.wait_for(state="attached")
    widths = "[...document.querySelectorAll('article table')].map(it => it.getBoundingClientRect().right)"
    assert max(watched.page.evaluate(widths)) <= 718
    assert watched.page.evaluate(BROKEN_NUMBERS) == []


LARGER_PRINT = """[...document.querySelectorAll("article td small")].filter(it =>
    parseFloat(getComputedStyle(it).fontSize) > parseFloat(getComputedStyle(it.parentElement).fontSize)
).map(it => it.innerText)"""
PRINTED_CAVEATS = """[...document.querySelectorAll("article :is(.bars, .cards, table) .doubt")]
    .map(it => getComputedStyle(it, "::after").content)"""


def test_on_paper_charts_and_tables_mark_caveats_without_their_text_and_keep_small_print_small(
    watched: Watched, own_site: Path
) -> None:
    watched.page.emulate_media(media="print")
    watched.page.goto((own_site / "results/reports/measured/dlperf-llm/llama3-8b.html").as_uri())
    assert set(watched.page.evaluate(PRINTED_CAVEATS)) == {"none"}
    assert watched.page.evaluate(LARGER_PRINT) == []


HEADINGS = "[...document.querySelectorAll('article :is(h1, h2, h3, h4, h5, h6)')].map(it => Number(it.tagName[1]))"
NAMELESS = """[...document.querySelectorAll(
    "article :is(th, button, select, input, summary, img, svg[role=img], a[href])"
)].filter(it => !(it.innerText || it.labels?.[0]?.innerText || it.ariaLabel || it.alt || it.title || "").trim())
    .map(it => it.outerHTML)"""
NAMELESS_TABLES = "[...document.querySelectorAll('article table')].filter(it => !it.ariaLabel).map(it => it.innerText)"
READ_ALOUD = (
    *AT_A_DESK,
    "results/reports/published/fleetx-vgg16/vgg16.html",
    "results/explorer.html",
    "results/history.html",
    "results/methodology.html",
    "guide/data.html",
)


@pytest.mark.parametrize("page", [*READ_ALOUD, *(f"zh/{page}" for page in READ_ALOUD)])
def test_a_page_can_be_read_aloud(watched: Watched, own_site: Path, page: str) -> None:
    watched.page.goto((own_site / page).as_uri())
    watched.page.evaluate("document.querySelectorAll('details').forEach(it => { it.open = true })")
    levels = watched.page.evaluate(HEADINGS)
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in pairwise(levels)), levels
    assert watched.page.evaluate(NAMELESS) == []
    assert watched.page.evaluate(NAMELESS_TABLES) == []
    assert watched.page.locator("html").get_attribute("lang") == ("zh" if page.startswith("zh/") else "en")


def test_a_reader_without_a_mouse_sees_where_he_is(watched: Watched, own_site: Path) -> None:
    page = watched.page
    page.goto((own_site / "results/explorer.html").as_uri())
    page.locator("#figure-explorer input[type=search]").focus()
    page.keyboard.press("Shift+Tab")
    seen = []
    for _ in range(9):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("[document.activeElement.tagName, getComputedStyle(document.activeElement).outlineStyle]")
        )
    assert [name for name, _ in seen] == ["INPUT", *["BUTTON"] * 8]
    assert "none" not in [outline for _, outline in seen]
