"""Whatever is data arrives in the browser as text."""

from __future__ import annotations

import re
from pathlib import Path

import markdown as python_markdown
import pytest
import yaml
from html_text import Document, rows_of
from hypothesis import example, given
from hypothesis import strategies as st
from mkdocs.utils.yaml import yaml_load

from dlperf.messages import CHINESE, ENGLISH
from dlperf.report import markdown as md
from dlperf.report.site.settings import CONFIGURATION
from dlperf.report.templating import Safe, macro, render
from dlperf.report.views import ColumnView, FigureView, Prose, TableView, filled

NASTY = [
    "<script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</code></pre><img src=x onerror=alert(1)>",
    "a | b | c",
    "*a* **b** _c_ `d` ~~e~~",
    "[link](javascript:alert(1))",
    "![image](http://example.org/x.png)",
    "&lt;b&gt; &amp; &#60;",
    "{ #id .class onclick=alert(1) }",
    "1. one",
    "12) one",
    "- one",
    "+ one",
    "---",
    "# heading",
    "```\nfence\n```",
    "~~~\nfence\n~~~",
    "    indented",
    "--8<-- 'file'",
    "{{ 1 + 1 }} {% raw %}",
    "\\<b\\>",
    "http://example.org/<b>",
    "<!-- comment",
    "a\u0002wzxhzdk:0\u0003b",
    "tab\tand\r\nreturn",
    "\"quoted\" 'single'",
    ":::note",
    "===",
    "[TOC]",
    "[^1]",
    "<http://example.org>",
]


def _configured() -> python_markdown.Markdown:
    """Markdown with the extensions of the site."""
    extensions = yaml_load((CONFIGURATION / "base.yml").read_text("utf-8"))["markdown_extensions"]
    names = [item if isinstance(item, str) else next(iter(item)) for item in extensions]
    settings = {next(iter(item)): next(iter(item.values())) for item in extensions if isinstance(item, dict)}
    return python_markdown.Markdown(extensions=[*names, "fenced_code"], extension_configs=settings)


MARKDOWN = _configured()
block, breakable, lines, source, web = (
    macro(name, ENGLISH) for name in ("block", "breakable", "lines", "source", "web")
)


def rendered(source: str) -> Document:
    return Document(MARKDOWN.reset().convert(source))


def words(text: str) -> list[str]:
    return md.FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text).split()


@given(st.text())
@example("")
def test_inline_data_is_text(value: str) -> None:
    document = rendered(f"before {md.text(value)} after")
    assert document.text.split() == ["before", *words(value), "after"]
    assert document.elements == ["p"]


@given(st.text(min_size=1).filter(words))
def test_data_at_the_start_of_a_line_is_text(value: str) -> None:
    document = rendered(md.text(value))
    assert document.text.split() == words(value)
    assert document.elements == ["p"]


@given(st.text() | st.text("ab `*<&").map("run `{}`".format))
@example("an `empty `` pair`")
def test_code_in_texts_for_people_is_set_as_code_and_all_else_is_text(value: str) -> None:
    document = rendered(f"before {Safe.escape(Prose(value))} after")
    assert document.text.split() == ["before", *words(md.unmarked(value)), "after"]
    assert document.elements == ["p", *["code"] * len(md.CODE.findall(value))]


@given(st.lists(st.text().filter(words), min_size=1, max_size=3))
def test_data_in_table_cells_is_text_in_its_own_cell(values: list[str]) -> None:
    table = macro("grid", ENGLISH)(TableView((ColumnView("a"),) * len(values), (tuple(values),)))
    document = rendered(table)
    assert document.elements.count("td") == len(values)
    assert set(document.elements) == {"table", "thead", "tbody", "tr", "th", "td"}
    head, body = rows_of(MARKDOWN.reset().convert(table))
    assert head == ["a"] * len(values)
    assert [cell.split() for cell in body] == [words(value) for value in values]


@given(st.text() | st.sampled_from(["-A", "--batch-size 256 --amp", "<b> --option=<i>"]))
@pytest.mark.parametrize("kind", ["block", "details"])
def test_data_in_blocks_is_text_line_by_line(kind: str, value: str) -> None:
    made = block(value) if kind == "block" else macro("folded", ENGLISH)("summary", value)
    document = rendered(f"before\n\n{made}\n\nafter *emphasis*")
    assert document.text.split() == [
        "before",
        *(["summary"] if kind == "details" else []),
        *words(value),
        "after",
        "emphasis",
    ]
    of_options = {"span"} if kind == "block" else set()
    assert set(document.elements) <= {"p", "pre", "code", "details", "summary", "em"} | of_options


@pytest.mark.parametrize("value", NASTY)
def test_what_markup_could_act_on_is_text_everywhere(value: str) -> None:
    test_inline_data_is_text.hypothesis.inner_test(value)
    test_data_at_the_start_of_a_line_is_text.hypothesis.inner_test(value)
    test_data_in_table_cells_is_text_in_its_own_cell.hypothesis.inner_test([value, value])
    test_data_in_blocks_is_text_line_by_line.hypothesis.inner_test("block", value)
    test_data_in_blocks_is_text_line_by_line.hypothesis.inner_test("details", value)


@given(st.text())
def test_a_title_is_one_quoted_line_of_escaped_html(title: str) -> None:
    quoted = md.quoted(title)
    meta = yaml.safe_load(f"title: {quoted}")["title"]
    assert "\n" not in quoted
    assert not re.search("[<>]", meta)
    assert Document(meta).text.split() == words(title)


