"""The site in a real browser, from a folder and over http, with every other host out of reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest
from site_browser import AXE, Watched, fonts, needs_browser
from site_rows import measured
from site_sample import sample

from dlperf.messages import ENGLISH
from dlperf.report.pages.results.configurations import configurations
from dlperf.report.site import locations as at

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect
pytestmark = needs_browser

THEME = Path(__file__).parents[2] / "site/theme"
SAME_IN_BOTH = (
    "index.html",
    "results/reports/measured/dlperf-v1/resnet50-imagenet.html",
    "results/configurations/first/box_alpha_resnet50-imagenet.html",
    "results/explorer.html",
    "results/history.html",
    "results/audit.html",
)
PAGES = (*SAME_IN_BOTH, *(f"zh/{page}" for page in SAME_IN_BOTH))
BEYOND_THE_PAPER = """[...document.querySelectorAll("article table")]
    .filter(it => it.getBoundingClientRect().right > innerWidth).map(it => it.innerText)"""
WIDTHS = (390, 1280, 1920)
in_a_folder = pytest.mark.parametrize("address", ["folder"], indirect=True)
"""For what loads nothing more, so that it is no different over http."""
THEMES = {"light": "default", "dark": "slate"}
"""Of a reader's system; and the colours of the pages in it."""


def test_pages_open_without_an_error_or_a_request_to_elsewhere(watched: Watched, address: str) -> None:
    for page in PAGES:
        watched.open(address + page)
    assert watched.errors == []
    assert [url for url in watched.requests if not url.startswith((address, "data:"))] == []


@in_a_folder
def test_a_table_sorts_by_number_with_missing_figures_last(watched: Watched, address: str) -> None:
    watched.page.goto(address + "results/frameworks/beta.html")
    table = watched.page.locator("article .evidence table").last
    header = table.locator("th", has_text="Throughput")
    place = header.evaluate("it => it.cellIndex") + 1
    orders = []
    for order in ("ascending", "descending"):
        header.click()
        expect(header).to_have_attribute("aria-sort", order)
        cells = table.locator(f"tbody tr td:nth-child({place})").all_inner_texts()
        orders.append([cell.split()[0] for cell in cells])
    assert sorted(orders[0][1:]) == sorted(orders[1][1:]) == ["failed", "out"]
    assert orders[0][0] == orders[1][0] == "380.5"


@in_a_folder
def test_things_side_by_side_keep_their_order(watched: Watched, address: str) -> None:
    watched.page.goto(address + "results/reports/measured/dlperf-v1/resnet50-imagenet.html")
    options = watched.page.get_by_role("table", name="Test conditions").last
    expect(options.locator("th a")).to_have_text(["Alpha", "Beta"])
    expect(options.locator(".sortable")).to_have_count(0)


def test_search_finds_a_page(watched: Watched, address: str) -> None:
    watched.page.goto(address + "index.html")
    watched.page.locator("input.md-search__input").click()
    watched.page.locator("input.md-search__input").press_sequentially("protocols")
    watched.page.locator(".md-search-result__link").first.wait_for(state="attached")
    assert watched.errors == []


def test_the_language_switch_stays_on_the_page(watched: Watched, address: str) -> None:
    watched.page.goto(address + "results/methodology.html")
    watched.page.locator(".md-select__link[lang=zh]").evaluate("link => link.click()")
    watched.page.wait_for_url("**/zh/results/methodology.html")
    watched.page.locator(".md-select__link[lang=en]").evaluate("link => link.click()")
    watched.page.wait_for_url(lambda url: url.endswith("/results/methodology.html") and "/zh/" not in url)


def test_the_language_switch_keeps_what_was_chosen_in_the_names_of_the_other_language(
    watched: Watched, address: str
) -> None:
    chosen = urlencode({"origin": "Our measurements", "framework": "Beta", "sort": "-value"})
    watched.page.goto(f"{address}results/explorer.html#{chosen}")
    rows, count = watched.page.locator(".explorer-table.rows tbody tr"), 3
    expect(rows).to_have_count(count)
    watched.page.locator(".md-select__link[lang=zh]").evaluate("link => link.click()")
    watched.page.wait_for_url("**/zh/results/explorer.html#*")
    expect(rows).to_have_count(count)
    expect(rows.first.locator("[data-column=framework]")).to_have_text("Beta")
    assert watched.errors == []


def test_the_colours_follow_the_system_until_a_reader_chooses(watched: Watched, site: Path) -> None:
    watched.page.emulate_media(color_scheme="dark")
    watched.page.goto((site / "about.html").as_uri(), wait_until="commit")
    body, button = watched.page.locator("body"), watched.page.locator("button[title=Light]")
    expect(body).to_have_attribute("data-md-color-scheme", "slate")
    watched.page.emulate_media(color_scheme="light")
    expect(body).to_have_attribute("data-md-color-scheme", "default")
    expect(button).to_be_hidden()
    watched.page.locator("button[title=Dark]").click()
    expect(body).to_have_attribute("data-md-color-scheme", "slate")
    expect(button).to_be_focused()


