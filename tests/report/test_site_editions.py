"""Editions stay as they are, and addresses that were linked to lead somewhere."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from html_text import Document
from site_rows import measured
from site_sample import pages, sample

from dlperf.errors import RequestError
from dlperf.messages import CHINESE
from dlperf.report.files.editions import add_kept, editions, keep_edition, refuse_edition
from dlperf.report.pages.history import history
from dlperf.report.pages.results.configurations import configurations
from dlperf.report.site import locations as at
from dlperf.runs.paths import WorkspacePaths

REPORT = at.report_page("published/perf", "resnet50-imagenet").replace(".md", ".html")


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspacePaths:
    return WorkspacePaths(tmp_path)


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A small site as built."""
    site = tmp_path / "html"
    for name in ("index.html", REPORT, "zh/index.html"):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(f"<body dir='ltr'><h1>{name} of today</h1></body>")
    (site / "data").mkdir()
    (site / "data/results.csv").write_text("value\n400\n")
    return site


def test_an_edition_outlives_later_builds(workspace: WorkspacePaths, built: Path) -> None:
    keep_edition(workspace, built, "2026-11")
    later = workspace.root / "later"
    shutil.copytree(built, later, ignore=shutil.ignore_patterns("editions"))
    (later / "data/results.csv").write_text("value\n500\n")
    assert add_kept(workspace, later) == []
    for site in (built, later):
        assert (site / "editions/2026-11/data/results.csv").read_text() == "value\n400\n"
        text = (site / "editions/2026-11" / REPORT).read_text()
        (current,) = Document(text).links
        assert "Edition 2026-11" in text
        assert (site / "editions/2026-11" / REPORT).parent.joinpath(current).resolve() == (site / REPORT).resolve()
    assert "存档版本 2026-11" in (built / "editions/2026-11/zh/index.html").read_text()
    assert "Edition" not in (built / REPORT).read_text()


def test_an_edition_is_made_once_under_a_name_for_a_folder(workspace: WorkspacePaths, built: Path) -> None:
    keep_edition(workspace, built, "2026-11")
    with pytest.raises(RequestError, match="does not change"):
        refuse_edition(workspace, "2026-11")
    with pytest.raises(RequestError, match="letters, digits"):
        refuse_edition(workspace, "../x")


def test_an_edition_leads_to_the_others_and_holds_none_of_them(workspace: WorkspacePaths, built: Path) -> None:
    for name in ("2026-10", "2026-11"):
        keep_edition(workspace, built, name)
    assert editions(workspace) == ("2026-11", "2026-10")
    page = built / "editions/2026-11/editions/2026-10/zh/index.html"
    address = Document(page.read_text()).links[-1]
    assert page.parent.joinpath(address).resolve() == (built / "editions/2026-10/zh/index.html").resolve()
    assert [path.name for path in page.parent.iterdir()] == ["index.html"]


def test_editions_are_listed_and_cited() -> None:
    row = measured("alpha")
    data = replace(sample(), results=(row,), address="https://e.org/", edition="2026-11", editions=("2026-11",))
    assert 'href="../../editions/2026-11/zh/index.html"' in history(CHINESE, data)
    page = configurations(CHINESE, data, at.group_of(row), (row,), {})
    assert "https://e.org/editions/2026-11/zh/results/configurations/" in page


def test_a_page_that_moved_is_found_at_its_old_address(workspace: WorkspacePaths, built: Path) -> None:
    workspace.site.mkdir(parents=True)
    lines = ["# old new", "", "old/a.html index.html#new", "b.html gone.html", "index.html zh/index.html", "one"]
    lines += ["a\0b.html index.html", f"{'x' * 300}.html index.html", "index.html/a.html index.html"]
    (workspace.site / "redirects.txt").write_text("\n".join(lines))
    problems = add_kept(workspace, built)
    assert [problem.partition("redirects.txt:")[2][:1] for problem in problems] == list("456789")
    assert 'content="0; url=../index.html#new"' in (built / "old/a.html").read_text()
    assert "of today" in (built / "index.html").read_text()


def test_anchors_stay_when_results_are_added() -> None:
    anchors = re.compile(r"\{ #([^ }]+)|\bid=\"([^\"]+)\"")
    before = pages(sample())
    after = pages(replace(sample(), results=(measured("gamma", 4), *sample().results)))
    for path, text in before.items():
        assert set(anchors.findall(text)) <= set(anchors.findall(after[path])), path


def test_no_anchor_is_a_number_that_depends_on_other_headings(site: Path) -> None:
    for page in site.rglob("results/**/*.html"):
        headings = re.findall(r'<h[1-6] id="([^"]*)"', page.read_text())
        assert [name for name in headings if re.search(r"(?:^|_)[0-9]+$", name)] == [], page
