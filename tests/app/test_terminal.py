"""The program in a real terminal, with the real engine: what a person does from the first start to the last."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from builder import running_campaign
from terminal import PROGRAM, Terminal

from dlperf.report.site.workspace import create_workspace
from dlperf.runs.journal import campaign_status
from dlperf.runs.lock import engine_pid
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.records import State
from sshd import Sshd

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

HELD = """
id: held
title: A trial that is held
description: Prints a step, and others when it is let go.
version: "1"
format: dlperf
devices: [cpu]
recipes:
  - case: lenet5
    precisions: [fp32]
    interpreter: []
    command: [sh, -c, "for i in $(seq 40); do echo DLPERF 2026-01-31T12:00:$i.0Z step=$i samples=$i;
                       until [ -e '{go}' ]; do sleep 0.1; done; done"]
"""


@pytest.fixture
def terminal(tmp_path: Path, workspace: WorkspacePaths) -> Iterator[Terminal]:
    opened = Terminal(tmp_path / "tmux.socket", workspace.root)
    yield opened
    opened.close()


def agree(terminal: Terminal) -> None:
    """Say yes to the question, which does not listen before it could be read."""
    while "(y)" in terminal.shown():
        terminal.press("y")
        time.sleep(0.5)


def start_held_campaign(terminal: Terminal, workspace: WorkspacePaths) -> CampaignPaths:
    """Two trials that go on when they are let go, started from the Choose screen."""
    (workspace.catalog / "frameworks").mkdir(parents=True)
    (workspace.catalog / "frameworks" / "held.yaml").write_text(HELD.replace("{go}", str(workspace.root / "go")))
    terminal.type(PROGRAM)
    terminal.until_shown("Nothing has been measured")
    terminal.press("2")
    terminal.until_shown("[ ] local")
    terminal.press("Tab")
    terminal.until_shown("Hugging Face Trainer")
    terminal.press("/", *"held", "Enter")
    terminal.until_shown("A trial that is held")
    terminal.press("Space")
    terminal.until_shown("[x] held", "configurations: 4")
    terminal.press("Tab", "Tab", "Tab", "Space")
    terminal.until_shown("trials: 8")
    terminal.press(*"-----")
    terminal.until_shown("trials: 2")
    terminal.press("s")
    terminal.until_shown("Start this campaign?")
    agree(terminal)
    terminal.until_shown("▶ running", "step=1 ")
    (paths,) = workspace.campaigns()
    return paths


def let_go(workspace: WorkspacePaths, paths: CampaignPaths) -> None:
    """Let the held trials go on, and wait for the campaign's end."""
    (workspace.root / "go").touch()
    deadline = time.monotonic() + 60
    while not campaign_status(paths).finished:
        assert time.monotonic() < deadline
        time.sleep(0.2)


WIRE = """
id: wire
title: A machine at the end of a wire
gpus_per_node: 1
nodes: [{{name: wire, host: node-a}}]
env: {{PATH: "{path}"}}
"""


@pytest.mark.timeout(600)
def test_quickstart_over_ssh_is_chosen_checked_run_left_found_again_and_published(
    sshd: Sshd, terminal: Terminal, workspace: WorkspacePaths
):
    (workspace.root / "mkdocs.yml").unlink()
    create_workspace(workspace.root)
    (workspace.catalog / "hardware").mkdir(parents=True, exist_ok=True)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # the system's own python3 may lack NumPy
    (workspace.catalog / "hardware" / "wire.yaml").write_text(WIRE.format(path=path))
    terminal.type(PROGRAM)
    terminal.until_shown("Nothing has been measured in this workspace yet.")
    terminal.press("2")
    terminal.until_shown("[ ] local", "[ ] wire")
    terminal.press("p")
    terminal.until_shown("quickstart", "VGG16")
    terminal.press("Enter")
    terminal.until_shown("[x] numpy", "[x] local")
    terminal.press("Space", "Up", "Space")
    terminal.until_shown("[ ] local", "[x] wire", "trials: 6  on wire")
    terminal.press("-", "-")
    terminal.until_shown("trials: 2  on wire")
    terminal.press("c")
    terminal.until_shown("Are the machines ready?", "wire", "ok")
    terminal.escape("Are the machines ready?")
    terminal.press("v")
    terminal.until_shown("=== wire: launch.sh", "lenet_numpy.py")
    terminal.escape("=== wire: launch.sh")
    terminal.until_shown("trials: 2  on wire")
    terminal.press("s")
    terminal.until_shown("Start this campaign?", "dlperf run")
    agree(terminal)
    terminal.until_shown("2 ✓", "median", "images/s", "finished", seconds=240)
    terminal.press("q")
    terminal.until_left()
    assert not terminal.alternate_screen()
    assert list((sshd.home / ".dlperf").glob("*/wire/out.log"))
    terminal.type(f"clear; {PROGRAM}")
    terminal.until_shown("numpy-lenet5", "✓ finished", "2 ✓")
    terminal.press("Enter")
    terminal.until_shown("median", "#1")
    terminal.press("5")
    terminal.until_shown("No site yet;")
    terminal.press("b")
    terminal.until_shown("Built.", "The site lies in", seconds=200)
    terminal.press("s")
    picture = terminal.until_shown("Served at http://127.0.0.1")
    address = re.search(r"Served at (\S+/);", picture)
    assert address is not None
    with urllib.request.urlopen(address[1]) as page:
        assert b"LeNet-5" in page.read()
    terminal.press("q")
    terminal.until_left()


def test_leaving_says_what_goes_on_and_how_to_come_back(terminal: Terminal, workspace: WorkspacePaths):
    paths = start_held_campaign(terminal, workspace)
    terminal.press("q")
    terminal.until_shown(
        f"{paths.name} goes on without this window (engine: process {engine_pid(paths)})",
        f"dlperf status {paths.name}",
        "come back:      dlperf-tui",
    )
    terminal.type(PROGRAM)
    terminal.until_shown("▶ running", "1 running")
    terminal.press("Enter")
    terminal.until_shown("▶ running", "step=")
    let_go(workspace, paths)
    terminal.until_shown("1n1g · local  2 ✓")


def test_a_killed_window_takes_nothing_with_it(terminal: Terminal, workspace: WorkspacePaths):
    paths = start_held_campaign(terminal, workspace)
    engine = engine_pid(paths)
    for pid in terminal.programs():
        os.kill(pid, signal.SIGKILL)
    terminal.until_shown("Killed")
    assert engine_pid(paths) == engine
    let_go(workspace, paths)
    states = [trial.state for trial in campaign_status(paths).trials.values()]
    assert states == [State.SUCCEEDED, State.SUCCEEDED]


def test_a_signal_to_end_restores_the_terminal(terminal: Terminal, workspace: WorkspacePaths):
    running_campaign(workspace)
    terminal.type(PROGRAM)
    terminal.until_shown("h200-nightly")
    for pid in terminal.programs():
        os.kill(pid, signal.SIGTERM)
    terminal.until_left()
    assert not terminal.alternate_screen()


def test_the_shell_is_had_for_a_while_and_the_window_comes_back_whole(terminal: Terminal, workspace: WorkspacePaths):
    running_campaign(workspace)
    terminal.type(f"set -m; {PROGRAM}")
    widened = "case       framework"  # as wide as its widest cell: drawn after the rows
    before = terminal.until_shown("h200-nightly", "engine stopped", "trials: 22,410", widened, "q Quit")
    terminal.press("C-z")
    terminal.until_shown("Stopped")
    terminal.type("clear; fg > /dev/null")
    terminal.until(lambda: terminal.shown() == before, "the same picture")
    terminal.press("5")
    terminal.until_shown("No site yet;")


def test_a_signal_to_go_on_starts_nothing_anew(terminal: Terminal, workspace: WorkspacePaths):
    """A kernel sends it, with the signal to end, to the programs of a terminal that is closed."""
    running_campaign(workspace)
    terminal.type(PROGRAM)
    terminal.until_shown("h200-nightly", "engine stopped")
    (program,) = terminal.programs()
    threads = Path(f"/proc/{program}/task")
    before = len(list(threads.iterdir()))
    for _ in range(5):
        os.kill(program, signal.SIGCONT)
        terminal.press("?")
        terminal.until_shown("On this screen")
        terminal.escape("On this screen")
    assert len(list(threads.iterdir())) < before + 5
    terminal.press("q")
    terminal.until_left()


def test_a_character_that_arrives_in_parts_is_one(terminal: Terminal, workspace: WorkspacePaths):
    running_campaign(workspace)
    terminal.type(PROGRAM)
    terminal.until_shown("h200-nightly")
    terminal.press("/")
    for byte in "数".encode():
        terminal.press("-H", f"{byte:x}")
        time.sleep(0.2)
    terminal.until_shown("数")


@pytest.mark.parametrize("how", ["", "trap '' HUP; "])
def test_a_closed_window_ends_the_program(tmp_path: Path, workspace: WorkspacePaths, how: str):
    running_campaign(workspace)
    terminal = Terminal(tmp_path / "tmux.socket", workspace.root)
    terminal.type(f"{how}{PROGRAM}")
    terminal.until_shown("h200-nightly")
    assert terminal.programs()
    terminal.close()


POOR_TERMINALS = (
    "LC_ALL=POSIX TERM=vt100",
    "LANG=C",
    "LC_ALL=POSIX PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 TERM=vt100",
    "LANG=C.UTF-8 NO_COLOR=1",
    "LANG=C.UTF-8 TERM=dumb",
    "LANG=C.UTF-8 COLUMNS=120 LINES=40",
)


@pytest.mark.parametrize("environment", POOR_TERMINALS)
def test_poor_terminals_are_served(tmp_path: Path, workspace: WorkspacePaths, environment: str):
    running_campaign(workspace)
    terminal = Terminal(tmp_path / "tmux.socket", workspace.root, environment=environment)
    try:
        terminal.type(PROGRAM)
        picture = terminal.until_shown("h200-nightly", "engine stopped", "5/12")
        if "UTF-8" not in environment:
            assert picture.isascii()
        terminal.press("3")
        terminal.until_shown("median 23,072 images/s")
        terminal.resize(80, 24)
        terminal.until_shown("? Help")
        terminal.press("q")
        terminal.until_left()
    finally:
        terminal.close()


BROWSER = """#!/bin/sh
( : < /dev/tty ) 2> /dev/null && taken=yes
echo "${taken:-no} $1" > seen.new && mv seen.new seen
"""
"""What opens a page, and says whether it could have taken the terminal."""


def test_what_opens_the_site_has_no_terminal_to_take(tmp_path: Path, workspace: WorkspacePaths):
    index = workspace.site_html / "index.html"
    index.parent.mkdir(parents=True)
    index.write_text("<h1>site</h1>")
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "xdg-open").write_text(BROWSER)
    (programs / "xdg-open").chmod(0o755)
    environment = f"LANG=C.UTF-8 DISPLAY=:77 PATH={programs}:{os.environ['PATH']}"
    terminal = Terminal(tmp_path / "tmux.socket", workspace.root, environment=environment)
    terminal.type(PROGRAM)
    terminal.until_shown("Nothing has been measured")
    terminal.press("5")
    terminal.until_shown("The site lies in")
    terminal.press("o")
    terminal.until((workspace.root / "seen").exists, "the browser")
    assert (workspace.root / "seen").read_text() == f"no {index}\n"
    terminal.close()