def test_a_citation_has_the_address_that_it_was_read_at(
    watched: Watched, serve: Callable[[Path], str], tmp_path: Path
) -> None:
    """Where the site was built without its address."""
    row = measured("alpha")
    text = configurations(ENGLISH, replace(sample(), results=(row,)), at.group_of(row), (row,), {})
    page = tmp_path / at.html_address(at.HOME, at.group_page(at.group_of(row)))
    script = tmp_path / "assets/javascripts/copy-link.js"
    for path, content in ((page, text), (script, (THEME / "assets/javascripts/copy-link.js").read_text("utf-8"))):
        path.parent.mkdir(parents=True)
        path.write_text(content, "utf-8")
    root = serve(tmp_path)
    watched.page.goto(root + page.relative_to(tmp_path).as_posix())
    address = root + at.html_address(at.HOME, at.configuration_page(row))
    line, entry = watched.page.locator("details pre code").all_text_contents()[-3:-1]
    assert line.endswith(f". {address}")
    assert f",\n  url = {{{address}}},\n  author" in entry


def test_the_theme_that_a_reader_chose_holds_in_the_other_language(watched: Watched, address: str) -> None:
    body = watched.page.locator("body")
    watched.page.goto(address + "results/methodology.html")
    expect(body).to_have_attribute("data-md-color-scheme", "default")
    watched.page.locator("button[title=Dark]").click()
    expect(body).to_have_attribute("data-md-color-scheme", "slate")
    for page in ("zh/results/methodology.html", "zh/index.html", "guide/data.html"):
        watched.page.goto(address + page)
        expect(body).to_have_attribute("data-md-color-scheme", "slate")


@fonts
@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_is_wider_than_the_window(watched: Watched, site: Path, width: int) -> None:
    watched.page.set_viewport_size({"width": width, "height": 900})
    for page in PAGES:
        watched.page.goto((site / page).as_uri())
        for theme, colours in THEMES.items():
            watched.page.emulate_media(color_scheme=theme)
            watched.page.evaluate("colours => { document.body.dataset.mdColorScheme = colours }", colours)
            assert watched.page.evaluate("document.documentElement.scrollWidth") == width, (page, theme)


EVERY_KIND = (
    *SAME_IN_BOTH,
    "zh/index.html",
    "results/methodology.html",
    "results/reports/index.html",
    "results/hardware/index.html",
    "results/hardware/v100.html",
    "results/frameworks/index.html",
    "results/frameworks/alpha.html",
    "results/configurations/index.html",
    "results/configurations/published/perf/v100_paddle_resnet50-imagenet.html",
    "results/reports/published/perf/resnet50-imagenet.html",
    "results/reports/all-sources/resnet50-imagenet.html",
    "guide/ci.html",
    "guide/programs.html",
    "guide/python.html",
    "about.html",
    "404.html",
)
AXE_RULES = {"light": {"rules": {"target-size": {"enabled": True}}}, "dark": {"runOnly": ["color-contrast"]}}


def test_pages_can_be_read_by_everybody(watched: Watched, site: Path, serve: Callable[[Path], str]) -> None:
    watched.page.set_viewport_size({"width": 390, "height": 844})
    root = serve(site)
    assert [one for page in EVERY_KIND for one in axe_violations(watched, root + page, AXE_RULES)] == []


def test_a_finger_hits_each_link_on_a_wide_screen_too(
    watched: Watched, site: Path, serve: Callable[[Path], str]
) -> None:
    root, rules = serve(site), {"light": {"runOnly": ["target-size"]}}
    assert [one for page in EVERY_KIND for one in axe_violations(watched, root + page, rules)] == []


def axe_violations(watched: Watched, address: str, rules_of: Mapping[str, object]) -> list[tuple[str, str, list[str]]]:
    """Return page, rule and elements of what axe finds on a page with all unfolded, by the rules of each theme."""
    found = []
    watched.page.goto(address)
    watched.page.evaluate("document.querySelectorAll('details').forEach(it => { it.open = true })")
    watched.page.add_script_tag(path=str(AXE))
    watched.page.add_style_tag(content="* { transition: none !important }")
    for theme, rules in rules_of.items():
        watched.page.emulate_media(color_scheme=theme)
        watched.page.evaluate("colours => { document.body.dataset.mdColorScheme = colours }", THEMES[theme])
        violations = watched.page.evaluate("rules => axe.run('body', rules).then(it => it.violations)", rules)
        found += [(address, one["id"], [node["html"][:200] for node in one["nodes"]]) for one in violations]
    return found


@fonts
def test_on_a_telephone_no_option_of_a_command_is_broken(watched: Watched, site: Path) -> None:
    watched.page.set_viewport_size({"width": 390, "height": 844})
    watched.page.goto((site / "guide/logs.html").as_uri())
    expect(watched.page.locator("article .option").first).to_have_text("--gpus")
    broken = "[...document.querySelectorAll('article .option')].filter(it => it.getClientRects().length > 1).length"
    assert watched.page.evaluate(broken) == 0


