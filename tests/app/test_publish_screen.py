"""The site, built and shown from the program."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
from driving import driving, until_said, until_shown
from textual import events

from dlperf.app.screens.publish import opener_of, served_lines
from dlperf.runs.paths import WorkspacePaths


async def test_the_site_is_built_and_shown_where_it_lies(workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch):
    folder = workspace.root / "fake"
    (folder / "dlperf").mkdir(parents=True)
    (folder / "dlperf" / "__init__.py").touch()  # so that it comes before an installed dlperf
    program = (
        "import pathlib, sys\n"
        "root = pathlib.Path(sys.argv[sys.argv.index('--workspace') + 1])\n"
        "print('writing pages', flush=True)\n"
        "print('x' * (3 << 20), flush=True)\n"
        "(root / 'site/html').mkdir(parents=True)\n"
        "(root / 'site/html/index.html').write_text('<h1>site</h1>')\n"
        "print('3 pages', flush=True)\n"
    )
    (folder / "dlperf" / "__main__.py").write_text(program)
    async with driving(workspace, start_screen="publish") as pilot:
        await until_shown(pilot, "No site yet;")
        assert pilot.app.screen.check_action("open_site", ()) is None
        monkeypatch.setenv("PYTHONPATH", str(folder))
        await pilot.press("b")
        await until_shown(pilot, "writing pages", "3 pages", "Built.", "The site lies in")
        assert pilot.app.screen.check_action("open_site", ()) is True


async def test_a_build_that_fails_says_so(workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch):
    folder = workspace.root / "fake"
    (folder / "dlperf").mkdir(parents=True)
    (folder / "dlperf" / "__init__.py").touch()  # so that it comes before an installed dlperf
    (folder / "dlperf" / "__main__.py").write_text("raise SystemExit('dlperf: mkdocs.yml: line 3: no such theme')\n")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    async with driving(workspace, start_screen="publish") as pilot:
        await until_shown(pilot, "No site yet;")
        for key in "bb":  # in one read
            pilot.app.post_message(events.Key(key, key))
        await until_shown(pilot, "Not built: dlperf: mkdocs.yml: line 3: no such theme")
        await pilot.press("s")
        await until_shown(pilot, "Not served: dlperf: mkdocs.yml: line 3: no such theme")


async def test_a_build_that_cannot_be_started_says_so_and_is_started_by_the_next_key(
    workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch
):
    async with driving(workspace, start_screen="publish") as pilot:
        with monkeypatch.context() as patched:
            patched.setattr("sys.executable", str(workspace.root / "absent"))
            for key, said in (("b", "Not built: No such file or directory"), ("s", "Not served: No such file")):
                await pilot.press(key)
                await until_shown(pilot, said)
        monkeypatch.setattr("sys.executable", "/bin/echo")
        await pilot.press("b")
        await until_shown(pilot, "Built.")


@pytest.mark.parametrize(
    ("environment", "system", "opener"),
    [({}, "linux", None), ({"DISPLAY": ":0"}, "linux", "xdg-open"), ({}, "darwin", "open")],
)
def test_a_page_is_opened_only_where_there_is_a_desktop(environment: dict[str, str], system: str, opener: str | None):
    assert opener_of(environment, system) == opener


def site_in(workspace: WorkspacePaths) -> None:
    index = workspace.site_html / "index.html"
    index.parent.mkdir(parents=True)
    index.write_text("<h1>site</h1>")


@pytest.mark.parametrize(
    ("program", "said"),
    [(None, "xdg-open: No such file or directory."), ("#!/bin/sh\nexit 3\n", "No browser opened.")],
)
async def test_where_nothing_can_open_the_site_it_is_said_where_it_lies(
    program: str | None, said: str, workspace: WorkspacePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    site_in(workspace)
    programs = tmp_path / "programs"
    programs.mkdir()
    if program is not None:
        (programs / "xdg-open").write_text(program)
        (programs / "xdg-open").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}")
    monkeypatch.setenv("DISPLAY", ":77")
    async with driving(workspace, start_screen="publish") as pilot:
        await until_shown(pilot, "The site lies in")
        await pilot.press("o")
        await until_said(pilot, said, "in a browser.")


def test_over_ssh_it_is_said_how_a_browser_gets_to_the_site():
    told = served_lines("http://127.0.0.1:8123/", {"SSH_CONNECTION": "10.0.0.1 50000 10.0.0.2 22"})
    assert told[-1].endswith(f"ssh -L 8123:127.0.0.1:8123 {platform.node()}")
    assert len(served_lines("http://127.0.0.1:8123/", {})) == 1
