"""A workspace that somebody else sent has links in place of its files and folders: nothing behind them is published."""

from __future__ import annotations

import re
import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

from counting_workspace import Counting
from dlperf.errors import DlperfError
from dlperf.report.site import mkdocs
from dlperf.runs.lookup import remove_campaign
from dlperf.runs.paths import WorkspacePaths
from every_reader import run, screens

OF_VERSION_0_1 = Path(__file__).parents[1] / "data/workspaces/0.1"
CANARY = "canary-of-the-operator"


def _with_canary(path: Path) -> None:
    """Put the canary where a reader of the file would show it."""
    if path.is_dir():
        for child in path.rglob("*"):
            _with_canary(child) if child.is_file() else None
        return
    text = path.read_text("utf-8", "replace")
    if path.suffix in (".json", ".jsonl"):
        text = re.sub(r'("(?:hostname|title|os|cpu|model|reason|tag|quoted|first|last)": ")', rf"\1{CANARY} ", text)
        path.write_text(text)
    else:
        path.write_text(re.sub(r"(?m)^", f"{CANARY} ", text, count=1) + f"\n{CANARY} at the end\n{text}")


def _replace_by_link(path: Path, outside: Path) -> None:
    target = outside / f"{len(list(outside.iterdir()))}" / path.name
    target.parent.mkdir()
    path.rename(target)
    _with_canary(target)
    path.symlink_to(target)


def _parts(campaign: Path) -> list[str]:
    """Every file and folder of a campaign, and the campaign."""
    names = sorted(path.relative_to(campaign).as_posix() for path in campaign.rglob("*"))
    return [".", *(name for name in names if "_bs64_" not in name)]  # the second configuration has the same files


@pytest.fixture
def sent(measured: Counting, tmp_path: Path) -> Counting:
    """Campaigns in each of which another part is a link, and links in the site and the catalogue."""
    (outside := tmp_path / "outside").mkdir()
    runs, root = measured.workspace.runs, measured.workspace.root
    for number, part in enumerate(_parts(runs / "try")):
        for kept in (True, False):
            copy = runs / f"link{number}-{'kept' if kept else 'anew'}"
            shutil.copytree(runs / "try", copy)
            for name in () if kept else ("result.json", "timeline.json"):
                for path in copy.rglob(name):
                    path.unlink()
            if (copy / part).exists():
                _replace_by_link(copy / part, outside)
    for name, text in {
        "site/docs/own.md": "# Own\n\nA page.\n",
        "site/docs/folder/own.md": "# Own\n\nA page.\n",
        "site/theme/partials/own.html": "<p>own</p>",
        "site/redirects.txt": "old.html index.html\n",
        "site/editions/one/index.html": "<p>an edition</p>",
        "baselines/base.json": "{}",
        "runs/published/report/report.yaml": "title: x\n",
        "catalog/machines.yaml": "{}\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    of_site = ("site/docs/own.md", "site/docs/folder", "site/theme/partials", "site/redirects.txt", "site/editions/one")
    for name in (*of_site, "baselines", "runs/published/report", "catalog/machines.yaml"):
        _replace_by_link(root / name, outside)
    return measured


@pytest.fixture(autouse=True)
def _without_mkdocs(monkeypatch: pytest.MonkeyPatch):
    """All that MkDocs builds from, and what is added to the site after it, is looked at in place of the site."""
    monkeypatch.setattr(mkdocs, "_started", lambda *_: nullcontext([]))


def test_nothing_behind_a_link_is_shown_or_published(sent: Counting):
    workspace, shown = sent.workspace, []
    for words in (
        *(("build-site",), ("results",), ("results", "--json"), ("verify",), ("status",), ("catalog", "check")),
        *(("results", "--csv", str(workspace.root / "all.csv")), ("query", "select * from trials")),
        ("export", str(workspace.root / "all.sqlite")),
        *(("logs", folder.name) for folder in sorted(workspace.runs.iterdir()) if folder.name.endswith("anew")),
    ):
        shown.append((words, "".join(run(workspace, *words))))
    screens(workspace)
    assert [words for words, text in shown if CANARY in text] == []
    assert len(list((workspace.site_build / "docs").rglob("*.md"))) > 50
    tables = (workspace.root / "all.csv", workspace.root / "all.sqlite")
    published = [*workspace.site_build.rglob("*"), *workspace.site_html.rglob("*"), *tables]
    assert [path for path in published if path.is_file() and CANARY.encode() in path.read_bytes()] == []


def test_nothing_is_written_behind_a_link(measured: Counting, tmp_path: Path):
    """A link in place of a folder that a build, a run or a verification writes into."""
    workspace = measured.workspace
    run(workspace, "build-site")
    (outside := tmp_path / "outside").mkdir()
    for folder in (
        workspace.site_html,
        workspace.site_data,
        workspace.site_build / "docs" / "results",
        workspace.campaign("try").directory,
    ):
        target = outside / folder.name
        assert folder.is_dir()
        shutil.copytree(folder, target)
        (target / "mine").write_text("mine")
        shutil.rmtree(folder)
        folder.symlink_to(target)
    before = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    for words in (("build-site",), ("verify", "--write"), ("cancel", "try"), ("baseline", "save", "x")):
        run(workspace, *words)
    assert {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()} == before


def test_no_edition_and_no_removed_campaign_goes_behind_a_link(measured: Counting, tmp_path: Path):
    workspace = measured.workspace
    (outside := tmp_path / "outside").mkdir()
    for folder in (workspace.site / "editions", workspace.trash):
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.symlink_to(outside)
    with pytest.raises(DlperfError, match="links in a workspace are not followed"):
        remove_campaign(workspace, workspace.campaign("try"))
    run(workspace, "build-site", "--edition", "one")
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("part", ["docs", "docs/zh", "docs/results", "theme"])
def test_a_workspace_of_version_0_1_is_not_converted_behind_a_link(tmp_path: Path, part: str):
    (outside := tmp_path / "outside").mkdir()
    for name in ("results/mine", "data/mine", "index.md", "main.html"):
        (outside / name).parent.mkdir(exist_ok=True)
        (outside / name).write_text("mine")
    before = sorted(outside.rglob("*"))
    workspace = WorkspacePaths(tmp_path / "workspace")
    shutil.copytree(OF_VERSION_0_1, workspace.root)
    place = workspace.site / part
    if place.exists():
        shutil.rmtree(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(outside)
    run(workspace, "build-site")
    assert sorted(outside.rglob("*")) == before
