"""A workspace holds what is its owner's; the rest of the site comes with dlperf, also after an upgrade."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml
from html_text import Document

from dlperf.errors import RequestError
from dlperf.report.build import build_site
from dlperf.report.site.settings import CSS
from dlperf.report.site.shipped import files_below, own_files, shipped_root
from dlperf.report.site.workspace import create_workspace, update_workspace
from dlperf.runs.paths import WorkspacePaths
from dlperf.version import RELEASE

ROOT = Path(__file__).parents[2]
OF_VERSION_0_1 = ROOT / "tests/data/workspaces/0.1"


def created(root: Path, settings: str = "") -> WorkspacePaths:
    create_workspace(root)
    if settings:
        (root / "mkdocs.yml").write_text(settings)
    (root / "site/docs").mkdir(exist_ok=True)
    return WorkspacePaths(root)


def files(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def page(workspace: WorkspacePaths, name: str) -> str:
    return (workspace.site_html / name).read_text()


def test_a_new_workspace_holds_settings_and_examples_alone(tmp_path: Path) -> None:
    written = set(create_workspace(tmp_path))
    assert written == {"mkdocs.yml", ".gitignore", "catalog/hardware/example.yaml", "runs/README.md"}
    assert files(tmp_path) == written | {"site/workspace.json"}
    assert json.loads((tmp_path / "site/workspace.json").read_text()) == {"version": RELEASE, "replaced": {}}


def test_a_new_workspace_keeps_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_text("site_name: mine\n")
    assert "mkdocs.yml" not in create_workspace(tmp_path)
    assert create_workspace(tmp_path) == []


def test_every_setting_of_a_new_workspace_may_be_used(tmp_path: Path) -> None:
    create_workspace(tmp_path, "https://bench.example.org/gpu/")
    text = (tmp_path / "mkdocs.yml").read_text()
    assert yaml.safe_load(text)["site_url"] == "https://bench.example.org/gpu/"
    _, mark, settings = text.partition("site_name")
    workspace = created(tmp_path, mark + re.sub(r"(?m)^# ", "", settings))
    for name in ("assets/logo.svg", "machines.md"):
        (workspace.site_docs / name).parent.mkdir(exist_ok=True)
        (workspace.site_docs / name).write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    build_site(workspace, strict=True)
    assert "https://bench.example.org/gpu/zh/index.html" in page(workspace, "zh/index.html")


def test_a_site_has_the_title_logo_colours_and_pages_of_its_owner(tmp_path: Path) -> None:
    workspace = created(
        tmp_path,
        "site_name: GPU lab\n"
        "theme: {logo: assets/mark.svg}\n"
        "nav: [{Our machines: machines.md}]\n"
        'extra: {colours: {light: {accent: "#123456"}}}\n',
    )
    (workspace.site_docs / "assets").mkdir()
    (workspace.site_docs / "assets/mark.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (workspace.site_docs / "machines.md").write_text("# Our machines\n")
    build_site(workspace, strict=True)
    home = page(workspace, "index.html")
    assert "<strong>GPU lab</strong>" in home
    assert 'src="assets/mark.svg"' in home
    assert 'href="machines.html"' in home
    assert "--md-accent-fg-color: #123456" in page(workspace, "assets/stylesheets/own-colours.css")
    assert "own-colours.css" in home
    styles = "".join(path.read_text() for path in (ROOT / "site/theme").rglob("*.css"))
    assert all(f"var({name}" in styles or name.startswith("--md-") for name in CSS.values())
    assert "own-colours.css" in page(workspace, "zh/index.html")
    assert "Our machines" in Document(page(workspace, "zh/machines.html")).text, "a page without translation"
    assert "<title>GPU lab</title>" in page(workspace, "data/feed.xml")


def test_a_site_without_guide_keeps_the_page_that_explains_its_data(tmp_path: Path) -> None:
    workspace = created(tmp_path, "extra: {guide: false}\n")
    build_site(workspace, strict=True)
    redirect = "reading.html"
    assert files(workspace.site_html / "guide") == files(workspace.site_html / "zh/guide") == {"data.html", redirect}
    assert 'href="guide/data.html"' in page(workspace, "index.html")
    assert not list(workspace.site_html.rglob("tui-*.svg"))


@pytest.mark.parametrize(("languages", "home"), [("[en]", "index.html"), ("[zh]", "zh/index.html")])
def test_a_site_may_have_one_language(tmp_path: Path, languages: str, home: str) -> None:
    workspace = created(tmp_path, f"extra: {{languages: {languages}}}\n")
    build_site(workspace, strict=True)
    assert (workspace.site_html / "zh").is_dir() == (languages == "[zh]")
    assert "select__link" not in page(workspace, home), "no choice of languages"
    assert (workspace.site_html / "404.html").is_file()
    if languages == "[zh]":
        assert 'content="0; url=zh/index.html"' in page(workspace, "index.html")


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ("site_name: x\ndocs_dir: docs\n", "mkdocs.yml:2: docs_dir: is set by dlperf: remove it"),
        ("extra:\n  languages: [fr]\n", "mkdocs.yml:2: extra.languages[0]: "),
        ("extra:\n  languages: []\n", "mkdocs.yml:2: extra.languages: name at least one of en, zh"),
        ("extra: {colours: {light: {accent: red}}}\n", "mkdocs.yml:1: extra.colours.light.accent: "),
        ("site_url: bench.example.org\n", "mkdocs.yml:1: site_url: "),
        ("nav:\n  - Ours: ours.md\n", "mkdocs.yml:2: nav[0].Ours: there is no page "),
        ("- a\n", "mkdocs.yml:1: holds no settings"),
    ],
)
def test_a_mistake_in_the_settings_is_one_line_with_its_place(tmp_path: Path, settings: str, problem: str) -> None:
    workspace = created(tmp_path, settings)
    with pytest.raises(RequestError) as caught:
        build_site(workspace)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_workspace_that_holds_copies_gives_them_up_and_keeps_what_is_its_owners(tmp_path: Path) -> None:
    shutil.copytree(OF_VERSION_0_1, tmp_path, dirs_exist_ok=True)
    (tmp_path / "runs").mkdir()
    workspace = WorkspacePaths(tmp_path)
    site = build_site(workspace, strict=True)
    assert site.warnings.count(f"{tmp_path}: theme, guide and settings of the site now come with dlperf") == 1
    assert yaml.safe_load((tmp_path / "mkdocs.yml").read_text()) == {
        "site_name": "GPU lab",
        "site_url": "https://bench.example.org/",
        "nav": [{"Our machines": "machines.md"}, {"Wiki": "https://wiki.example.org/"}],
    }
    assert yaml.safe_load((tmp_path / "mkdocs.zh.yml").read_text()) == {"nav": [{"我们的机器": "machines.md"}]}
    assert files(workspace.site_docs) == {"machines.md", "zh/machines.md"}
    aside = {
        "mkdocs.base.yml",
        "mkdocs.yml",
        "mkdocs.zh.yml",
        "theme/main.html",
        "docs/about.md",
        "docs/guide/reading.md",
    }
    assert files(tmp_path / "site/before-0.2") == aside | {"docs/zh/about.md"}
    assert not (tmp_path / "site/theme").exists()
    assert "old theme" not in page(workspace, "index.html")
    assert 'zh/machines.html" lang="zh"' in page(workspace, "machines.html")
    assert "come with dlperf" not in build_site(workspace, strict=True).warnings


@pytest.mark.parametrize("settings", ["nav: 5\n", "nav: [{a: 5}]\n", None])
def test_settings_of_version_0_1_that_are_none_are_left_out(tmp_path: Path, settings: str | None) -> None:
    shutil.copytree(OF_VERSION_0_1, tmp_path, dirs_exist_ok=True)
    (tmp_path / "mkdocs.yml").write_text(settings) if settings else (tmp_path / "mkdocs.yml").unlink()
    (note,) = update_workspace(WorkspacePaths(tmp_path))
    assert "now come with dlperf" in note
    assert yaml.safe_load((tmp_path / "mkdocs.yml").read_text())["site_name"]


def test_campaigns_of_version_0_1_are_refused_before_anything_is_changed(tmp_path: Path) -> None:
    shutil.copytree(OF_VERSION_0_1, tmp_path, dirs_exist_ok=True)
    (tmp_path / "runs/first").mkdir(parents=True)
    (tmp_path / "runs/first/campaign.yaml").write_text("name: first\n")
    before = files(tmp_path)
    with pytest.raises(
        RequestError, match=r"runs/first: of dlperf 0\.1, which this version does not read: move it out of"
    ):
        build_site(WorkspacePaths(tmp_path))
    assert files(tmp_path) == before


def test_a_file_that_replaces_one_of_dlperf_is_used_until_that_changes(tmp_path: Path) -> None:
    workspace = created(tmp_path)
    theme = workspace.site / "theme"
    theme.mkdir()
    (theme / "404.html").write_text('{% extends "main.html" %}{% block content %}Nothing here.{% endblock %}')
    (theme / "main.html").write_bytes((shipped_root() / "theme/main.html").read_bytes())
    build_site(workspace)
    assert "Nothing here." in page(workspace, "404.html")
    stamp = json.loads(workspace.site_stamp.read_text())
    assert list(stamp["replaced"]) == ["theme/404.html"], "an equal copy replaces nothing"
    stamp["replaced"]["theme/404.html"] = "0" * 64
    workspace.site_stamp.write_text(json.dumps(stamp))
    with pytest.raises(
        RequestError, match=r"theme/404\.html: replaces a file that changed since dlperf .*`dlperf init"
    ):
        build_site(workspace)
    note = f"{workspace.site}: replaces theme/404.html of dlperf {RELEASE}"
    assert update_workspace(workspace, accept=True) == [note]
    build_site(workspace)


def test_a_workspace_says_which_version_brought_it_up_to_date(tmp_path: Path) -> None:
    workspace = created(tmp_path)
    workspace.site_stamp.write_text('{"version": "0.1.9", "replaced": {}}')
    assert update_workspace(workspace) == [f"{tmp_path}: updated from dlperf 0.1.9 to {RELEASE}"]
    assert update_workspace(workspace) == []


def test_a_workspace_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    workspace = created(tmp_path)
    workspace.site_stamp.write_text('{"version": "99.0.0", "replaced": {}}')
    with pytest.raises(RequestError, match=r"was written by dlperf 99\.0\.0, and this is .*: install that version"):
        build_site(workspace)


def test_this_repository_is_a_workspace_that_replaces_nothing() -> None:
    for folder in ("theme", "docs"):
        assert own_files(ROOT / "site" / folder, files_below(shipped_root() / folder)) == {}
    assert json.loads((ROOT / "site/workspace.json").read_text()) == {"version": RELEASE, "replaced": {}}
