"""Results of a program that a later one replaced: left out of default charts, and marked wherever they stand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from site_browser import Watched, needs_browser
from site_rows import measured
from site_sample import campaign, sample

from claimable import of_trials
from dlperf.messages import ENGLISH
from dlperf.report.data import SiteData
from dlperf.report.pages.explorer import explorer_data
from dlperf.report.pages.page import Page
from dlperf.table.model import ConfigurationResult

pytestmark = needs_browser


def ran(name: str, value: float, program: str, framework: str = "alpha", **other: object) -> ConfigurationResult:
    row = measured(framework, value=value, campaign=name, hardware="h100", **other)
    return of_trials(row, conditions={"programs.train.py": program, "gpu.uuid": name})


def site_of(*rows: ConfigurationResult) -> SiteData:
    """A site on which each campaign began a day after the one before."""
    days = {row.campaign: f"2026-01-{day:02}T00:00:00Z" for day, row in enumerate(rows, 1)}
    records = {row.campaign: replace(campaign([row]), created=days[row.campaign]) for row in rows}
    return replace(sample(), results=rows, campaigns=records)


OLD = ran("old", 480.0, "before", axes=(("layers", "looped"),))
NEW = ran("new", 520.0, "after", axes=(("layers", "unrolled"),), tuning="tuned")
STOCK = ran("stock", 510.0, "after", framework="alpha-stock", tuning="stock")


def test_a_result_is_of_an_earlier_program_where_the_best_is_of_a_later_other_one() -> None:
    data = site_of(OLD, NEW, STOCK)
    assert [data.is_earlier(row) for row in data.results] == [True, False, False]
    page = Page(ENGLISH, data, "index.md")
    assert [page.program_link(row).aside for row in data.results] == ["earlier program", "tuned", ""]


def test_other_settings_of_the_same_program_and_later_results_are_of_no_earlier_one() -> None:
    same = ran("old", 480.0, "after", axes=(("layers", "looped"),))
    assert not any(map(site_of(same, NEW).is_earlier, (same, NEW)))
    weaker = ran("weak", 300.0, "afterwards", trials=1)
    assert not any(map(site_of(NEW, weaker).is_earlier, (NEW, weaker)))


def test_a_program_is_replaced_on_its_own_work_alone() -> None:
    others = ({"batch_size": 512}, {"precision": "amp"}, {"gpus": 2}, {"axes": (("sequence_length", 4096),)})
    for other in others:
        apart = replace(NEW, **other)
        assert not site_of(OLD, apart).is_earlier(OLD), other


def test_the_chart_of_compare_has_the_best_of_each_program_and_on_request_all(watched: Watched, site: Path) -> None:
    page, script = watched.page, explorer_data(ENGLISH, site_of(OLD, NEW, STOCK))
    page.route("**/figures.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))
    page.goto((site / "results/explorer.html").as_uri())
    bars = page.locator(".explorer-chart .bars li")
    values = bars.locator(".value a")
    values.nth(1).wait_for()
    assert values.all_inner_texts() == ["520", "510"]
    page.get_by_label("Bars").select_option("all")
    values.nth(2).wait_for()
    assert values.all_inner_texts() == ["520", "510", "480"]
    said = bars.locator("small").all_inner_texts()
    assert "tuned" in said[0]
    assert "earlier program" in said[2]
    assert len({f"{bar}" for bar in bars.locator(".name").all_inner_texts()}) == 3
    page.reload()
    values.nth(2).wait_for()  # the address keeps it
    assert watched.errors == []
