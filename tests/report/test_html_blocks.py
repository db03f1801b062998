"""Blocks of HTML on pages, which Markdown does not parse."""

from __future__ import annotations

import pytest
from markdown import markdown

from dlperf.report.site.html_blocks import HtmlBlocks

TABLE = '<div class="rows">\n<div>\n\n<table><tr><td>*1*</td></tr></table>\n\n</div>\n</div>'


def converted(text: str, *extensions: object) -> list[str]:
    """Return the lines of a page that are not blank."""
    html = markdown(text, extensions=["pymdownx.superfences", *extensions])  # type: ignore[list-item]
    return [line.strip() for line in html.splitlines() if line.strip()]


@pytest.mark.parametrize(
    "text",
    [
        f"# Title\n\n{TABLE}\n\nSome *text*.\n\n{TABLE}",
        f"{TABLE}\n{TABLE}",
        f"<ul>\n{TABLE}\n</ul>",
        f"text before\n{TABLE}\ntext after",
        f"```html\n{TABLE}\n```",
        f"    {TABLE}",
        "<details><summary>*open*</summary>\n\n<p>*text*</p></details>",
        '<div id="target">*text*</div>',
        "<div>never *closed*\n\ntext",
        "<divide> is *no block*",
    ],
)
def test_a_page_looks_as_markdown_renders_it(text):
    assert converted(text, HtmlBlocks()) == converted(text)


def test_markdown_in_html_is_still_rendered():
    text = '<div markdown="1">\n*text*\n</div>'

    assert "<em>text</em>" in "".join(converted(text, "md_in_html", HtmlBlocks()))


def test_only_blocks_with_link_targets_are_left_to_mkdocs(monkeypatch):
    read = []
    parse = "markdown.preprocessors.HtmlBlockPreprocessor.run"
    monkeypatch.setattr(parse, lambda _, lines: read.extend(lines) or lines)

    markdown(f'{TABLE}\n\n<div id="target">text</div>', extensions=[HtmlBlocks()])

    assert [line for line in read if "<" in line] == ['<div id="target">text</div>']
