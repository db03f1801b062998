"""The pictures of the program: every screen in every state that a person meets, brought about as a person would."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from builder import (
    OUT_OF_MEMORY,
    POINTS,
    CampaignBuilder,
    clock,
    finished_campaign,
    planned,
    running_campaign,
)
from driving import press, until_shown
from textual.pilot import Pilot

from dlperf.app.dialogs.pages import check_page, check_rows
from dlperf.app.model.machines.table import MachineRow
from dlperf.app.screens.base import PlaceScreen
from dlperf.app.screens.machines import MachinesScreen
from dlperf.cli.machines.checking import check_document
from dlperf.executors.base import CheckItem
from dlperf.messages import _, message
from dlperf.plan import TrialKey
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import Event, TrialProgress

Setup = Callable[[WorkspacePaths], CampaignBuilder | None]
Act = Callable[[Pilot[str]], Awaitable[None]]
RUNNING = TrialKey(POINTS[1].id, 2)


@dataclass(frozen=True)
class Scene:
    """A state of a workspace, and what a person does to see it."""

    start_screen: str
    setup: Setup
    act: Act


# ----------------------------------------------------------------------------------------------------------- workspaces


def empty(workspace: WorkspacePaths) -> None:
    """A workspace as `dlperf init` leaves it."""


def running(workspace: WorkspacePaths) -> CampaignBuilder:
    """A campaign that runs, one whose engine died, two that ended, one that cannot be read."""
    finished_campaign(workspace, "h200-2026-04-30", 22890.0, day=4)
    finished_campaign(workspace, "基线-飞桨-2026-04-28", 22410.0, day=6)
    running_campaign(workspace, "weekend")
    broken = workspace.campaign("copied-by-hand")
    broken.plan.parent.mkdir(parents=True)
    broken.plan.write_text("{")
    return running_campaign(workspace)


def alone(workspace: WorkspacePaths) -> CampaignBuilder:
    return running_campaign(workspace)


def finished(workspace: WorkspacePaths) -> CampaignBuilder:
    finished_campaign(workspace, "h200-2026-04-28", 22410.0, day=6)
    return finished_campaign(workspace, "h200-2026-04-30", 22890.0, day=4)


def unreachable(workspace: WorkspacePaths) -> CampaignBuilder:
    builder = running_campaign(workspace)
    silence = message("goes_on_there", cause=message("no_answer", server="h200-01 port 22", seconds=10))
    builder.event(Event(clock(1310), "node_unreachable", cause=silence, data={"node": "h200-01"}))
    builder.event(Event(clock(1320), "paused"))
    progress = TrialProgress(71, 120, 3010.4, "images/s", (3000.0, 3010.0), 98.0, {"h200-01": clock(1310)})
    builder.progress({RUNNING: progress})
    return builder


def changed(workspace: WorkspacePaths) -> CampaignBuilder:
    """Two campaigns that share some configurations: slower, faster, failed, as before; and each has one of its own."""
    before, after = POINTS, (*POINTS[:3], replace(POINTS[0], batch_size=128), POINTS[4])
    values = {POINTS[0].id: (23040.0, 22150.0), POINTS[1].id: (3012.0, 3170.0), POINTS[4].id: (1480.0, 1483.0)}
    builders = []
    for index, (name, points) in enumerate((("h200-driver-570", before), ("h200-driver-580", after))):
        builder = CampaignBuilder(workspace, name, [planned(point) for point in points], clock(-86400.0 * (2 - index)))
        for trial in builder.trials:
            if trial.configuration == POINTS[2].id and index == 1:
                builder.failed(trial, OUT_OF_MEMORY)
            else:
                value = values.get(trial.configuration, (22410.0, 22410.0))[index]
                builder.succeeded(trial, value * (1 + 0.002 * trial.number), 300.0 * trial.number)
        builder.event(Event(clock(9000), "campaign_finished"))
        builders.append(builder)
    return builders[1]


def built(workspace: WorkspacePaths) -> CampaignBuilder:
    index = workspace.site_html / "index.html"
    index.parent.mkdir(parents=True)
    index.write_text("<p>the site</p>")
    os.utime(index, (1777896000, 1777896000))
    return finished(workspace)


# -------------------------------------------------------------------------------------------------------------- actions


def shows(*texts: str) -> Act:
    """Nothing is done: the screen shows these texts by itself, said in the language of the screen."""

    async def act(pilot: Pilot[str]) -> None:
        await until_shown(pilot, *map(_, texts))

    return act


def presses(before: str, keys: str, *texts: str) -> Act:
    """Keys, by their names and a blank between, once the first text is shown; they bring the others."""

    async def act(pilot: Pilot[str]) -> None:
        await until_shown(pilot, _(before))
        await press(pilot, *keys.split())
        await until_shown(pilot, *map(_, texts))

    return act


async def ready_machines(pilot: Pilot[str]) -> None:
    await until_shown(pilot, "[ ] numpy")
    silence = message("no_answer", server="h200-02 port 22", seconds=10)
    advice = message("address_advice", login="ssh h200-02")
    users = "python3 (pid 88123, wang)"
    answers = [
        CheckItem("h200-01", "reachable", True, message("answers", host="h200-01"), hardware="h200"),
        CheckItem("h200-01", "clock", True, message("clock_ahead", seconds=0.1), hardware="h200"),
        CheckItem("h200-01", "disk", True, message("disk_free", size=812.4), hardware="h200"),
        CheckItem("h200-01", "gpu_count", True, message("gpus_found", count=8, wanted=8), hardware="h200"),
        CheckItem("h200-01", "gpu_idle", False, message("gpus_used", users=users), hardware="h200"),
        CheckItem("h200-02", "reachable", False, silence, advice=advice, hardware="h200"),
    ]
    rows = check_rows(json.dumps([check_document(item) for item in answers]))
    pilot.app.push_screen(check_page(rows))
    await until_shown(pilot, users)


GPU = {"name": "NVIDIA H200", "memory_used_mib": 90112.0, "power_watts": 640.0, "temperature_celsius": 58.0}
GPUS = [GPU | {"index": index, "utilization_percent": 97.0 - index} for index in range(4)]
LEASE = {"user": "wang", "engine": "gw-1", "trial": "h200-nightly.resnet50.3", "since": clock(1200), "left": {}}


async def answered_machines(pilot: Pilot[str]) -> None:
    """A machine in use, one that is silent, one of an entry that describes another one."""
    await until_shown(pilot, "local")
    screen = pilot.app.screen
    assert isinstance(screen, MachinesScreen)
    screen._stop()
    state = {"disk_free_bytes": 812 * 10**9, "load": 3.0, "threads": 64}
    silence = message("no_answer", server="h200-02 port 22", seconds=10).to_json()
    other = message("no_gpu_here", described="4 × h200-sxm", found="").to_json()
    answers = {
        ("local", "local"): {"state": state | {"lease": None, "gpus": []}},
        ("h200", "h200-01"): {"state": state | {"lease": LEASE, "gpus": GPUS}},
        ("h200", "h200-02"): {"state": None, "problem_code": silence},
        ("h200-4x", "h200"): {"state": None, "problem_code": other, "elsewhere": True},
    }
    rows = (MachineRow(*names, answer={"seen": clock(1320)} | answer) for names, answer in answers.items())
    screen.show_view(replace(screen.view, machines=tuple(rows)))
    await press(pilot, "down")
    await until_shown(pilot, "GPU 3", "h200-nightly.resnet50.3")


async def machine_form(pilot: Pilot[str]) -> None:
    await answered_machines(pilot)
    await press(pilot, "n", *"h200", "tab", *"gpu01 gpu02", "tab", "tab", "tab", *"h999", "ctrl+s")
    await until_shown(pilot, "h999")


async def output_of_the_builder(pilot: Pilot[str]) -> None:
    await until_shown(pilot, "index.html")
    screen = pilot.app.screen
    assert isinstance(screen, PlaceScreen)
    for line in ("Reading runs/ …", "116 pages written", "INFO - Building documentation to directory: site/html"):
        screen._add_line(line)  # type: ignore[attr-defined]
    await until_shown(pilot, "116 pages written")


NO_SITE = "b builds the site: a minute at most for a few hundred pages."
SCENES = {
    "campaigns": Scene("campaigns", running, shows("h200-nightly", "h200-2026-04-30", "3 ✓")),
    "campaigns-empty": Scene("campaigns", empty, shows("Nothing has been measured in this workspace yet.")),
    "choose": Scene("choose", finished, presses("[ ] numpy", "down space tab tab down space", "[x] resnet50", "1n8g")),
    "choose-impossible": Scene("choose", finished, presses("[ ] numpy", "down space tab", "lenet5")),
    "choose-start": Scene("choose", finished, presses("[ ] numpy", "p enter s", "dlperf run")),
    "choose-check": Scene("choose", empty, ready_machines),
    "watch": Scene("watch", alone, shows("71/120", "step=71", "597 W")),
    "watch-unreachable": Scene("watch", unreachable, shows("71/120", "Paused: no new trial starts; R resumes.")),
    "watch-failed": Scene("watch", alone, presses("step=71", "slash f a i l e d enter down e", "OutOfMemoryError")),
    "watch-cancel": Scene("watch", alone, presses("71/120", "x", "Keep running")),
    "watch-log": Scene("watch", alone, presses("step=71", "m slash s t e p = 7 enter", "step=7 ")),
    "trial-curve": Scene("watch", finished, presses("22,910", "down o", "┤")),
    "trial-figure": Scene("watch", finished, presses("22,910", "down o tab", "rate(skip=20, take=100)")),
    "trial-log": Scene("watch", finished, presses("22,910", "down o m", "step=20 ")),
    "results": Scene("results", running, shows("23,072 img/s")),
    "results-compared": Scene("results", changed, presses("h200-driver-580", "end c enter", "%")),
    "publish": Scene("publish", empty, shows(NO_SITE)),
    "publish-built": Scene("publish", built, output_of_the_builder),
    "machines": Scene("machines", empty, answered_machines),
    "machine-form": Scene("machines", empty, machine_form),
    "help": Scene("watch", alone, presses("71/120", "question_mark", "On this screen")),
    "palette": Scene("watch", alone, presses("71/120", "ctrl+p", "Start no new trial")),
}
