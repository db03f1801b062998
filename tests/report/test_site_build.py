"""A real build of a small workspace."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from html_text import Document
from mkdocs.utils.yaml import yaml_load
from pandas import read_parquet
from site_rows import LOG, measured
from site_sample import make_workspace, sample

from dlperf.errors import DlperfError
from dlperf.messages import ENGLISH, quoted
from dlperf.report.build import FONT, missing_addresses, overview_pages, write_pages
from dlperf.report.files.previews import previews
from dlperf.report.pages.explorer import SCRIPTS as OF_COMPARE
from dlperf.report.pages.results.configurations import SCRIPTS as OF_TRIALS
from dlperf.report.site import locations as at
from dlperf.report.site.locations import EXPLORER_STYLE, PALETTE, SCRIPTS
from dlperf.report.site.mkdocs import build_html
from dlperf.report.site.settings import CONFIGURATION
from dlperf.report.site.shipped import shipped_root
from dlperf.runs.paths import WorkspacePaths
from dlperf.table.model import Status

ROOT = Path(__file__).parents[2]


def documents(site: Path) -> dict[Path, Document]:
    return {path: Document(path.read_text()) for path in site.rglob("*.html") if path.name != "404.html"}


def test_a_colon_after_chinese_words_is_a_full_width_one(site: Path) -> None:
    told = [
        text
        for document in documents(site / "zh").values()
        for text in (*document.text.splitlines(), *(value for _, _, value in document.attributes))
    ]
    assert {text for text in told if re.search(r"[\u3000-\u9fff\uff08-\uff5e]: ", text)} == set()


def test_the_site_has_both_languages_and_its_data(site: Path) -> None:
    assert '<html lang="en"' in (site / "index.html").read_text()
    assert '<html lang="zh"' in (site / "zh/index.html").read_text()
    english = {path.relative_to(site) for path in documents(site) if "zh" not in path.relative_to(site).parts}
    chinese = {path.relative_to(site / "zh") for path in documents(site / "zh")}
    assert english == chinese
    document = json.loads((site / "data/results.json").read_text())
    assert document["schema"] == 1
    rows = document["results"]
    assert all((site / row["address"].partition("#")[0]).is_file() for row in rows)
    assert len(rows) == len(sample().results)
    with (site / "data/results.csv").open(newline="") as stream:
        assert [row["value"] for row in csv.DictReader(stream)] == [
            "" if row["value"] is None else str(row["value"]) for row in rows
        ]


def test_a_build_says_which_addresses_its_configuration_lacks() -> None:
    known = replace(sample(), address="https://bench.example.org/", repository="https://github.com/a/b")
    assert missing_addresses(known) == []
    (contact,) = missing_addresses(replace(known, repository=""))
    assert contact.startswith("mkdocs.yml: no repo_url: readers find no contact")
    assert len(missing_addresses(replace(known, repository="", address=""))) == 2
    assert missing_addresses(replace(known, repository="", contact="bench@example.org")) == []


def test_a_page_of_figures_offers_them_as_data(site: Path) -> None:
    report = "results/reports/published/perf/resnet50-imagenet.html"
    links = [link for link in documents(site)[site / report].links if "/data/tables/" in link]
    assert [Path(link).suffix for link in links] == [".csv", ".json", ".parquet"]
    table = ((site / report).parent / links[0]).resolve()
    with table.open(newline="") as stream:
        printed = [row["value"] for row in csv.DictReader(stream)]
    rows = json.loads(table.with_suffix(".json").read_text())["rows"]
    assert printed == ["" if row["value"] is None else str(row["value"]) for row in rows]
    assert read_parquet(table.with_suffix(".parquet"))["address"].to_list() == [row["address"] for row in rows]
    assert all((site / row["address"].partition("#")[0]).is_file() for row in rows)


def test_a_log_is_offered_under_its_hash(site: Path) -> None:
    (log,) = (site / "data/logs").iterdir()
    assert log.name == f"{hashlib.sha256(LOG.encode()).hexdigest()}.log.txt"
    assert log.read_text() == LOG


def test_the_same_results_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = []
    for name, zone in (("one", "Asia/Shanghai"), ("two", "America/New_York")):
        monkeypatch.setenv("TZ", zone)
        data = sample()
        workspace = make_workspace(tmp_path / name, data)
        write_pages(workspace, data)
        build_html(workspace, workspace.site_html)
        files = (path for path in (workspace.root / "site").rglob("*") if path.is_file())
        contents.append({path.relative_to(workspace.root): path.read_bytes() for path in files})
    assert contents[0] == contents[1]


def test_a_second_build_writes_nothing_and_a_smaller_one_removes_what_is_stale(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, sample())
    first = write_pages(workspace, sample())
    assert first.written > 0
    assert write_pages(workspace, sample()).written == 0
    write_pages(workspace, replace(sample(), results=()))
    docs = workspace.site_build / "docs"
    left = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    assert not any("published" in name for name in left)
    assert "about.md" in left
    assert not (workspace.site_data / "logs").exists()


def test_the_built_site_keeps_its_bytes_until_it_is_built_again(tmp_path: Path) -> None:
    row = measured("alpha", trials=1)
    data = replace(sample(), results=(row,))
    workspace = make_workspace(tmp_path, data, small=True)
    write_pages(workspace, data)
    build_html(workspace, workspace.site_html)
    (picture,) = (workspace.site_html / "data/pictures").rglob("*.svg")
    before = picture.read_bytes()
    longer = replace(row.trials[0], first_step=1)
    write_pages(workspace, replace(data, results=(replace(row, trials=(longer,)),)))
    (source,) = (workspace.site_data / "pictures").rglob("*.svg")
    assert source.read_bytes() != before
    assert picture.read_bytes() == before


def test_an_altered_log_is_not_offered(tmp_path: Path) -> None:
    row = measured("alpha", trials=1)
    data = replace(sample(), results=(row,))
    workspace = make_workspace(tmp_path, data)
    (log,) = workspace.runs.rglob("out.log")
    log.write_text(LOG.replace("401", "501"))
    write_pages(workspace, data)
    (page,) = (workspace.site_build / "docs").glob("results/configurations/first/*.md")
    assert "log changed since it was measured" in page.read_text()
    assert not (workspace.site_data / "logs").exists()


HOSTILE = ("</title><script>alert(1)</script>", "*a* | [b](javascript:1) `c` &lt;", "../../x")


def test_hostile_names_arrive_as_text_on_every_page(tmp_path: Path) -> None:
    rows = [
        measured(name, status=Status("failed", quoted(name)), campaign="published/evil", hardware=name, case=name)
        for name in HOSTILE
    ]
    missing = [replace(row, value=None, gpus=8, trials=()) for row in rows]
    data = replace(sample(), results=(*rows, *missing), published={}, frameworks={}, audit=())
    workspace = make_workspace(tmp_path, replace(data, results=()))
    write_pages(workspace, data)
    build_html(workspace, workspace.site_html, strict=True)
    for path, document in documents(workspace.site_html).items():
        plain = path.read_text()
        assert "<script>alert" not in plain, path
        assert not any(link.startswith("javascript:") for link in document.links), path
    index = Document((workspace.site_html / "results/configurations/index.html").read_text())
    frameworks = [Document(page.read_text()).text for page in workspace.site_html.glob("results/frameworks/*-*.html")]
    for name in HOSTILE:
        assert name in index.text
        assert len([text for text in frameworks if name in text]) == 1


def test_a_broken_page_is_one_line_and_leaves_the_old_site(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, sample(), small=True)
    write_pages(workspace, sample())
    build_html(workspace, workspace.site_html)
    workspace.site_docs.mkdir()
    (workspace.site_docs / "about.md").write_text("[nowhere](missing.md)")
    write_pages(workspace, sample())
    with pytest.raises(DlperfError, match=r"missing\.md") as caught:
        build_html(workspace, workspace.site_html, strict=True)
    assert "\n" not in str(caught.value)
    assert (workspace.site_html / "index.html").is_file()
    assert [path.name for path in workspace.site_html.parent.iterdir() if path.name.startswith(".")] == []


def test_a_folder_that_cannot_be_made_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DlperfError, match=r"file/html: cannot be written .*: name another folder with --out"):
        build_html(WorkspacePaths(tmp_path), tmp_path / "file" / "html")


def test_a_folder_that_is_no_site_is_not_replaced(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "workspace", sample())
    precious = tmp_path / "home"
    precious.mkdir()
    (precious / "thesis.tex").write_text("years of work")
    with pytest.raises(DlperfError, match="not a site"):
        build_html(workspace, precious)
    assert (precious / "thesis.tex").is_file()


def test_each_report_has_a_picture_for_link_previews(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    data = replace(sample(), address="https://bench.example.org/", previews=True)
    found = dict(previews(data, ROOT / "site" / FONT))
    report = at.report_page("published/perf", "resnet50-imagenet")
    assert set(found) == {at.preview(page) for page in (at.HOME, *(at.report_page(*key) for key in data.reports))}
    assert found[at.preview(report)].startswith(b"\x89PNG")
    texts = dict(overview_pages(ENGLISH, data))
    assert f'image: "https://bench.example.org/{at.preview(report)}"' in texts[report]
    assert f'image: "https://bench.example.org/{at.preview(at.HOME)}"' in texts[at.EXPLORER]


def test_a_page_describes_itself_to_search_engines(site: Path) -> None:
    page = (site / at.report_page("published/perf", "resnet50-imagenet").replace(".md", ".html")).read_text()
    descriptions = re.findall(r'<meta (?:name|property)="(?:og:)?description" content="([^"]*)">', page)
    assert len(descriptions) == 2
    assert all(text.startswith("ResNet50V1.5 on v100 in FP32, batch 256: paddle 3,019") for text in descriptions)


def test_a_built_page_names_its_picture_and_its_address(site: Path) -> None:
    report = at.report_page("published/perf", "resnet50-imagenet")
    page = (site / report.replace(".md", ".html")).read_text()
    address = "https://bench.example.org/"
    assert f'<meta property="og:image" content="{address}{at.preview(report)}">' in page
    assert '<meta name="twitter:card" content="summary_large_image">' in page
    assert f'<link rel="canonical" href="{address}{report.replace(".md", ".html")}">' in page
    assert (site / at.preview(report)).read_bytes().startswith(b"\x89PNG")
    assert f'content="{address}{at.preview(at.HOME)}"' in (site / "zh/index.html").read_text()


def test_search_engines_learn_when_results_changed_and_where_each_language_and_the_data_are(site: Path) -> None:
    address, name = "https://bench.example.org/", "results/reports/measured/dlperf-v1/resnet50-imagenet.html"
    entries = {}
    for url in ElementTree.parse(site / "sitemap.xml").getroot():
        entries[url[0].text] = [child.text or (child.get("hreflang"), child.get("href")) for child in url[1:]]
    assert entries[address + name] == ["2026-01-02", ("en", address + name), ("zh", f"{address}zh/{name}")]
    assert entries[f"{address}guide/data.html"][0][0] == "en", "a page without results has no date"
    page = (site / name).read_text()
    (found,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page)
    described = json.loads(found)
    assert (described["@type"], described["url"], described["dateModified"]) == (
        "Dataset",
        address + name,
        "2026-01-02",
    )
    files = [file["contentUrl"].removeprefix(address) for file in described["distribution"]]
    assert [Path(file).suffix for file in files] == [".csv", ".json"]
    assert all((site / file).is_file() for file in files)


def test_a_shared_link_names_model_and_machine(site: Path) -> None:
    for name, said in (
        ("index.html", "How fast deep-learning frameworks train"),
        ("results/explorer.html", "Training speed of frameworks and GPUs compared"),
        (
            at.report_page("published/perf", "resnet50-imagenet").replace(".md", ".html"),
            "ResNet50V1.5: training speed on v100, a100",
        ),
    ):
        assert f'<meta property="og:title" content="{said}">' in (site / name).read_text()


def test_a_page_of_the_menu_is_called_by_more_than_one_word_where_it_is_kept(site: Path) -> None:
    titles = {
        "results/explorer.html": ("Training speed of frameworks and GPUs compared", "比较各框架与 GPU 的训练速度"),
        "results/reports/index.html": ("Best training speed of each model for one GPU", "各模型的单卡最佳训练速度"),
        "results/history.html": ("Training speed over versions and dates", "训练速度随版本与日期的变化"),
        "about.html": ("How this site is made", "本站如何生成"),
    }
    for name, said in titles.items():
        for root, title in zip(("", "zh/"), said, strict=True):
            assert f"<title>{title} - " in (site / f"{root}{name}").read_text()


def test_reports_on_one_model_have_titles_of_their_own(site: Path) -> None:
    pages = [page.read_text() for page in (site / "results/reports").rglob("*.html")]
    titles = [re.findall("<title>(.*?)</title>", page)[0] for page in pages]
    assert len(set(titles)) == len(titles)


def test_a_page_without_an_address_has_no_picture(tmp_path: Path) -> None:
    texts = dict(overview_pages(ENGLISH, replace(sample(), previews=False)))
    assert not [page for page, text in texts.items() if "\nimage: " in text]


def test_the_theme_fetches_no_font_and_every_script_is_there() -> None:
    settings = yaml_load((CONFIGURATION / "base.yml").open(encoding="utf-8"))
    assert settings["theme"]["font"] is False
    own = (EXPLORER_STYLE, *(f"{SCRIPTS}/{name}" for name in (*OF_COMPARE, "overview.js", *OF_TRIALS)))
    for name in (*settings["extra_javascript"], *settings["extra_css"], *settings["extra"]["scripts_in_folder"], *own):
        assert (ROOT / "site/theme" / name).is_file() or name == PALETTE


def test_no_page_asks_the_host_of_the_repository_for_anything() -> None:
    link = (shipped_root() / "theme/partials/source.html").read_text()
    assert 'class="md-source"' in link
    assert "data-md-component" not in link
