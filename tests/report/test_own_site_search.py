"""The search of this repository's own site, as its readers use it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from site_browser import Watched, needs_browser

pytestmark = needs_browser

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect


@pytest.mark.parametrize("served", [False, True], ids=["folder", "http"])
def test_the_search_index_is_loaded_when_the_search_is_used(
    watched: Watched, own_site: Path, serve, served: bool
) -> None:
    def indexes() -> list[str]:
        return [url for url in watched.requests if "search_index" in url]

    watched.open((serve(own_site) if served else own_site.as_uri() + "/") + "index.html")
    assert indexes() == []
    field = watched.page.locator("input.md-search__input")
    field.click()
    field.press_sequentially("estimator")
    field.press("End")
    watched.page.locator(".md-search-result__link").first.wait_for(state="attached")
    assert len(indexes()) == 1


FOUND_FIRST = {
    "cost per million tokens": "results/your-number.html",
    "price per GPU hour": "results/your-number.html",
    "H100 or H200": "results/your-number.html",
    "H100 vs H200": "results/your-number.html",
    "MFU": "results/methodology.html",
    "t test": "results/methodology.html",
    "how to cite": "guide/data.html",
    "bibtex": "guide/data.html",
    "license": "guide/data.html",
    "torchtitan llama 3 8B 8 H100": "results/reports/all-sources/llama3-8b.html",
    "XLA_FLAGS": "guide/llm.html",
    "activation checkpointing": "guide/llm.html",
    "H200": "results/hardware/h200-1x.html",
    "power limit": "results/methodology.html",
    "torchtitan": "results/frameworks/torchtitan",
    "Llama 3 8B H100": "results/reports/all-sources/llama3-8b.html",
    "reproduce": "guide/reproducing.html",
    "regression": "guide/ci.html",
    "Slurm": "guide/slurm.html",
    "import logs": "guide/logs.html",
    "logo": "guide/publishing.html",
    "RSS": "about.html",
    "how sure": "results/methodology.html",
    "days": "results/your-number.html",
    "cheapest GPU": "results/your-number.html",
    "energy per million tokens kWh": "results/your-number.html",
    "dispute": "guide/reproducing.html",
    "better program": "guide/programs.html",
    "bert jax slower": "results/reports/all-sources/bert-base.html",
    "embed chart": "guide/data.html",
    "how many trials": "results/methodology.html",
    "out of memory": "guide/llm.html",
    "fp8 recipe": "results/methodology.html",
    "docker image": "guide/nodes.html",
    "synthetic data": "guide/llm.html",
    "HFU": "results/methodology.html",
    "MaxText": "results/frameworks/maxtext.html",
    "withdrawn claims": "results/methodology.html",
}
"""What a reader types → the beginning of the address that answers it."""


def test_the_search_finds_the_answer_first(watched: Watched, own_site: Path, serve) -> None:
    watched.open(serve(own_site) + "index.html")
    field = watched.page.locator("input.md-search__input")
    field.click()
    first = watched.page.locator(".md-search-result__link").first
    for query, address in FOUND_FIRST.items():
        field.fill(query)
        field.press("End")
        expect(first, query).to_have_attribute("href", re.compile(f"/{re.escape(address)}"), timeout=60_000)


@pytest.mark.parametrize(
    ("word", "title"),
    [("吞吐率", "ArcFace r50"), ("加速比", "方法与结论"), ("显存", "测试自己的程序"), ("正则表达式", "终端界面")],
)
def test_the_search_finds_chinese_words_inside_longer_runs(
    watched: Watched, own_site: Path, serve, word: str, title: str
) -> None:
    watched.page.goto(serve(own_site) + "zh/index.html")
    field = watched.page.locator("input.md-search__input")
    field.click()
    field.press_sequentially(word)
    field.press("End")  # an input method presses a key; here the characters come without one
    watched.page.locator(".md-search-result__link").first.wait_for(state="attached")
    found = [
        words.replace("\u200b", "").replace("\u2060", "")
        for words in watched.page.locator(".md-search-result h1").all_inner_texts()
    ]
    assert any(title in words for words in found), found


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("NCHW", "results/reports/"),
        ("NCCL 2.28", "results/reports/measured/"),
        ("c89430b", "results/reports/published/dlperf-v1/"),
        ("GB300", "results/hardware/dgx-gb300.html"),
    ],
)
def test_the_search_finds_a_layout_a_version_a_commit_and_a_gpu(
    watched: Watched, own_site: Path, serve, words: str, page: str
) -> None:
    watched.page.goto(serve(own_site) + "index.html")
    field = watched.page.locator("input.md-search__input")
    field.click()
    field.press_sequentially(words)
    watched.page.locator(f".md-search-result__link[href*='{page}']").first.wait_for(state="attached")
