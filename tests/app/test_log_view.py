"""The log of the selected trial: followed, paused, searched, filtered, wrapped, copied."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

import pytest
from builder import POINTS, CampaignBuilder, engine_of, planned, running_campaign, training_log
from driving import driving, press, screen_of, shown, strips_of, until, until_gone, until_said, until_shown
from textual.pilot import Pilot

from dlperf.app.app import DlperfApp
from dlperf.app.screens.base import wait_for_enter
from dlperf.app.screens.watch import WatchScreen
from dlperf.plan import TrialKey
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import State

RUNNING = TrialKey(POINTS[1].id, 2)


def one_trial(workspace: WorkspacePaths, text: str) -> tuple[CampaignBuilder, TrialKey, Path]:
    builder = CampaignBuilder(workspace, "one", [planned(POINTS[0], 1)])
    key = builder.trials[0]
    builder.state(key, State.RUNNING, 1)
    return builder, key, builder.log(key, text)


def lines_in_view(pilot: Pilot[str]) -> list[str]:
    return re.findall(r"step=\d+ samples", shown(pilot))


async def test_a_log_that_appears_later_is_followed_from_then_on(workspace: WorkspacePaths):
    builder = CampaignBuilder(workspace, "one", [planned(POINTS[0], 1)])
    key = builder.trials[0]
    builder.state(key, State.RUNNING, 1)
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "No log yet: the node has not written anything so far.")
        for letter, words in {"v": "There is no log to read.", "n": "Nothing is looked for in the log"}.items():
            await pilot.press(letter)
            await until_shown(pilot, words)
        builder.log(key, "first line\n")
        await until_shown(pilot, "first line", "following")
        builder.log(key, "half a li")
        await until_shown(pilot, "half a li")
        builder.log(key, "ne\n")
        await until_shown(pilot, "half a line")


async def test_scrolling_up_pauses_and_nothing_moves_until_followed_again(workspace: WorkspacePaths):
    builder, key, _ = one_trial(workspace, training_log(1000.0, 200))
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "step=200", "following")
        screen_of(pilot, WatchScreen).log_view.focus()
        await pilot.press("pageup")
        await until_shown(pilot, "paused at line 1", "17.5 kB")
        before = lines_in_view(pilot)
        builder.log(key, training_log(1000.0, 500, first=201))
        await until_gone(pilot, "17.5 kB")
        assert lines_in_view(pilot) == before
        await pilot.press("f")
        await until_shown(pilot, "step=700", "following")


async def test_a_search_finds_marks_and_goes_on(workspace: WorkspacePaths):
    one_trial(workspace, training_log(1000.0, 200))
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "step=200")
        screen_of(pilot, WatchScreen).log_view.focus()
        await pilot.press("slash", *"step=1.7", "enter")
        await until_shown(pilot, "step=107", "1/10 · paused at line 111")
        await pilot.press("n")
        await until_shown(pilot, "2/10 · paused at line 121")
        await pilot.press("N", "N")
        await until_shown(pilot, "no match further on")


async def test_a_wrong_regular_expression_is_said(workspace: WorkspacePaths):
    one_trial(workspace, training_log(1000.0, 20))
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "step=20")
        await pilot.press("ampersand", *"(", "enter")
        await until_shown(pilot, "no regular expression")
        await pilot.press("ampersand", *"(?=a)", "enter")
        await until_shown(pilot, "(?= is not supported")


@pytest.mark.parametrize("key", ["slash", "ampersand"])
async def test_an_expression_that_backtracks_for_ever_elsewhere_stops_nothing(workspace: WorkspacePaths, key: str):
    one_trial(workspace, "a" * 60 + "b\n" + training_log(1000.0, 20))
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "step=20")
        screen_of(pilot, WatchScreen).log_view.focus()
        await pilot.press(key, *"(a+)+$", "enter")
        await until_shown(pilot, "no match further on" if key == "slash" else "No line matches (a+)+$")
        await pilot.press("escape", "slash", *"step=12", "enter")
        await until_shown(pilot, "paused at line 17")


async def test_only_matching_lines_are_shown_and_new_ones_join(workspace: WorkspacePaths):
    builder, key, _ = one_trial(workspace, training_log(1000.0, 100))
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "step=100")
        await pilot.press("ampersand", *r"step=\d*5 ", "enter")
        await until_shown(pilot, "step=95", "10 lines match")
        await until_gone(pilot, "step=100")
        builder.log(key, training_log(1000.0, 10, first=101))
        await until_shown(pilot, "step=105", "11 lines match")
        await pilot.press("escape")
        await until_shown(pilot, "step=110", "step=109")


async def test_the_first_error_is_one_key_away(workspace: WorkspacePaths):
    text = training_log(1000.0, 500) + "RuntimeError: first\n" + training_log(1000.0, 500) + "ValueError: second\n"
    one_trial(workspace, text)
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "ValueError: second")
        await pilot.press("e")
        await until_shown(pilot, "RuntimeError: first", "paused at line 505")


async def test_a_line_keeps_its_colours_and_nothing_else_that_steers_a_terminal(workspace: WorkspacePaths):
    one_trial(workspace, "plain \x1b[1;31mred\x1b[0m \x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\ \x1b[2Jend\n")
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "plain red link end")
        segments = [segment for strip in strips_of(pilot) for segment in strip]
        styles = {segment.text.strip(): segment.style for segment in segments if segment.style}
        assert styles["red"].color != styles["plain"].color
        assert styles["red"].bold
        assert not any(style.link for style in styles.values())


async def test_streams_of_nodes_and_ranks_are_turned_over(workspace: WorkspacePaths):
    builder = CampaignBuilder(workspace, "two", [planned(POINTS[0], 1, ("node-a", "node-b"))])
    key = builder.trials[0]
    builder.state(key, State.RUNNING, 1)
    builder.log(key, "of node a\n", node="node-a")
    builder.log(key, "of node b\n", node="node-b")
    builder.log(key, "of rank 8\n", node="node-b", name="ranks/rank8.log")
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "of node a", "node-a 1/3")
        await pilot.press("right_square_bracket")
        await until_shown(pilot, "of node b", "node-b 2/3")
        await pilot.press("right_square_bracket")
        await until_shown(pilot, "of rank 8", "node-b rank8.log 3/3")
        await pilot.press("left_square_bracket", "left_square_bracket")
        await until_shown(pilot, "of node a")


async def test_long_lines_are_wrapped_or_shifted(workspace: WorkspacePaths):
    one_trial(workspace, "start " + "x" * 150 + " zebra\n")
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "start xxx")
        assert "zebra" not in shown(pilot)
        await pilot.press("w")
        await until_shown(pilot, "zebra", "wrapped")
        await pilot.press("w")
        screen_of(pilot, WatchScreen).log_view.focus()
        await pilot.press(*["right"] * 8)
        await until_shown(pilot, "zebra")


async def test_what_is_in_view_or_marked_is_copied(workspace: WorkspacePaths):
    one_trial(workspace, "one\ntwo\n\x1b[31mthree\x1b[0m\n")
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "three")
        await pilot.press("y")
        assert pilot.app.clipboard == "one\ntwo\nthree"
        await pilot.click("#log", offset=(3, 2))
        await pilot.press("y")
        assert pilot.app.clipboard == "two"


async def test_a_log_written_by_the_enemy_cannot_leave_its_frame(workspace: WorkspacePaths):
    one_trial(workspace, "\x1b[2J\x1b]0;owned\x07[bold]not markup[/bold] [@click=app.leave]x[/]\n")
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "[bold]not markup[/bold] [@click=app.leave]x[/]")


async def test_a_replaced_log_is_opened_again(workspace: WorkspacePaths):
    _, _, path = one_trial(workspace, "old text\n")
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "old text")
        new = path.with_name("new")
        new.write_text("new text\n")
        new.rename(path)
        await until_shown(pilot, "new text")


async def test_the_log_takes_the_whole_screen_and_gives_it_back(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "71/120", "step=71")
            await pilot.press("m")
            await until_gone(pilot, "71/120")
            await pilot.press("m")
            await until_shown(pilot, "71/120")
            await until(pilot, lambda: "following" in shown(pilot))


async def test_logs_are_shown_side_by_side_and_keys_work_on_the_one_with_the_focus(workspace: WorkspacePaths):
    builder, key, _ = one_trial(workspace, "of the first node\n")
    builder.log(key, "of the second node\nRuntimeError: here\n", node="h200-02")
    async with driving(workspace, size=(160, 40), start_screen="watch") as pilot:
        await until_shown(pilot, "of the first node")
        await pilot.press("|")
        await until_shown(pilot, "of the first node", "of the second node")
        await pilot.press("tab", "tab", "e")
        await until_shown(pilot, "paused at line 2")
        await pilot.press("|")
        await until_gone(pilot, "of the second node")
        await pilot.resize_terminal(90, 40)
        await press(pilot, "|")
        await until_said(pilot, "There is room for a second log from 110 columns on.")


async def test_ssh_logs_in_to_the_node_of_a_log(workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch):
    one_trial(workspace, "a line\n")
    called = workspace.root / "called"
    ssh = workspace.root / "bin" / "ssh"
    ssh.parent.mkdir()
    ssh.write_text(f'#!/bin/sh\necho "$@" > {called}\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", str(ssh.parent), prepend=os.pathsep)
    monkeypatch.setattr(DlperfApp, "suspend", lambda _app: nullcontext())
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "a line")
        await pilot.press("i")
        await until(pilot, called.is_file)
        assert called.read_text() == "h200-01\n"


async def test_why_a_program_did_not_start_can_be_read(workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch):
    one_trial(workspace, "a line\n")
    monkeypatch.setenv("PAGER", "no-such-pager")
    monkeypatch.setattr(DlperfApp, "suspend", lambda _app: nullcontext())
    asked: list[str] = []
    monkeypatch.setattr("builtins.input", asked.append)
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "a line")
        await pilot.press("v")
        await until(pilot, lambda: asked == ["Press Enter to return."])


@pytest.mark.parametrize("ended", [EOFError, KeyboardInterrupt])
def test_ctrl_d_and_ctrl_c_return_to_the_screen_as_enter_does(ended: type[BaseException]):
    usual = signal.getsignal(signal.SIGINT)
    with patch("builtins.input", side_effect=ended):
        wait_for_enter()
    assert signal.getsignal(signal.SIGINT) is usual


def test_ctrl_c_interrupts_the_wait_for_enter_though_asyncio_handles_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("builtins.input", lambda _text: signal.raise_signal(signal.SIGINT))

    async def waiting() -> str:
        wait_for_enter()
        await asyncio.sleep(0)
        return "goes on"

    assert asyncio.run(waiting()) == "goes on"


async def test_any_pane_takes_the_whole_screen_and_gives_it_back(workspace: WorkspacePaths):
    one_trial(workspace, "a line of the log\n")
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "a line of the log")
        await pilot.press("z")
        await until_gone(pilot, "a line of the log")
        assert "resnet50" in shown(pilot)
        await pilot.press("z")
        await until_shown(pilot, "a line of the log")
