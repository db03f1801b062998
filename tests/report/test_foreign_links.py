"""A workspace that somebody else sent has links in place of its files and folders: nothing behind them is published."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from counting_workspace import Counting
from dlperf.cli import main

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


def test_nothing_behind_a_link_is_shown_or_published(
    sent: Counting, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(sent.workspace.root)
    monkeypatch.setenv("HOME", str(sent.home))
    shown = []
    for words in (
        *(("build-site",), ("results",), ("results", "--json"), ("results", "--csv", "-"), ("verify",), ("status",)),
        *(("export", "all.sqlite"), ("query", "select * from trials"), ("catalog", "check")),
        *(("logs", folder.name) for folder in sorted(sent.workspace.runs.iterdir()) if folder.name.endswith("anew")),
    ):
        with pytest.raises(SystemExit):
            main(["--workspace", ".", *words])
        out, err = capfd.readouterr()
        assert "unexpected" not in err, (words, err)
        shown.append((words, out + err))
    assert [words for words, text in shown if CANARY in text] == []
    site = sent.workspace.site_html
    assert (site / "index.html").is_file()
    published = [path for path in [*site.rglob("*"), sent.workspace.root / "all.sqlite"] if path.is_file()]
    assert [path for path in published if CANARY.encode() in path.read_bytes()] == []


def test_nothing_is_written_behind_a_link(measured: Counting, tmp_path: Path):
    """A link in place of a folder that a build, a run or a verification writes into."""
    workspace = measured.workspace
    measured.dlperf("build-site")
    (outside := tmp_path / "outside").mkdir()
    for folder in (
        workspace.site_html,
        workspace.site_data,
        workspace.site_build / "docs" / "results",
        workspace.campaign("try").directory,
    ):
        target = outside / folder.name
        shutil.copytree(folder, target)
        (target / "mine").write_text("mine")
        shutil.rmtree(folder)
        folder.symlink_to(target)
    before = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    for words in (("build-site",), ("verify", "--write"), ("cancel", "try"), ("tag", "try", "x")):
        assert "Traceback" not in measured.run(*words).stderr
    assert {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()} == before
