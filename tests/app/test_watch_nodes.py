"""Logs and machines of the selected trial on the Watch screen."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime

import pytest
from builder import (
    NOW,
    POINTS,
    CampaignBuilder,
    clock,
    engine_of,
    finished_campaign,
    planned,
    running_campaign,
)
from driving import driving, press, screen_of, shown, until, until_gone, until_shown

from dlperf.app.app import DlperfApp
from dlperf.app.screens.watch import WatchScreen
from dlperf.app.watching import WatchedCampaign
from dlperf.messages import message, quoted
from dlperf.plan import TrialKey
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import Event, State, TrialProgress

RUNNING = TrialKey(POINTS[1].id, 2)


async def test_the_log_and_the_machines_of_the_selected_trial_are_shown(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "step=71", "597 W", "1410", "5!")
            await pilot.press("slash", *"failed", "enter")
            await until_shown(pilot, "torch.OutOfMemoryError")
            assert "71/120" not in shown(pilot)


async def test_machines_of_a_trial_are_not_taken_for_those_of_the_next(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    following = TrialKey(POINTS[2].id, 2)
    builder.state(following, State.RUNNING, 1310)
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "597 W")
            screen = screen_of(pilot, WatchScreen)
            assert screen.campaign is not None
            assert screen.devices.devices
            screen.devices.show_trial(screen.campaign, following, screen.now)
            assert not screen.devices.devices


async def test_an_unreachable_node_is_named_with_the_time(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    silence = message("goes_on_there", cause=quoted("RuntimeError: rank 3 cannot be reached (timeout)"))
    builder.event(Event(clock(1310), "node_unreachable", cause=silence, data={"node": "h200-01"}))
    progress = TrialProgress(71, 120, 3010.4, "images/s", (), 98.0, {"h200-01": clock(1310)})
    builder.progress({RUNNING: progress})
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, f"h200-01 unreachable since 05-04 10:21: {silence}")
            builder.event(Event(clock(1320), "node_reachable", data={"node": "h200-01"}))
            await until_gone(pilot, "its trials keep running")


async def test_a_trial_that_waits_says_for_what_and_why_it_has_no_log(workspace: WorkspacePaths):
    builder = CampaignBuilder(workspace, "waiting", [planned(POINTS[0], 1)])
    key = builder.trials[0]
    builder.state(key, State.SUBMITTED, 5)
    builder.progress({key: TrialProgress(pending_reason=quoted("Resources (job 4711)"))})
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "waits: Resources (job 4711)", "No log yet: the node has not written anything")
            reason = quoted("not ready: " + "word " * 40 + "and-then-it-ends")
            builder.progress({key: TrialProgress(pending_reason=reason)})
            await until_shown(pilot, "and-then-it-ends")


async def test_the_log_that_is_read_stays_when_others_come(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    builder.log(RUNNING, "rank 0 speaks\n", name="ranks/worker.0")
    builder.log(RUNNING, "rank 1 speaks\n", name="ranks/worker.2")
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "71/120", "h200-01 1/3")
            await pilot.press("]", "]")
            await until_shown(pilot, "worker.2 3/3", "rank 1 speaks")
            builder.log(RUNNING, "another rank\n", name="ranks/worker.1")
            await until_shown(pilot, "worker.2 4/4", "rank 1 speaks")


def written(builder: CampaignBuilder, seconds: float) -> None:
    """What the engine has of the running trial is so old."""
    moment = datetime.fromisoformat(NOW).timestamp() - seconds
    for path in builder.paths.trial(RUNNING).node("h200-01").directory.iterdir():
        os.utime(path, (moment, moment))


async def test_a_node_that_sends_nothing_is_said_not_to_answer_before_the_connection_breaks(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    written(builder, 12)
    with engine_of(builder.paths):
        async with driving(workspace, size=(160, 40), start_screen="watch") as pilot:
            await until_shown(pilot, "h200-01: no answer for 12s", "at least 2h20 left", "2h04 so far", "1h42")
            assert "1m38 left" not in shown(pilot)
            other = TrialKey(POINTS[0].id, 3)
            builder.state(other, State.RUNNING, 7000)
            builder.log(other, "another trial speaks\n")
            await press(pilot, "home", "F")
            await until_shown(pilot, "another trial speaks")
            builder.succeeded(other, 23000.0, 7000)
            written(builder, 0)
            await until_shown(pilot, "about 2h20 left", "1m38 left")


async def test_before_a_trial_has_ended_the_time_left_is_that_of_earlier_campaigns(workspace: WorkspacePaths):
    finished_campaign(workspace, "before")
    builder = CampaignBuilder(workspace, "now", [planned(POINTS[0], 99)])
    with engine_of(builder.paths):
        async with driving(workspace, size=(160, 40), start_screen="watch") as pilot:
            await until_shown(pilot, "0 of 99", "2h04 so far  about 6h36 left")  # it waits for its machine
            builder.state(builder.trials[0], State.RUNNING, 3600)
            await until_shown(pilot, "1 running", "2h04 so far  about 5h32 left")


async def test_the_time_that_a_node_has_not_answered_grows_while_nothing_is_written(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    builder.telemetry(RUNNING)
    node = builder.paths.trial(RUNNING).node("h200-01")
    written(builder, 40)
    with engine_of(builder.paths):
        async with driving(workspace, size=(160, 40), start_screen="watch") as pilot:
            for age in (12, 30):
                moment = datetime.fromisoformat(NOW).timestamp() - age
                os.utime(node.log, (moment, moment))
                said = f"h200-01: no answer for {age}s"
                await until(
                    pilot, lambda said=said: shown(pilot).count(said) == 2
                )  # beside the trial, and its machines


async def test_a_log_that_does_not_grow_is_said_to_be_silent(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    written(builder, 130)
    (builder.paths.trial(RUNNING).node("h200-01").telemetry).touch()
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "silent for 2m10", "at least 2h20 left")


async def test_the_machines_of_a_finished_trial_are_shown_with_their_means(workspace: WorkspacePaths):
    builder = finished_campaign(workspace, "done")
    header = (
        "time,gpu,utilization_percent,memory_used_mib,power_watts,sm_clock_mhz,memory_clock_mhz,temperature_celsius"
    )
    rows = ["1,0,100,10240,600,1980,2619,70", "2,0,80,61440,500,1980,2619,60", "3,0,0,1024,100,345,2619,50"]
    path = builder.paths.trial(builder.trials[0]).node("h200-01").telemetry
    path.write_text("\n".join([header, *rows]) + "\n")
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "Whole trial: means, peak memory and heat", "60 %", "60 GiB", "400 W", "70 °C", "1435")
        await pilot.resize_terminal(80, 24)
        await until_shown(pilot, "h200-01, whole trial: GPU 60 % 60 GiB 400 W 70 °C")


async def test_what_gpus_did_over_time_is_shown_where_there_is_room(workspace: WorkspacePaths):
    builder = finished_campaign(workspace, "done")
    header = "time,gpu,utilization_percent,memory_used_mib,power_watts,sm_clock_mhz"
    rows = [f"{second},0,{50 + second},61440,{100 * second},1980" for second in range(1, 8)]
    path = builder.paths.trial(builder.trials[0]).node("h200-01").telemetry
    path.write_text("\n".join([header, *rows]) + "\n")
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "▂▃▄▄▅▆▇ power", "▇▇▇▇▇▇▇ MHz")
        await pilot.resize_terminal(120, 12)
        await until_gone(pilot, "▂▃▄▄▅▆▇ power")


async def test_a_log_is_read_in_the_pager_of_the_user(workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch):
    finished_campaign(workspace, "done")
    copied = workspace.root / "paged"
    monkeypatch.setenv("PAGER", f"tee {copied} <")
    monkeypatch.setattr(DlperfApp, "suspend", lambda _app: nullcontext())
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "step=120")
        await pilot.press("v")
        await until(pilot, copied.is_file)
        assert "step=120" in copied.read_text()


async def test_each_gpu_shows_what_it_did_over_time(workspace: WorkspacePaths):
    running_campaign(workspace)
    async with driving(workspace, size=(160, 40), start_screen="watch") as pilot:
        await until_shown(pilot, "▇▇▇  97 %")
        await press(pilot, "H")
        await until_shown(pilot, "Machines over time", "busy", "power", "MHz", "memory", "▇▇▇▇▇▇▇▇▇▇")
        await until_shown(pilot, "h200-01", "1410", "595 W", "61 GiB")
        await press(pilot, "end")
        await until_shown(pilot, "0s───", "───2s")
        await press(pilot, "y")
        assert "| h200-01 |  |  |  |  |\n| 0 | busy | " in pilot.app.clipboard


def test_nobody_logs_in_to_the_machine_that_the_program_runs_on(workspace: WorkspacePaths):
    plan = planned(POINTS[0], 1)
    nodes = tuple(replace(node, transport="local", host="localhost") for node in plan.launch.nodes)
    local = replace(plan, launch=replace(plan.launch, nodes=nodes))
    for item, login in ((plan, plan.launch.nodes[0].host), (local, None)):
        builder = CampaignBuilder(workspace, f"login-{login}", [item])
        (stream,) = WatchedCampaign(builder.paths).streams(builder.trials[0])
        assert (stream.login[-1] if stream.login else None) == login
