"""Charts are pictures of the numbers that they are given."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlperf.report.charts.axis import doubling, linear, tick_text
from dlperf.report.charts.bars import Bar, bars
from dlperf.report.charts.colours import coloured
from dlperf.report.charts.plot import Band, Line, Plot, plot
from dlperf.report.charts.svg import COLOURS
from dlperf.results.timeline import thinned

HOSTILE = "<script>alert('1')</script> & `~~~` \""
STEPS = tuple((float(step), 400.0 + step % 7) for step in range(1, 1001))


def elements(chart: str, name: str) -> list[ElementTree.Element]:
    return [item for item in ElementTree.fromstring(chart).iter() if item.tag == name]


def test_a_bar_is_as_long_as_its_figure_is_high() -> None:
    drawn = elements(bars("t", "images/s", [Bar("a", 400.0, "400", 0), Bar("b", 100.0, "100", 1)]), "rect")
    widths = [float(bar.get("width") or 0) for bar in drawn]
    assert widths[0] == pytest.approx(4 * widths[1], rel=0.01)


def test_a_chart_says_its_figures_to_a_screen_reader() -> None:
    (picture,) = elements(bars("ResNet", "images/s", [Bar("alpha", 400.0, "400.12", 0)]), "svg")
    assert picture.get("role") == "img"
    assert picture.get("aria-label") == "ResNet. alpha: 400.12 images/s"


def test_names_arrive_as_text_on_one_line() -> None:
    line = Line(HOSTILE, ((1.0, 1.0), (2.0, 2.0)), 0)
    charts = (
        bars(HOSTILE, HOSTILE, [Bar(HOSTILE, 1.0, HOSTILE, 3)]),
        plot(Plot(HOSTILE, HOSTILE, HOSTILE, (line, line), (Band(HOSTILE, 1, 2, "measured"),))),
    )
    for chart in charts:
        assert "\n" not in chart
        assert "`" not in chart
        assert not elements(chart, "script")
        assert any(HOSTILE in (item.text or "") for item in elements(chart, "text"))


def test_without_two_points_there_is_nothing_to_draw() -> None:
    assert plot(Plot("t", "x", "y", (Line("a", ((1.0, 1.0),), 0),))) == ""
    assert bars("t", "u", []) == ""


def test_the_ideal_line_is_drawn_where_speed_up_equals_gpus() -> None:
    chart = plot(Plot("t", "GPUs", "speed-up", (Line("a", ((1.0, 1.0), (8.0, 6.0)), 0),), ideal="ideal"))
    (ideal, _) = [item.get("d") or "" for item in elements(chart, "path") if item.get("class") == "ideal"]
    xs = [float(x) for x in re.findall(r"[ML]([0-9.]+),", ideal)]
    assert (min(xs), max(xs)) == (46.0, 390.0)


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


@given(st.lists(st.floats(0.01, 1e6), min_size=1))
def test_every_speed_up_stands_on_its_axis(values: list[float]) -> None:
    axis = doubling(values, 100, 0)
    assert all(-1e-6 <= axis(value) <= 100 + 1e-6 for value in values)


@pytest.mark.parametrize(("value", "text"), [(20000, "20k"), (8, "8"), (0.5, "0.5"), (2.5e6, "2.5M"), (9500, "9500")])
def test_ticks_are_short(value: float, text: str) -> None:
    assert tick_text(value) == text


def test_frameworks_that_meet_in_a_chart_differ_in_colour() -> None:
    meetings = [{f"f{number}" for number in range(COLOURS)}, {"f0", "g"}, {"g", "h"}, {"x"}]
    series = coloured(meetings)
    for names in meetings:
        assert len({series[name] % COLOURS for name in names}) == len(names)
    assert len(set(series.values())) == len(series)
