"""What somebody asks of a campaign that runs: cancel, pause, resume, retry."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from driving_engine import A, events, run, states, until
from scripted import QUICK, Script, ScriptedExecutor, campaign, planned

from dlperf.campaign.engine import run_campaign
from dlperf.messages import message
from dlperf.plan import TrialKey
from dlperf.runs.control import ask
from dlperf.runs.records import State
from waiting import PATIENCE_SECONDS


async def test_a_trial_that_waits_for_its_machine_can_be_cancelled(tmp_path):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor({"a.1": Script(busy=10**6)})
    engine = asyncio.create_task(run_campaign(paths, executor.dependencies, replace(QUICK, busy=60.0)))
    await until(lambda: executor.scripts["a.1"].busy < 10**6)
    ask(paths, "cancel")
    await asyncio.wait_for(engine, PATIENCE_SECONDS)
    assert (states(paths), executor.called("submit")) == ({"a.1": "cancelled"}, [])


async def test_a_trial_whose_machine_hangs_while_it_is_checked_can_be_cancelled(tmp_path):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor()
    hangs = asyncio.Event()

    async def check(launch):
        hangs.set()
        await asyncio.Event().wait()

    executor.check = check
    engine = asyncio.create_task(run(paths, executor))
    await until(hangs.is_set)
    ask(paths, "cancel")
    await engine
    assert states(paths) == {"a.1": "cancelled"}


async def test_a_request_is_handled_at_once_however_seldom_the_queue_is_gone_through(tmp_path):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor({"a.1": Script(polls=-1)})
    engine = asyncio.create_task(run(paths, executor, replace(QUICK, tick=3600.0)))
    await until(lambda: executor.called("submit"))
    ask(paths, "cancel")
    await engine
    assert states(paths) == {"a.1": "cancelled"}


async def test_cancelling_a_campaign_ends_what_runs_and_starts_nothing_more(tmp_path):
    paths, executor = campaign(tmp_path, planned("a"), planned("b")), ScriptedExecutor({"a.1": Script(polls=-1)})
    engine = asyncio.create_task(run(paths, executor))
    await until(lambda: executor.called("submit"))
    ask(paths, "cancel")
    await engine
    assert executor.called("cancel") == ["a.1"]
    assert executor.called("submit") == ["a.1"]
    assert set(states(paths).values()) == {"cancelled"}


async def test_a_trial_that_proves_lost_while_it_is_cancelled_is_not_tried_again(tmp_path):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor({"a.1": Script(polls=-1)})
    executor.on_poll = lambda: executor.nodes.clear() if executor.called("cancel") else None
    engine = asyncio.create_task(run(paths, executor))
    await until(lambda: executor.called("submit"))
    ask(paths, "cancel")
    await engine
    assert states(paths) == {"a.1": "lost"}


async def test_one_trial_is_cancelled_and_the_others_run(tmp_path):
    paths, executor = campaign(tmp_path, planned("a"), planned("b")), ScriptedExecutor()
    ask(paths, "cancel", TrialKey(A, 2))
    await run(paths, executor)
    assert states(paths) == {"a.1": "succeeded", "b.1": "succeeded", "a.2": "cancelled", "b.2": "succeeded"}


async def test_requests_are_read_from_the_start_of_a_file_that_replaced_the_first(tmp_path):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor({"a.1": Script(polls=-1)})
    engine = asyncio.create_task(run(paths, executor))
    await until(lambda: executor.called("submit"))
    ask(paths, "pause")
    ask(paths, "resume")
    await until(lambda: events(paths, "unpaused"))
    paths.control.unlink()
    ask(paths, "cancel")
    await engine
    assert states(paths) == {"a.1": "cancelled"}


async def test_requests_are_read_from_the_start_of_a_longer_file_that_follows_a_removed_one(tmp_path):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor({"a.1": Script(polls=-1)})
    engine = asyncio.create_task(run(paths, executor, replace(QUICK, tick=3600.0)))
    await until(lambda: executor.called("submit"))
    ask(paths, "resume")
    await until(lambda: events(paths, "request"))
    paths.control.unlink()
    paths.progress.unlink()
    await until(paths.progress.exists)  # the engine has noticed
    ask(paths, "cancel", TrialKey(A, 1))
    await engine
    assert states(paths) == {"a.1": "cancelled"}


@pytest.mark.parametrize("name", ["control.jsonl", "progress.json"])
async def test_a_campaign_is_run_though_viewers_cannot_reach_its_engine(tmp_path, name):
    paths, executor = campaign(tmp_path, planned("a")), ScriptedExecutor()
    (paths.directory / name).mkdir()
    await run(paths, executor)
    assert states(paths) == {"a.1": "succeeded", "a.2": "succeeded"}


async def test_a_paused_campaign_starts_nothing_until_it_is_resumed(tmp_path):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor()
    ask(paths, "pause")
    engine = asyncio.create_task(run(paths, executor))
    await until(lambda: events(paths, "paused"))
    written = paths.progress.stat().st_mtime_ns
    await until(lambda: paths.progress.stat().st_mtime_ns > written)  # the engine goes on, and looks what is to be done
    assert executor.called("submit") == []
    ask(paths, "resume")
    await engine
    assert states(paths) == {"a.1": "succeeded"}


async def test_a_retry_is_run_once_however_often_it_is_asked_for(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, ScriptedExecutor({"a.1": Script(State.FAILED, message("exit_code", code_value=7))}))
    for _ in range(3):
        ask(paths, "retry", TrialKey(A, 1))
    await run(paths, ScriptedExecutor())
    assert states(paths) == {"a.1": "failed", "a.2": "succeeded"}
    refused = [str(event.cause) for event in events(paths, "request") if event.cause]
    assert len(refused) == 2
    assert "was already retried" in refused[0]


async def test_what_succeeded_is_not_run_again(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, ScriptedExecutor())
    ask(paths, "retry", TrialKey(A, 1))
    ask(paths, "retry", TrialKey("nobody", 1))
    ask(paths, "levitate")  # type: ignore[arg-type]
    await run(paths, ScriptedExecutor())
    assert [str(event.cause) for event in events(paths, "request")] == [
        f"trial {A}/1 succeeded: a result is never replaced",
        "no trial 'nobody/1' in this campaign",
        "unknown action 'levitate'",
    ]
