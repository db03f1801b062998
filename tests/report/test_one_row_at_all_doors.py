"""A row says the same as JSON, CSV and data frame, on the site and in the terminal."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from io import StringIO
from operator import itemgetter

from hypothesis import given, settings
from hypothesis import strategies as st
from site_rows import measured

from dlperf.app.model.results.table import ResultsView, about_result, number_of_evidence
from dlperf.cli.results import _cells
from dlperf.messages import ENGLISH
from dlperf.messages.finding import error
from dlperf.report import figures
from dlperf.report.data import SiteData
from dlperf.report.files.downloads import results_json, site_rows
from dlperf.report.pages.reports.report import report
from dlperf.table.columns import csv_text, flat_columns
from dlperf.table.frame import results_frame
from dlperf.table.model import ConfigurationResult

NUMBERS = ("value", "spread", "n", "mfu", "samples_per_joule", "batch_size", "nodes", "gpus")
TEXTS = ("campaign", "hardware", "framework", "case", "precision", "unit", "metric", "protocol", "date", "status")
SHARE = st.none() | st.floats(0, 1)


@st.composite
def rows(draw: st.DrawFn) -> ConfigurationResult:
    return replace(
        measured(
            unit=draw(st.sampled_from(["images/s", "tokens/s", "s"])), date=draw(st.sampled_from(["", "2026-01"]))
        ),
        value=draw(st.floats(1e-6, 1e12)),
        spread=draw(SHARE),
        mfu=draw(SHARE),
        n=draw(st.integers(1, 99)),
        samples_per_joule=draw(st.none() | st.floats(1e-3, 1e6)),
        batch_size=draw(st.integers(1, 4096)),
        nodes=draw(st.integers(1, 64)),
        gpus=draw(st.integers(1, 8)),
        speedup=draw(st.none() | st.floats(0.5, 512)),
    )


@settings(max_examples=25, deadline=None)
@given(rows())
def test_a_row_is_the_same_as_json_csv_and_frame(row: ConfigurationResult) -> None:
    stored = json.loads(json.dumps(row.as_data(), default=str))
    on_site = json.loads(results_json(site_rows(SiteData([row]), [row])))["results"][0]
    (in_csv,) = csv.DictReader(StringIO(csv_text(flat_columns([row]))))
    (in_frame,) = results_frame([row]).to_dict("records")
    for name in NUMBERS:
        expected = getattr(row, name)
        assert stored[name] == on_site[name] == expected
        assert (float(in_csv[name]) if in_csv[name] else None) == expected
        assert (in_frame[name] == expected) if expected is not None else in_frame[name] != in_frame[name]
    for name in TEXTS:
        assert str(stored[name]) == str(on_site[name]) == in_csv[name] == in_frame[name] == str(getattr(row, name))
    assert stored["configuration"] == on_site["configuration"] == in_csv["configuration"] == row.id


@settings(max_examples=25, deadline=None)
@given(rows())
def test_page_and_terminal_show_one_value_spread_and_mfu(row: ConfigurationResult) -> None:
    view = ResultsView(rows=(row,), short_units=False)
    cells = dict(zip((column.title for column in view.columns()), view.cells(row).cells, strict=True))
    shown, unit = cells["figure"].removesuffix(" †").split()
    on_page = float(figures.value_text(row).replace(",", ""))
    assert float(shown.replace(",", "")) == on_page
    assert unit == row.unit
    printed, gain = itemgetter(9, 13)(_cells(row))
    gain_on_page = figures.figure(ENGLISH, "index.md", row, scaling=True).below.partition(" ")[0]
    assert float(printed.replace(",", "")) == on_page
    assert (gain or "-") == (gain_on_page or "-") == cells["speed-up"]
    assert cells["spread"] == (figures.spread(row.spread) or "-")
    assert cells["MFU"] == (figures.percent(row.mfu) or "-")
    assert cells["n"] == str(row.n)
    assert figures.figure(ENGLISH, "index.md", row).full == figures.full_text(row)


def test_a_trial_that_does_not_count_is_in_no_run_loss_clock_or_list_of_values() -> None:
    rows = [measured("alpha", value=100.0, trials=3), measured("beta", value=90.0, trials=3)]
    first, *others = rows[0].trials
    odd = replace(first, value=654.0, sm_clock_mhz=321.0, losses=((10, 9.87),), findings=(error("uncounted"),))
    alpha = [replace(trial, sm_clock_mhz=1980.0, losses=((10, 5.43),)) for trial in others]
    beta = [replace(trial, sm_clock_mhz=1755.0, losses=((10, 6.12),)) for trial in rows[1].trials]
    rows = [replace(row, trials=tuple(trials)) for row, trials in zip(rows, ([odd, *alpha], beta), strict=True)]
    page = report(ENGLISH, SiteData(tuple(rows)), "measured/dlperf-v1", "resnet50-imagenet", rows)
    in_terminal = " ".join(about_result(rows[0]))
    assert all(shown in page for shown in ("<td>1,980 MHz</td>", "<td>5.43</td>"))
    assert not any(shown in page + in_terminal for shown in ("654", "321", "9.87"))
    assert number_of_evidence(replace(rows[0], value=654.0)) != odd.number
