"""What the Python API returns shows itself: short in a terminal, a table with a plot in a notebook."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from dlperf import Workspace
from dlperf.view.notebook.shown import Results, Shown
from handmade_trials import measured_campaign, planned, workspace_in


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    found = workspace_in(tmp_path / "w")
    for name, factor in (("a", 1.0), ("<b>", 1.1)):
        rows = [(planned(1), [100.0 * factor, 101.0, 99.0]), (planned(2), [190.0 * factor, 191.0, 189.0])]
        measured_campaign(found, name, rows)
    return Workspace(found.root)


def page_of(shown: Shown) -> ElementTree.Element:
    """Its HTML, which is well-formed."""
    return ElementTree.fromstring(f"<div>{shown._repr_html_()}</div>")


def test_each_kind_is_a_table_and_a_plot(workspace: Workspace):
    plan = workspace.plan(workspace.select(hardware="local", framework="numpy", case="lenet5", gpus=["1n1g", "4n1g"]))
    results, comparison = workspace.rows(campaigns=["a", "<b>"]), workspace.compare("a", "<b>")
    assert "impossible" in repr(plan).splitlines()[0]
    assert repr(results).splitlines()[0] == "4 results"
    assert repr(comparison).splitlines()[0] == "2 pairs"
    for shown, rows in ((results, 4), (comparison, 2)):
        page = page_of(shown)
        bars = page.findall(".//{http://www.w3.org/2000/svg}rect")
        assert (len(page.findall(".//tbody/tr")), len(bars)) == (rows, rows)
        assert max(float(bar.attrib["width"]) for bar in bars) <= 240
        assert "<b>" in "".join(page.itertext())
    assert len(page_of(plan).findall(".//tbody/tr")) == len(plan.configurations) + len(plan.impossible)
    assert max(map(len, repr(comparison).splitlines())) < 300


def test_rich_prints_the_table(workspace: Workspace):
    console = Console(width=200, record=True, file=StringIO())
    console.print(workspace.rows(campaigns="a"))
    assert "100.0" in console.export_text()


def test_nothing_is_said_of_no_results():
    assert repr(Results()) == "0 results"
    assert page_of(Results()).find(".//table") is None
