"""The chart of the home page under its filters, in a real browser."""

from __future__ import annotations

import pytest
from site_browser import Watched, needs_browser

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect
pytestmark = [*needs_browser, pytest.mark.parametrize("address", ["folder"], indirect=True)]

UNDER_EACH_FILTER = """() => {
    const { data, of, gpusOf, measure, distinct } = dlperf, found = [];
    const figure = document.querySelector(".overview figure"), form = figure.querySelector("form");
    const valuesOf = select => [...select.options].map(option => option.value);
    const choose = (select, value) => {
        select.value = value;
        select.dispatchEvent(new Event("change", { bubbles: true }));
    };
    const drawn = () => [...figure.querySelectorAll(".groups section")].flatMap(section =>
        [...section.querySelectorAll(".name")].map(name =>
            [section.querySelector("h2").innerText, name.firstChild.data.trim()].join(" · ")));
    const matches = row => of(row, "case") === form.case.value && of(row, "newest") && of(row, "training") &&
        measure(row, form.metric.value) &&
        (!form.precision.value || of(row, "precision") === form.precision.value) &&
        (!form.scale.value || gpusOf(row) === Number(form.scale.value));
    const known = () => data.rows.filter(matches).map(row => [of(row, "chip"), of(row, "framework")].join(" · "));
    data.names.family = data.names.family.map(() => "one");
    for (const precision of valuesOf(form.precision)) {
        choose(form.scale, "");
        choose(form.precision, precision);
        for (const scale of valuesOf(form.scale)) {
            choose(form.scale, scale);
            if (precision || scale) found.push([distinct(drawn()).sort(), distinct(known()).sort()]);
        }
    }
    return found;
}"""
"""With all frameworks as one family: of each filter, the programs that are drawn, and those with a result under it."""


def open_home(watched: Watched, address: str) -> None:
    """Load the page until its first chart can be turned: Playwright takes a disabled fieldset itself for enabled."""
    watched.page.goto(address + "index.html")
    expect(watched.page.locator(".overview fieldset").first).not_to_have_attribute("disabled", "")


def test_under_a_filter_a_program_is_drawn_if_and_only_if_it_has_a_result(watched: Watched, address: str) -> None:
    open_home(watched, address)
    found = watched.page.evaluate(UNDER_EACH_FILTER)
    assert max(len(known) for _, known in found) > 1
    assert [drawn for drawn, _ in found] == [known for _, known in found]


PAD_THE_FIRST = """() => {
    const { data, at, of } = dlperf, form = document.querySelector(".overview form");
    const redraw = () => form.precision.dispatchEvent(new Event("change", { bubbles: true }));
    const first = () => form.closest("figure").querySelector(".bars li");
    const read = () => [first().querySelector(".name").innerText, first().querySelector(".value a").title];
    redraw();
    const before = read(), address = first().querySelector(".value a").href;
    data.rows.filter(row => address.endsWith(dlperf.addressOf(row).split("/").pop()))
        .forEach(row => { row[at.padding] = 0.001; });
    redraw();
    return [before, read()];
}"""
"""Name and value of the first bar, and the same once a thousandth of the value counts padding."""


def test_a_bar_leaves_out_padding_and_says_so(watched: Watched, address: str) -> None:
    open_home(watched, address)
    (name, value), (padded, unpadded) = watched.page.evaluate(PAD_THE_FIRST)
    assert "without padding" not in name
    assert padded.endswith("without padding")
    assert float(unpadded) == pytest.approx(float(value) * 0.999)
