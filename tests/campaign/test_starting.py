"""What ``dlperf check`` finds by starting every launcher up to the import of its framework."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from scripted import planned

from dlperf.campaign.readiness import launches_to_check
from dlperf.campaign.starting import Start, module_start, start_items, start_of, starts_of
from dlperf.executors.direct import DirectExecutor
from dlperf.plan import Container, Launch, Node, Plan, Selection
from waiting import until_async

LOCAL = Node("here", "local", "localhost", "localhost")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def start(launcher: str = "plain", interpreter: str = sys.executable, module: str = "", **env: str) -> Start:
    launch = Launch("direct", (LOCAL,), 1, launcher, (interpreter,), ("{files}/train.py",), env=env, module=module)
    return start_of(replace(planned("a"), launch=launch))


async def said(*starts: Start) -> list[tuple[bool, str]]:
    executor = DirectExecutor()
    try:
        return [(item.ok, str(item.message)) for item in await start_items(executor, starts)]
    finally:
        await executor.close()


async def test_a_program_and_a_module_that_are_there_are_found_and_nothing_stays_on_the_node(home: Path):
    assert await said(start(), start(module="json")) == [
        (True, f"plain starts and finds {sys.executable}"),
        (True, "plain starts and finds module json"),
    ]
    assert [path.name for path in (home / ".dlperf").iterdir()] == ["bin"]


async def test_a_framework_that_cannot_be_imported_is_named(home: Path):
    assert await said(start(module="no_such_framework"), start(interpreter="/opt/none/python")) == [
        (
            False,
            "plain does not start or does not find module no_such_framework: "
            "exit code 1: ModuleNotFoundError: No module named 'no_such_framework': "
            "install no_such_framework for that Python, or choose another in the entry of "
            "on-m1, such as `prologue: [source /opt/venv/bin/activate]`",
        ),
        (False, "plain does not start or does not find /opt/none/python: exit code 127"),
    ]


async def test_of_locked_requirements_the_module_and_the_python_are_tried_too(home: Path):
    """Else a machine without the framework, or with a Python that no wheel is for, is ready and its trials fail."""
    install = f"{sys.executable} locked.py install huggingface.lock site"
    launch = Launch(
        "direct", (LOCAL,), 1, "torchrun", (sys.executable,), ("train.py",), build=(install,), module="json"
    )
    launch = replace(launch, requirements="huggingface.lock", python="3.99")
    kept = replace(launch, build=(f"{install} --keep numpy",))
    assert await said(
        module_start(replace(planned("a"), launch=launch)), module_start(replace(planned("a"), launch=kept))
    ) == [
        (
            False,
            "plain does not start or does not find module json: exit code 1; last output: its packages need Python "
            f"3.99 or newer: name one by `prologue:`, in place of {sys.version.split()[0]}",
        ),
        (True, "plain starts and finds module json"),
    ]
    plan = Plan(Selection(frameworks=("stack",)), (replace(planned("a"), launch=launch),), ())
    assert [start.found for start in starts_of(plan)["on-m1"]] == ["module json", "huggingface.lock"]


async def test_a_start_that_is_interrupted_ends_and_leaves_nothing_on_the_node(home: Path):
    (home / "slow.py").write_text("import pathlib, time\npathlib.Path('begun').touch()\ntime.sleep(600)\n")
    checking = asyncio.create_task(said(start(module="slow", PYTHONPATH=str(home))))
    folder = home / ".dlperf"
    await until_async(lambda: list(folder.glob("check.*/here/begun")), "it did not start")
    checking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await checking
    assert [path.name for path in folder.iterdir()] == ["bin"]


async def test_a_launcher_that_is_missing_or_cannot_be_run_is_named(home: Path):
    (home / "torchrun").touch(0o644)
    path = "/usr/bin:/bin"
    (_, missing), (_, unusable) = await said(start("torchrun", PATH=path), start("torchrun", PATH=f"{home}:{path}"))
    assert missing.startswith("torchrun does not start or does not find torchrun: exit code 127: ")
    assert missing.endswith("exec: torchrun: not found")
    assert unusable.startswith("torchrun does not start or does not find torchrun: exit code 126: ")
    assert unusable.endswith("exec: torchrun: Permission denied")


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun on this machine")
@pytest.mark.skipif(os.getuid() != 0, reason="mpirun refuses only root")
async def test_a_launcher_that_refuses_to_start_says_why(home: Path):
    ((_, refused),) = await said(start("mpirun"))
    assert refused.endswith(": mpirun has detected an attempt to run as root.")


def test_each_launcher_environment_and_module_is_started_once_at_its_largest():
    one, two = planned("a"), planned("b")
    more = replace(two, launch=replace(two.launch, gpus=2))
    other = replace(two, launch=replace(two.launch, env={"X": "1"}))
    third = replace(two, launch=replace(two.launch, module="torch"))
    starts = starts_of(Plan(Selection(frameworks=("a", "b")), (one, more, other, third)))
    launches = [item.planned.launch for item in starts["on-m1"]]
    assert [(launch.gpus, launch.env) for launch in launches] == [(2, {}), (1, {"X": "1"})]
    assert starts_of(Plan(Selection(), (one,))) == {}


def test_a_launcher_of_scripts_is_replaced_by_its_interpreter():
    assert start("paddle", module="paddle").planned.launch.launcher == "plain"
    assert start("torchrun", module="torch").planned.launch.command == ("-m", "platform")


def test_one_row_of_slurm_stands_for_all_images_of_a_cluster():
    item = planned("a")
    images = [replace(item.launch, executor="slurm", container=Container(image)) for image in ("one", "two")]
    plan = Plan(Selection(), tuple(replace(item, launch=launch) for launch in images))
    assert len(launches_to_check(plan)) == 1
