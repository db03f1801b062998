"""How the program starts in a terminal, and what it says where it cannot."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from terminal import PROGRAM, Terminal

from dlperf.app.app import CRASHED, DlperfApp
from dlperf.app.settings import TerminalSettings
from dlperf.runs.paths import WorkspacePaths
from dlperf.version import version

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


def test_a_wrong_request_is_said_in_one_line(tmp_path: Path):
    terminal = Terminal(tmp_path / "tmux.socket", tmp_path)
    try:
        terminal.type(f"{PROGRAM} --language fr; echo code $?")
        terminal.until_shown("dlperf-tui: --language fr: choose en or zh", "code 2")
    finally:
        terminal.close()


def test_its_version_is_that_of_dlperf(tmp_path: Path):
    words = ["sh", "-c", f"{PROGRAM} --version"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == f"dlperf {version()}\n"


def test_without_a_terminal_the_commands_are_named(workspace: WorkspacePaths):
    words = ["sh", "-c", f"{PROGRAM} < /dev/null"]
    done = subprocess.run(words, cwd=workspace.root, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "dlperf-tui: dlperf-tui needs a terminal: in a script, use `dlperf run` and `dlperf status`\n"


def test_where_there_is_no_workspace_one_is_offered(tmp_path: Path, workspace: WorkspacePaths):
    folder = tmp_path / "new"
    folder.mkdir()
    workspace.runs.rmdir()
    terminal = Terminal(tmp_path / "other.socket", folder, columns=240)  # the folder's name stands in one line
    try:
        terminal.type(PROGRAM)
        terminal.until_shown("There is no workspace at or above", "[y/N]")
        terminal.type("n")
        terminal.until_shown("dlperf-tui: no workspace")
        assert not list(folder.iterdir())
        terminal.type(f"clear; {PROGRAM}")
        terminal.until_shown("[y/N]")
        terminal.type("y")
        terminal.until_shown("Campaigns of")
    finally:
        terminal.close()


def test_the_first_mistake_in_the_program_ends_it_in_two_lines_with_a_report(
    workspace: WorkspacePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def fail(app: DlperfApp) -> None:
        if not app.is_running or app.return_code is not None:  # as the app itself: not while it closes
            return
        try:
            raise LookupError("lost")
        except LookupError as error:
            app._handle_exception(error)  # as Textual does where a widget or a worker fails
        raise KeyError("a consequence")

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(DlperfApp, "_frame", fail)
    app = DlperfApp(TerminalSettings(workspace))
    assert app.run(headless=True) == "left"
    assert app.return_code == CRASHED
    assert "LookupError: lost" in (tmp_path / ".dlperf" / "dlperf-tui-crash.txt").read_text()
    assert "consequence" not in capsys.readouterr().err
