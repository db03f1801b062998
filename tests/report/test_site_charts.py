"""Charts are pictures of the numbers that they are given."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from math import dist
from xml.etree import ElementTree

import pytest
from html_text import Document
from hypothesis import given
from hypothesis import strategies as st
from site_rows import measured, published
from site_sample import sample

from dlperf.catalog.files.load import load_catalog
from dlperf.catalog.palette import colour_number, family_number, palette
from dlperf.derived.timeline import thinned
from dlperf.messages import CHINESE, ENGLISH
from dlperf.messages.finding import warning
from dlperf.messages.numbers import four_digits
from dlperf.report.build import overview_pages
from dlperf.report.charts import svg
from dlperf.report.charts.axis import linear, tick_text
from dlperf.report.charts.plot import Band, ChartLine, Plot, plot
from dlperf.report.charts.svg import COLOURS, series_of
from dlperf.report.data import SiteData
from dlperf.report.pages.overview import model_charts
from dlperf.report.pages.page import Page
from dlperf.report.pages.results import pictures
from dlperf.report.site import locations as at
from dlperf.report.templating import draw, macro
from dlperf.table.model import ConfigurationResult

SIGHT = {
    "protanopia": ((0.1523, 1.0526, -0.2049), (0.1145, 0.7863, 0.0992), (-0.0039, -0.0481, 1.0520)),
    "deuteranopia": ((0.3673, 0.8606, -0.2280), (0.2801, 0.6725, 0.0474), (-0.0118, 0.0429, 0.9689)),
    "tritanopia": ((1.2555, -0.0767, -0.1788), (-0.0784, 0.9308, 0.1476), (0.0047, 0.6914, 0.3039)),
}
"""What of linear red, green and blue is seen (Machado, Oliveira, Fernandes 2009, severity 1)."""
ALIKE = 15.0
"""Colours closer than this in CIELAB are hard to tell apart in a thin line."""
HOSTILE = "<script>alert('1')</script> & `~~~` \""
STEPS = tuple((float(step), 400.0 + step % 7) for step in range(1, 1001))


def seen(colour: str, sight: str) -> tuple[float, float, float]:
    """A colour in CIELAB, as an eye of this kind sees it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    light = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    red, green, blue = (min(1, max(0, sum(map(float.__mul__, row, light)))) for row in SIGHT[sight])
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089
    fx, fy, fz = (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def elements(chart: str, name: str) -> list[ElementTree.Element]:
    return [item for item in ElementTree.fromstring(chart).iter() if item.tag == name]


def drawn_bars(*rows: ConfigurationResult) -> str:
    page = Page(ENGLISH, SiteData(rows), at.HOME)
    return macro("bars", ENGLISH)(pictures.bars(page, rows))


def test_a_bar_is_as_long_as_its_figure_is_high() -> None:
    drawn = drawn_bars(measured("alpha", value=400.0, trials=0), measured("beta", value=100.0, trials=0))
    assert re.findall("--share:([0-9.]+)%", drawn) == ["100", "25"]


def test_a_bar_says_its_name_its_trials_and_its_figure_with_all_digits_in_a_tooltip() -> None:
    drawn = drawn_bars(measured("alpha", value=39972.131))
    assert "alpha n=5 · 0.4 % 39,972" in " ".join(Document(drawn).text.split())
    assert ("a", "title", "39972.131") in Document(drawn).attributes


def test_a_third_party_result_is_hatched_and_not_only_of_another_colour() -> None:
    drawn = drawn_bars(measured("alpha"), published("paddle", 1, 393.5))
    assert [" published" in name for name in re.findall('<li class="([^"]*)"', drawn)] == [False, True]


def test_names_arrive_as_text_on_one_line() -> None:
    line = ChartLine(HOSTILE, ((1.0, 1.0), (2.0, 2.0)), 0)
    chart = plot(Plot(HOSTILE, HOSTILE, HOSTILE, (line, line), (Band(HOSTILE, 1, 2, "measured"),)), ENGLISH)
    assert "\n" not in chart
    assert "`" not in chart
    assert not elements(chart, "script")
    assert any(HOSTILE in (item.text or "") for item in elements(chart, "text"))


def test_without_two_points_there_is_nothing_to_draw() -> None:
    assert plot(Plot("t", "x", "y", (ChartLine("a", ((1.0, 1.0),), 0),)), ENGLISH) == ""


def test_a_long_line_keeps_its_outlier() -> None:
    points = (*STEPS[:500], (500.5, 12.0), *STEPS[500:])
    kept = thinned(points, most=100)
    assert len(kept) <= 100
    assert (500.5, 12.0) in kept
    assert list(kept) == sorted(kept)


@given(st.lists(st.floats(-1e9, 1e9).map(lambda value: round(value, 3)), min_size=1))
def test_every_value_stands_on_its_axis(values: list[float]) -> None:
    axis = linear(values, 0, 100)
    assert all(-1e-6 <= axis(value) <= 100 + 1e-6 for value in values)
    assert 2 <= len(axis.ticks) <= 14


def test_nothing_is_left_empty_behind_the_last_step() -> None:
    axis = linear([10, 120], 0, 100, ends_with_values=True)
    assert (axis(120), axis.ticks) == (100, (0, 50, 100))


def test_the_last_tick_is_drawn_whole() -> None:
    chart = plot(Plot("t", "x", "y", (ChartLine("a", STEPS[:300], 0),)), ENGLISH)
    (last,) = [item for item in elements(chart, "text") if item.text == "300"]
    assert (last.get("x"), last.get("text-anchor")) == ("400", "end")


@pytest.mark.parametrize(("value", "text"), [(20000, "20k"), (8, "8"), (0.5, "0.5"), (2.5e6, "2.5M"), (9500, "9,500")])
def test_ticks_are_short(value: float, text: str) -> None:
    assert tick_text(value) == text


def test_each_family_of_frameworks_has_a_colour_of_its_own_whatever_else_a_site_shows() -> None:
    families = ["jax", "pytorch", "megatron-bridge", "mindspore", "tensorflow-2.x", "mxnet", "paddle", "oneflow"]
    families.append("huggingface")
    assert [colour_number(name) for name in families] == list(range(COLOURS))
    assert colour_number("ngc-pytorch") == colour_number("pytorch-compiled") == colour_number("torchtitan-2025")
    assert series_of(families) == {name: number for number, name in enumerate(families)}
    assert series_of(["pytorch-compiled", "jax", "pytorch"]) == {
        "pytorch-compiled": 1,
        "jax": 0,
        "pytorch": COLOURS + 1,
    }


def test_no_framework_of_the_catalogue_has_its_colour_by_chance() -> None:
    assert [name for name in load_catalog().frameworks if family_number(name) is None] == []


def looks(series: int) -> tuple[str, str, str]:
    """Colour, mark and dash of a series as they are drawn."""
    colour, dash = svg.colour(series).split()
    corners = re.search(r'points="([^"]*)"', draw("mark", 0, 0, series))
    return colour, corners[1] if corners else "circle", dash


@pytest.mark.parametrize("frameworks", [9, 16, 32])
def test_more_frameworks_than_colours_differ_in_mark_and_in_dash_where_their_colour_is_one(frameworks: int) -> None:
    names = {f"f{number:02}" for number in range(frameworks)}
    drawn = [looks(series) for series in series_of(names).values()]
    assert len(set(drawn)) == frameworks
    for one, other in combinations(drawn, 2):
        assert one[0] != other[0] or (one[1] != other[1] and one[2] != other[2])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("sight", SIGHT)
def test_colours_that_look_alike_to_a_colour_blind_reader_have_different_marks(sight: str, scheme: str) -> None:
    colours = [getattr(colour, scheme) for colour in palette()]
    for one, other in combinations(range(COLOURS), 2):
        alike = dist(seen(colours[one], sight), seen(colours[other], sight)) < ALIKE
        assert not alike or looks(one)[1] != looks(other)[1]


def test_a_framework_looks_the_same_on_the_pages_of_both_languages() -> None:
    data = sample()
    assert data.localized(CHINESE).series == data.series
    classes = {
        path: re.findall(r'<li class="(series-[0-9])"[^>]*>\s*<span class="name">(Alpha|Beta)\b', page)
        for language in (ENGLISH, CHINESE)
        for path, page in overview_pages(language, data)
    }
    seen_as = {(name, drawn) for found in classes.values() for drawn, name in found}
    assert {name for name, _ in seen_as} == {"Alpha", "Beta"}
    assert len(seen_as) == 2


def test_the_chart_of_home_shows_our_results_at_each_precision_and_those_of_others_without_caveats() -> None:
    doubtful = replace(published("paddle", 1, 1445.0), findings=(warning("no_log_reproduces"),))
    rows = [measured("alpha", value=900.0, precision="bf16-pure"), measured("alpha", value=700.0, precision="bf16")]
    rows += [measured("beta", value=710.0, precision="bf16"), doubtful, published("paddle", 1, 1438.0)]
    (chart,) = model_charts(Page(ENGLISH, SiteData(tuple(rows)), "index.md"))
    assert sorted(bar.figure.value for _, bars in chart["groups"] for bar in bars) == ["1,438", "700", "710", "900"]


def test_a_padded_result_is_ranked_and_drawn_without_its_padding() -> None:
    padded = replace(measured("alpha", value=1000.0), findings=(warning("padded_tokens"),))
    (chart,) = model_charts(Page(ENGLISH, SiteData((padded, measured("beta", value=950.0))), "index.md"))
    bars = [bar for _, found in chart["groups"] for bar in found]
    assert [bar.figure.value for bar in bars] == ["950", four_digits(1000.0 * (1 - padded.padding))]
    assert ["without padding" in bar.aside for bar in bars] == [False, True]


def test_a_chinese_page_has_chinese_colons_in_its_charts() -> None:
    lines = (ChartLine("编译", ((1.0, 1.0), (2.0, 2.0)), 0),)
    chart = plot(Plot("吞吐", "步", "图/秒", lines), CHINESE)
    assert 'aria-label="吞吐：图/秒、步；编译：1 – 2"' in chart
    assert "<title>编译：1、1</title>" in chart