@pytest.mark.parametrize("value", ["javascript:alert(1)", "data:text/html,x", "https://a b", "ftp://x", "//x"])
def test_only_a_web_address_becomes_a_link(value: str) -> None:
    assert rendered(web(value)).links == []


@given(st.text())
def test_a_web_address_cannot_leave_its_attribute(value: str) -> None:
    document = rendered("see " + web(f"https://example.org/{value}"))
    assert set(document.elements) <= {"p", "a", "wbr"}
    assert {name for _, name, _ in document.attributes} <= {"href"}
    assert all(link.startswith("https://example.org/") for link in document.links)


def test_a_source_in_a_repository_becomes_a_link_to_the_file() -> None:
    document = rendered(source("owner/name@e7a07c4:a/b_c.txt"))
    assert document.links == ["https://github.com/owner/name/blob/e7a07c4/a/b_c.txt"]
    assert document.text == "owner/name@e7a07c4:a/b_c.txt"
    assert rendered(source("draft of owner/name:README.md")).links == []


@given(st.text())
def test_a_source_cannot_leave_its_attribute(value: str) -> None:
    document = rendered("see " + source(f"owner/name@e7a07c4:{value}"))
    assert set(document.elements) <= {"p", "a", "wbr"}
    assert {name for _, name, _ in document.attributes} <= {"href"}


def test_a_source_with_a_note_links_to_the_source_and_keeps_the_note() -> None:
    html = source("o/r@0123abc:logs/ (5-6 <runs> per case)", brief=True)
    assert html.startswith('<a href="https://github.com/o/r/blob/0123abc/logs/"')
    assert html.endswith(">logs</a> (5-6 &#60;runs&#62; per case)")


def test_a_brief_link_to_a_source_is_called_like_the_file_and_keeps_the_rest_in_its_title() -> None:
    link = source("owner/repository@e7a07c4:a-folder/logs/run_1.txt", brief=True)
    document = Document(link)
    assert document.text == "run_1.txt"
    assert ("a", "title", "owner/repository@e7a07c4:a-folder/logs/run_1.txt") in document.attributes
    assert source("no log", brief=True) == "no log"


def test_a_long_word_may_go_on_in_the_next_line_and_reads_the_same() -> None:
    image = "paddlepaddle/paddle-benchmark:2.5.0-cuda11.2@5bb2e8c339cad16136e310d5c5a0285f20383470"
    document = rendered(breakable(f"{image} on 8 GPUs"))
    assert document.text == f"{image} on 8 GPUs"
    assert max(map(len, re.split("<wbr>| ", breakable(image)))) <= 20
    assert "<wbr>" not in breakable("a-short/name and-another")


def test_a_command_is_broken_between_its_words_and_a_matrix_nowhere() -> None:
    document = rendered(block("run --batch-size 8 a--b"))
    assert document.text.strip() == "run --batch-size 8 a--b"
    assert '<span class="option">--batch-size</span> 8 a--b' in block("run --batch-size 8 a--b")
    assert lines("GPU0 --x") == '<pre class="lines" lang="en"><code tabindex="0">GPU0 --x</code></pre>'


def test_columns_of_figures_are_set_to_the_right() -> None:
    table = TableView(
        (ColumnView("name"), ColumnView("figure", number=True)), (("alpha", FigureView("393.5", "x.html")),)
    )
    right = [(tag, value) for tag, name, value in Document(macro("grid", ENGLISH)(table)).attributes if name == "style"]
    assert right == [("th", "text-align: right;"), ("td", "text-align: right;")]


def test_a_column_that_says_nothing_is_left_out() -> None:
    columns = [ColumnView(name) for name in "abc"]
    assert filled(columns, [["x", "", "1"], ["y", "", ""]]).columns == (ColumnView("a"), ColumnView("c"))
    assert filled(columns[:1], [[""]]).columns == ()


@pytest.fixture(scope="module")
def folder_of_templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("templates")
    source = '{{ value }}\n\n## {{ value }} { #anchor }\n\n<p title="{{ value }}">{{ value }}</p>\n'
    (folder / "page.md.j2").write_text(source)
    return folder


@given(value=st.text().filter(words))
@example(value='"><b title="')
def test_whatever_a_template_prints_is_text_in_markdown_and_in_html(folder_of_templates: Path, value: str) -> None:
    document = rendered(render("page.md.j2", ENGLISH, folder_of_templates, value=value))
    assert document.text.replace("¶", "").split() == words(value.replace("¶", "")) * 3
    assert document.elements == ["p", "h2", "a", "p"]
    assert [name for tag, name, _ in document.attributes if tag == "p"] == ["title"]


@given(st.text().filter(words))
def test_what_is_put_into_a_translated_text_stays_text(value: str) -> None:
    text = macro("same_in_rows", CHINESE)(TableView((), (), ((ColumnView(value), value),)))
    assert rendered(text).elements == ["p"]
    assert "".join(rendered(text).text.split()) == f"所有行：{'为'.join(2 * [''.join(words(value))])}。"


def test_the_template_turns_on_no_extension_that_these_tests_do_not_know() -> None:
    settings = (CONFIGURATION / "base.yml").read_text("utf-8")
    names = re.findall(r"^  - ([\w.]+)", settings.split("markdown_extensions:")[1], re.M)
    assert names[:5] == ["attr_list", "tables", "toc", "pymdownx.superfences", "dlperf.report.site.html_blocks"]
