"""Curves, pictures and log lines of the trials behind a configuration."""

from __future__ import annotations

import json
import re
from pathlib import Path

from site_rows import first_trial, measured
from site_sample import sample

from dlperf.derived.timeline import LogLines, Origin, Timeline
from dlperf.messages import CHINESE, ENGLISH
from dlperf.report.charts.svg import COLOURS, DASHES, style_sheet
from dlperf.report.evidence import TrialEvidence
from dlperf.report.pages.results.configurations import configurations
from dlperf.report.pages.results.evidence import curves, log_lines, pictures
from dlperf.report.site import locations as at

ROOT = Path(__file__).parents[2]
DARK_SCHEME = r'\[data-md-color-scheme="slate"\] '


def test_the_lines_that_gave_a_figure_are_marked_among_those_around_them() -> None:
    row = measured("alpha")
    lines = LogLines(("step <21>", "step 22"), 98, ("step 121",), first_line=21, before=("start",), after=("end",))
    told = log_lines({first_trial(row): TrialEvidence("n1", timeline=Timeline(log_lines=lines))})
    pieces = [
        [0, "     20  start"],
        [1, "     21  step <21>\n     22  step 22"],
        [0, "… 98 …"],
        [1, "    121  step 121"],
        [0, "    122  end"],
    ]
    assert json.loads(told.removeprefix("window.dlperfLines = ").rstrip(";\n")) == {
        at.configuration_anchor(row): [[1, pieces]]
    }


def test_a_configuration_shows_its_trials_over_time_with_the_measured_window() -> None:
    row = measured("alpha", trials=1)
    points = tuple((float(step), 400.0) for step in range(1, 151))
    timeline = Timeline(Origin(), points, ((60.0, 400.0),), {"power_watts": ((0.0, 100.0), (1.0, 690.0))})
    evidence = TrialEvidence("n1", timeline=timeline)
    drawn, shapes = pictures(row, {1: evidence})
    for part in ('class="band warm-up"', 'class="band measured"', 'class="outlier"', 'id="power_watts"'):
        assert part in drawn
    anchor = at.configuration_anchor(row)
    text = configurations(ENGLISH, sample(), at.group_of(row), (row,), {first_trial(row): evidence}, {anchor: shapes})
    for part in (f"{at.pictures(row)}#speed", f"{at.pictures(row)}#power_watts", "Power per GPU, W, by second"):
        assert part in text


def test_the_curves_of_a_page_are_one_file_with_every_point() -> None:
    row = measured("alpha", trials=1)
    timeline = Timeline(Origin(), ((1.0, 400.0), (2.0, 401.5)), (), {"power_watts": ((0.0, 100.0), (1.0, 690.0))})
    evidence = {first_trial(row): TrialEvidence("n1", timeline=timeline)}
    told = json.loads(curves(evidence).removeprefix("window.dlperfCurves = ").rstrip(";\n"))
    anchor = at.configuration_anchor(row)
    assert told == {
        f"{anchor}/speed": [[1, [1.0, 2.0], [400.0, 401.5]]],
        f"{anchor}/power_watts": [[1, [0.0, 1.0], [100.0, 690.0]]],
    }
    _, shapes = pictures(row, {1: evidence[first_trial(row)]})
    page = configurations(CHINESE, sample(), at.group_of(row), (row,), evidence, {anchor: shapes})
    assert f'data-curve="{anchor}/speed"' in page
    assert 'data-curves="../../../../data/curves/first/box_alpha_resnet50-imagenet.js"' in page


def test_a_picture_in_a_file_has_the_colours_of_the_page() -> None:
    told = [
        re.findall(rf"(?m)^{scheme}\.series-[0-9] {{ --series: (.*); }}", style_sheet()) for scheme in ("", DARK_SCHEME)
    ]
    drawn, _ = pictures(measured(), {1: TrialEvidence("n1", timeline=Timeline(Origin(), ((1.0, 400.0), (2.0, 401.5))))})
    assert re.findall(r"\.series-[0-9]{--series:(#[0-9a-f]+)}", drawn) == [*told[0], *told[1]]
    assert len(told[0]) == len(told[1]) == COLOURS


def test_trials_can_be_told_apart_without_colour() -> None:
    timeline = Timeline(Origin(), tuple((float(step), 400.0) for step in range(100)))
    drawn, _ = pictures(measured(), {number: TrialEvidence("n1", timeline=timeline) for number in range(1, 9)})
    lines = re.findall(r'class="line series-[0-9] (dash-[0-9])"', drawn)
    assert len(lines) == 2 * 8  # a curve, and a piece of it in the legend
    assert len(set(lines)) == 8
    style = (ROOT / "site/theme/assets/stylesheets/dlperf.css").read_text()
    assert tuple(re.findall(r"(?m)^\.dash-[0-9] {\n  --dash: (.*);", style)) == DASHES
    assert all(f".dash-{number}{{--dash:{dash}}}" in drawn for number, dash in enumerate(DASHES))
