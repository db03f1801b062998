"""Choosing what may run here: entries of other machines, stock and tuned programs, stacks, a program of one's own."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from driving import driving, press, until, until_shown

from dlperf.app import commands
from dlperf.app.dialogs.command import CommandPage
from dlperf.app.model.choice import Choice
from dlperf.app.model.options import options_of
from dlperf.app.widgets.prompt import Prompt
from dlperf.catalog.files.load import load_catalog
from dlperf.errors import ExitCode
from dlperf.runs.paths import WorkspacePaths
from waiting import until_async

CATALOG = load_catalog()


def test_what_describes_this_machine_with_other_gpus_is_to_look_at():
    for catalog, absent in ((CATALOG, False), (CATALOG.on_machine({}), True)):
        option = next(item for item in options_of(catalog, Choice())["hardware"] if item.value == "h200")
        assert option.example is absent
        assert ("this machine has other GPUs or none" in option.note) is absent


def test_frameworks_say_whether_they_are_stock_tuned_or_a_stack():
    labels = {option.value: option.label for option in options_of(CATALOG, Choice())["frameworks"]}
    assert labels["numpy"] == "numpy · stock"
    assert labels["jax"] == "jax · tuned"
    assert labels["torchtitan"] == "torchtitan · stack"
    assert labels["paddleclas"] == "paddleclas"
    assert "diagnosis" not in labels


def test_a_framework_that_runs_only_where_it_is_marked_says_so():
    notes = {option.value: option.note for option in options_of(CATALOG, Choice())["frameworks"]}
    assert "runs only where it or its case is marked" in notes["torchtitan"]
    assert "runs only where" not in notes["numpy"]


async def test_packages_are_fetched_of_marked_stacks_alone(workspace: WorkspacePaths):
    async with driving(workspace, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] numpy")
        await press(pilot, "F")
        await until_shown(pilot, "Nothing is marked whose packages are fetched")


async def test_a_program_of_ones_own_is_run_once_and_marked(workspace: WorkspacePaths, tmp_path: Path):
    program = tmp_path / "mine.py"
    program.write_text("for step in range(40):\n    print(f'step {step} loss 0.5 123.0 samples/s', flush=True)\n")
    async with driving(workspace, size=(80, 24), start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        await press(pilot, "right", "N")
        await until_shown(pilot, "[Frameworks]", "─Frameworks─")
        await press(pilot, *f"--name my.own -- {sys.executable} {program}", "enter")
        await until_shown(pilot, "It is in the lists now, and marked")
        await press(pilot, "escape")
        await until_shown(pilot, "[x] my.own", "dlperf run --hardware local --framework my.own")


async def test_a_click_elsewhere_starts_no_program(workspace: WorkspacePaths):
    async with driving(workspace, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] numpy")
        await press(pilot, "N", *"false")
        await pilot.click("#plan")
        await until(pilot, lambda: not pilot.app.screen.query_one(Prompt).has_focus)
        await pilot.pause()
        assert not isinstance(pilot.app.screen, CommandPage)


async def test_a_program_that_failed_is_brought_back_to_be_corrected(workspace: WorkspacePaths):
    async with driving(workspace, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] numpy")
        command = f"sh -c 'echo {'word ' * 20}at the end; exit 3'"
        await press(pilot, "N")
        pilot.app.screen.query_one(Prompt).value = command
        await press(pilot, "enter")
        await until_shown(pilot, "Ended with exit code", "at the end")
        await press(pilot, "escape", "N", "up")
        assert pilot.app.screen.query_one(Prompt).value == command


async def test_a_command_that_passes_over_a_signal_is_ended_by_force(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(commands, "GRACE_SECONDS", 0.05)
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); signal.pause()"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE, start_new_session=True
    )
    command = commands.RunningCommand(process)
    assert await anext(command.lines()) == ""
    command.stop()
    assert await command.wait() == -signal.SIGKILL


async def test_a_command_ends_also_where_a_background_job_of_a_shell_started_the_terminal(workspace: WorkspacePaths):
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        command = await commands.RunningCommand.start(workspace, ["machines", "--json", "--every", "60"])
    finally:
        signal.signal(signal.SIGINT, usual)
    assert '"local"' in await anext(command.lines())
    command.stop()
    assert await command.wait() == ExitCode.INTERRUPTED


async def test_a_command_whose_answer_nobody_waits_for_ends(workspace: WorkspacePaths):
    mine = os.getpid()
    before = _children(mine)
    asking = asyncio.create_task(commands.run_command(workspace, ["machines", "--json", "--every", "60"]))
    await until_async(lambda: any(map(_children, _children(mine) - before)), "no agent")
    asking.cancel()
    await until_async(lambda: not _children(mine) - before, "the command goes on")


def _children(pid: int | str) -> set[str]:
    try:
        return set(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    except FileNotFoundError:
        return set()


async def test_closing_the_page_ends_the_program_that_runs(workspace: WorkspacePaths, tmp_path: Path):
    program, started = tmp_path / "mine.py", tmp_path / "started"
    program.write_text(
        f"import os, pathlib, time\npathlib.Path({str(started)!r}).write_text(str(os.getpid()))\ntime.sleep(600)\n"
    )
    async with driving(workspace, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] numpy")
        await press(pilot, "N", *f"{sys.executable} {program}", "enter")
        await until(pilot, lambda: started.exists() and started.read_text())
        await press(pilot, "escape")
        await until(pilot, lambda: not Path("/proc", started.read_text()).exists())
