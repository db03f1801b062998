"""A page is changed by editing its template, as CONTRIBUTING.md says."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from site_sample import make_workspace, pages, sample

from dlperf.errors import DlperfError
from dlperf.messages import ENGLISH
from dlperf.report.load import load_site_data
from dlperf.report.site import locations as at
from dlperf.report.templating import TEMPLATES, render

ROOT = Path(__file__).parents[2]
TEMPLATE = "report.md.j2"
REPORT = at.report_page("measured/dlperf-v1", "resnet50-imagenet")


def documented_lines() -> list[str]:
    """The lines of templates that CONTRIBUTING.md shows."""
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("## Change a page\n")[2].partition("\n## ")[0]
    return re.findall("^    ({% .* %})$", section, re.MULTILINE)


def headings(folder: Path, template: str) -> list[str]:
    """The headings of a report whose template a workspace has replaced."""
    (folder / TEMPLATE).write_text(template)
    text = pages(replace(sample(), templates=folder))[REPORT]
    return re.findall(r"^## (.*?) {", text, re.MULTILINE)


def test_a_heading_is_reworded_in_the_template_alone(tmp_path: Path) -> None:
    template = (TEMPLATES / TEMPLATE).read_text()
    before, after, *_ = documented_lines()
    assert template.count(before) == 1
    assert "What differs between the frameworks" in headings(tmp_path, template.replace(before, after))


def test_two_sections_are_swapped_in_the_template_alone(tmp_path: Path) -> None:
    template = (TEMPLATES / TEMPLATE).read_text()
    _, _, moved, target = documented_lines()
    end = "{% endcall %}\n"
    block = moved + template.partition(moved)[2].partition(end)[0] + end
    assert template.count(block) == template.count(target) == 1
    changed = headings(tmp_path, template.replace(block, "").replace(target, f"{block}\n{target}"))
    assert changed[3:5] == ["Logs and sources", "How to reproduce"]


def test_the_templates_of_a_workspace_come_first(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, sample())
    assert load_site_data(workspace).templates is None, "without any, pages need no sandbox"
    own = workspace.site / "templates"
    own.mkdir()
    (own / TEMPLATE).write_text("")
    assert load_site_data(workspace).templates == own


@pytest.mark.parametrize(
    ("mistake", "complaint"),
    [
        ("{{ report.titel }}", "has no attribute 'titel'"),
        ("{% call section( %}", "unexpected"),
        ("{% if %}", "Expected"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ 1 + 'a' }}", "unsupported operand"),
        ("{% include 'page.md.j2' %}", "maximum recursion depth"),
        ("{% for number in range(10 ** 9) %}x{% endfor %}", "Range too big"),
        ("{{ 9 ** (9 ** 9) }}", "a power of more than 4096 bits"),
        ("{{ 'x' * 10 ** 12 }}", "needs more than 1024 MiB"),
        ("{{ 'x' * 2 ** 31 }}", "needs more than 1024 MiB"),
        (
            "{% set all = namespace(x='x') %}{% for n in range(90) %}{% set all.x = all.x ~ all.x %}{% endfor %}",
            "needs more",
        ),
    ],
)
def test_a_mistake_in_a_template_is_named_by_file_and_line(tmp_path: Path, mistake: str, complaint: str) -> None:
    (tmp_path / "page.md.j2").write_text(f"# Title\n\n{mistake}\n")
    with pytest.raises(DlperfError, match=f"page.md.j2:3: .*{complaint}"):
        render("page.md.j2", ENGLISH, tmp_path, report=sample())


@pytest.mark.parametrize("expression", ["(" * 3000 + "1" + ")" * 3000, "[" * 150 + "]" * 150, "1+" * 40000 + "1"])
def test_an_expression_that_is_nested_too_deeply_is_one_line_with_the_template(tmp_path: Path, expression: str):
    (tmp_path / "page.md.j2").write_text(f"{{{{ {expression} }}}}")
    with pytest.raises(DlperfError, match=r"page.md.j2: (maximum recursion depth|.*nested too deeply)"):
        render("page.md.j2", ENGLISH, tmp_path)


def test_a_precision_and_a_gpu_stay_on_one_line_in_a_table() -> None:
    text = pages(sample())[at.HARDWARE]
    assert 'Tesla <span class="whole">V100-SXM2-32GB</span></td>' in text