NEVER_IDLE = "window.requestIdleCallback = (step, options) => options?.timeout && setTimeout(step, 0)"
"""A browser on a machine that is too busy to call what waits for it to be idle, unless it may wait for so long only."""


def test_a_reader_turns_the_chart_of_the_home_page_in_a_busy_browser(watched: Watched, address: str) -> None:
    page = watched.page
    page.add_init_script(NEVER_IDLE)
    page.goto(address + "index.html")
    chart = page.locator(".overview figure", has_text="ResNet50V1.5").first
    expect(chart.locator(".published .name").first).to_contain_text("paddle")
    chart.get_by_label("GPUs").select_option("1")
    chart.get_by_label("Precision").select_option("FP32")
    chart.get_by_label("Metric").select_option("Throughput")
    expect(chart.locator(".name").first).to_have_text("Alpha FP32 · batch 256 · 1 GPU")
    chart.get_by_label("Baseline").select_option("V100 · Beta · FP32")
    expect(chart.locator(".times").first).to_have_text("1.05×")
    page.reload()
    expect(chart.locator(".times").first).to_have_text("1.05×")
    expect(chart.get_by_label("Precision")).to_have_value("FP32")
    chart.get_by_role("link", name="Compare, copy or embed").click()
    expect(page.locator(".explorer-chart .name").first).to_contain_text("Alpha")
    assert "precision=FP32" in page.url
    assert watched.errors == []


def test_without_scripts_charts_and_tables_are_there(browser, site: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    expect(page.locator("figure.chart .bars .bar").first).to_be_visible()
    page.goto((site / "results/configurations/first/box_alpha_resnet50-imagenet.html").as_uri())
    expect(page.locator("figure.chart img").first).to_be_visible()
    page.goto((site / "results/explorer.html").as_uri())
    expect(page.get_by_text("This page needs JavaScript")).to_be_visible()
    context.close()


def test_a_curve_opens_with_every_value_and_nothing_is_loaded_before(watched: Watched, address: str) -> None:
    page = watched.page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    page.goto(f"{address}results/configurations/first/box_alpha_resnet50-imagenet.html")
    assert "uplot.js" not in asked
    picture = page.locator("figure[data-curve]").first
    picture.get_by_role("button", name="Zoom and read values").click()
    plot = picture.locator(".u-over")
    plot.wait_for()
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(picture.locator(".u-legend")).to_contain_text("Trial 1")
    dashes = picture.locator(".u-legend line").evaluate_all("all => all.map(it => it.style.strokeDasharray)")
    assert dashes[:3] == ["", "6, 3", "2, 3"]
    expect(picture.locator("img")).to_be_hidden()
    picture.get_by_role("button", name="Show the picture").click()
    expect(picture.locator("img")).to_be_visible()


def test_the_log_lines_that_gave_a_figure_are_marked_when_a_reader_opens_them(watched: Watched, address: str) -> None:
    page = watched.page
    page.goto(f"{address}results/configurations/first/box_alpha_resnet50-imagenet.html")
    assert not any(url.endswith(".js") and "/lines/" in url for url in watched.requests)
    lines = page.locator("details[data-lines]").first
    lines.get_by_text("Log lines behind this result").click()
    lines.locator("mark").first.wait_for()
    expect(lines).to_contain_text("Trial 5")
    first, last = lines.locator("mark").all_inner_texts()[:2]
    assert first.split()[0] == "21"
    assert last.split("\n")[-1].split()[0] == "120"
    assert watched.errors == []


@pytest.mark.parametrize("theme", THEMES)
def test_a_picture_has_the_colours_of_the_page(watched: Watched, site: Path, theme: str) -> None:
    watched.page.emulate_media(color_scheme=theme)
    watched.page.goto((site / "results/configurations/first/box_alpha_resnet50-imagenet.html").as_uri())
    picture = watched.page.locator("figure[data-curve] img").first
    assert picture.evaluate("it => getComputedStyle(it).colorScheme") == theme
    assert picture.evaluate("it => it.decode().then(() => it.naturalWidth)") > 0


@in_a_folder
@fonts
def test_on_paper_nothing_is_cut_off(watched: Watched, address: str) -> None:
    page = watched.page
    page.set_viewport_size({"width": 718, "height": 1000})
    page.emulate_media(media="print")
    for name in ("index.html", "results/reports/measured/dlperf-v1/resnet50-imagenet.html", "results/explorer.html"):
        page.goto(f"{address}{name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 718
        assert page.evaluate(BEYOND_THE_PAPER) == []
        cut = page.evaluate(
            "[...document.querySelectorAll('article table, article pre > code')]"
            ".filter(it => it.scrollWidth > it.clientWidth + 2).length"
        )
        assert cut == 0
