"""A configuration's section shows what its figure rests on."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from site_rows import measured, published
from site_sample import sample

from dlperf.measure.finding import Finding
from dlperf.report import locations as at
from dlperf.report.data import SiteData
from dlperf.report.evidence import Evidence
from dlperf.report.pages.configurations import configurations
from dlperf.report.pages.trial_evidence import curves
from dlperf.report.text import CHINESE, ENGLISH
from dlperf.results.model import ConfigurationResult
from dlperf.results.timeline import LogLines, Origin, Timeline


def test_a_configuration_shows_what_its_figure_rests_on() -> None:
    row = measured("alpha")
    data = replace(sample(), results=(row,))
    group = at.group_of(row)
    lines = LogLines(("step 21 <401>",), 98, ("step 120 403",), first_line=21)
    evidence = {
        (at.configuration_anchor(row), 1): Evidence(
            "n1", "exec a && b", {"os": "Linux"}, timeline=Timeline(log_lines=lines)
        )
    }
    text = configurations(ENGLISH, data, group, (row,), evidence)
    for part in ("window(20,120)", "exec a &amp;&amp; b", "| os | Linux |", "     21  step 21 &lt;401&gt;", "98 lines"):
        assert part in text


def test_the_lines_that_gave_a_figure_are_marked_among_those_around_them() -> None:
    row = measured("alpha")
    lines = LogLines(("step <21>",), 0, ("step 22",), first_line=21, before=("start",), after=("end",))
    text = configurations(
        ENGLISH, sample(), at.group_of(row), (row,), {_key(row): Evidence("n1", timeline=Timeline(log_lines=lines))}
    )
    assert re.findall(r"<mark>\s+(\d+) {2}(.*?)</mark>", text) == [("21", "step &lt;21&gt;"), ("22", "step 22")]
    assert "     20  start\n" in text
    assert "\n     23  end" in text


def test_a_configuration_shows_its_trials_over_time_with_the_measured_window() -> None:
    row = measured("alpha", trials=1)
    points = tuple((float(step), 400.0) for step in range(1, 151))
    timeline = Timeline(Origin(), points, ((60.0, 400.0),), {"power_watts": ((0.0, 100.0), (1.0, 690.0))})
    text = configurations(ENGLISH, sample(), at.group_of(row), (row,), {_key(row): Evidence("n1", timeline=timeline)})
    for part in ('class="band warm-up"', 'class="band measured"', 'class="outlier"', "Power per GPU, W"):
        assert part in text


def test_a_configuration_gives_the_command_that_measures_it_again() -> None:
    row = measured("alpha", 8)
    text = configurations(ENGLISH, sample(), at.group_of(row), (row,), {})
    assert "dlperf run --hardware box --framework alpha --case resnet50-imagenet --precision fp32" in text
    assert "--batch-size 256 --gpus 1n8g --repeats 5" in text


def _key(row: ConfigurationResult) -> tuple[str, int]:
    return at.configuration_anchor(row), 1


def test_findings_of_trials_stand_with_their_number() -> None:
    row = measured("alpha", trials=2)
    finding = Finding("drift", "the speed falls")
    row = replace(row, trials=(row.trials[0], replace(row.trials[1], findings=(finding,))), findings=(finding,))
    text = configurations(ENGLISH, replace(sample(), results=(row,)), at.group_of(row), (row,), {})
    assert text.count("the speed falls") == 1
    assert "**warning** Trial 2: the speed falls" in text


def test_each_of_two_figures_of_one_configuration_has_an_address_of_its_own() -> None:
    rows = (published("mxnet", 32, 11233.92), published("mxnet", 32, 11331.93, variant=2))
    data = SiteData(rows)
    first, second = map(at.configuration_page, data.ordered)
    assert second == f"{first}-2"
    text = configurations(ENGLISH, data, at.group_of(rows[0]), rows, {})
    assert f"{{ #{at.configuration_anchor(rows[1])} }}" in text


def test_the_curves_of_a_page_are_one_file_with_every_point() -> None:
    row = measured("alpha", trials=1)
    timeline = Timeline(Origin(), ((1.0, 400.0), (2.0, 401.5)), (), {"power_watts": ((0.0, 100.0), (1.0, 690.0))})
    evidence = {_key(row): Evidence("n1", timeline=timeline)}
    told = json.loads(curves(evidence).removeprefix("window.dlperfCurves = ").rstrip(";\n"))
    anchor = at.configuration_anchor(row)
    assert told == {
        f"{anchor}/speed": [[1, [1.0, 2.0], [400.0, 401.5]]],
        f"{anchor}/power_watts": [[1, [0.0, 1.0], [100.0, 690.0]]],
    }
    page = configurations(CHINESE, sample(), at.group_of(row), (row,), evidence)
    assert f'data-curve="{anchor}/speed"' in page
    assert 'data-curves="../../../../data/curves/first/box_alpha_resnet50-imagenet.js"' in page
