"""What the search of the site finds: its index is cut into Chinese words, and written in few letters."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from dlperf.report.files.search import CUT, JOINER, WORDS, segment_index, segment_words
from dlperf.report.site.unsearched import on_page_content, on_page_context


def test_a_listed_word_is_cut_out_of_a_longer_run() -> None:
    assert segment_words("自动混合精度").split(CUT) == ["自动", "混合", "精度"]
    assert segment_words("所需天数以及最便宜的").split(CUT) == ["所需", "天数", "以及", "最便宜", "的"]
    assert segment_words("的训练吞吐率（单卡）").split(CUT) == ["的", "训练", "吞吐率（单卡）"]
    assert segment_words("BERT 训练 of 8 GPUs") == "BERT 训练 of 8 GPUs"


@given(st.lists(st.sampled_from([*sorted(WORDS), "的", "与", "<p>", " ", "H200"])).map("".join))
def test_cutting_changes_nothing_that_is_seen_and_is_done_once(text: str) -> None:
    cut = segment_words(text)
    assert cut.replace(CUT, "").replace(JOINER, "") == text
    assert CUT * 2 not in cut


def test_the_beginning_of_a_listed_word_is_no_word_of_its_own() -> None:
    """Else who types 测试方法 is led to whatever begins with 测试."""
    assert segment_words("<h2>6. 测试步骤</h2>") == f"<h2>6. 测试{JOINER}{CUT}步骤</h2>"
    assert segment_words("单次测试，测试") == f"单次测试，测试{JOINER}"
    assert segment_words("测试方法：测试了一次") == "测试方法：测试了一次"


def test_no_listed_word_begins_with_another() -> None:
    assert [(a, b) for a in WORDS for b in WORDS if a != b and b.startswith(a)] == []


def test_the_index_is_written_in_utf_8_for_a_server_and_for_a_folder(tmp_path: Path) -> None:
    (tmp_path / "search").mkdir()
    document = {"location": "index.html", "title": "训练吞吐率", "text": "<p>显存带宽</p>"}
    for name, before in (("search_index.json", ""), ("search_index.js", "var __index = ")):
        (tmp_path / "search" / name).write_text(before + json.dumps({"config": {}, "docs": [document]}))
    segment_index(tmp_path)
    written = (tmp_path / "search/search_index.json").read_text("utf-8")
    assert "\\u" not in written
    assert json.loads(written)["docs"][0]["title"] == f"训练{CUT}吞吐率"
    assert (tmp_path / "search/search_index.js").read_text("utf-8") == f"var __index = {written}"


def test_the_library_of_the_search_tells_edges_from_numbers_of_nodes(site: Path) -> None:
    workers = [path.read_text("utf-8") for path in site.rglob("assets/javascripts/workers/search.*.js")]
    assert len(workers) == 2
    assert [len(re.findall(r'(\w)=\1\+\w\+\w\.id\+","', text)) for text in workers] == [1, 1]


def test_cells_and_the_lines_of_a_cell_are_words_of_their_own(site: Path) -> None:
    """Else an excerpt shows "H2007,226", which no search for either finds."""
    joined = re.compile(r"</(?:td|th|dt)><(?:td|th|dd)\b|<br ?/?>(?=\S)")
    pages = list(site.rglob("*.html"))
    assert [found[0] for page in pages if (found := joined.search(page.read_text("utf-8")))] == []
    documents = json.loads((site / "search/search_index.json").read_text("utf-8"))["docs"]
    (text,) = [document["text"] for document in documents if document["location"] == "results/hardware/index.html"]
    assert "A box Tesla V100-SXM2-32GB 1 × 8 3 " in text.replace("\u00a0", " ")


def test_configurations_are_found_by_their_titles_and_the_words_of_their_file(tmp_path: Path) -> None:
    (tmp_path / "search").mkdir()
    (tmp_path / "search/search_index.json").write_text('{"docs": []}')
    page = tmp_path / "results/configurations/first/box_jax.html"
    page.parent.mkdir(parents=True)
    page.write_text(
        '<head><meta name="description" content="JAX on H200.">\n<meta property="og:title" content="JAX · H200"></head>'
    )
    segment_index(tmp_path)
    (document,) = json.loads((tmp_path / "search/search_index.json").read_text("utf-8"))["docs"]
    assert (document["title"], document["text"]) == ("JAX · H200", "JAX on H200.<p>box jax</p>")
    assert document["location"] == "results/configurations/first/box_jax.html"


def test_the_rank_of_a_single_page_comes_before_that_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "search").mkdir()
    index = tmp_path / "search/search_index.json"
    pages = [f"results/hardware/{name}.html" for name in ("usual", "parts")]
    index.write_text(json.dumps({"docs": [{"location": page, "title": "", "text": ""} for page in pages]}))
    segment_index(tmp_path, {pages[1]: 0.5})
    usual, own = (document["boost"] for document in json.loads(index.read_text("utf-8"))["docs"])
    assert (usual > 1, own) == (True, 0.5)


def test_a_site_without_a_search_stays_as_it_is(tmp_path: Path) -> None:
    segment_index(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_table_that_the_search_leaves_out_stays_on_its_page() -> None:
    page = SimpleNamespace(url="a.html")
    kept, left_out = "<table><tr><td>found</td></tr></table>", "<table>\n<tr><td>not found</td></tr></table>"
    parts = f'<h1 id="a">A</h1>{kept}<h2 data-search-exclude="true" id="b">B</h2>{left_out}{left_out}'
    html = f'{parts}<h2 id="c">C</h2>{kept}<p>\\1</p>'
    page.content = on_page_content(html, page=page)  # type: ignore[arg-type]
    assert page.content.count("<table>") == page.content.count(kept) == 2
    on_page_context({}, page=page)  # type: ignore[arg-type]
    assert page.content == html
