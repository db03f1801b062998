"""Engines that end at any point, and the next one."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal

import pytest
from driving_engine import A, run, states, until
from scripted import Script, ScriptedExecutor, campaign, planned

from dlperf.errors import RequestError, StorageError
from dlperf.messages import message
from dlperf.plan import TrialKey
from dlperf.runs.archive import TrialFiles
from dlperf.runs.lock import engine_lock
from dlperf.runs.records import Event, Request, State
from dlperf.runs.store import append_records


async def test_a_second_engine_is_refused(tmp_path):
    paths = campaign(tmp_path, planned("a"))
    with engine_lock(paths), pytest.raises(RequestError, match=f"runs already \\(process {os.getpid()}\\)"):
        await run(paths, ScriptedExecutor())


async def test_a_signal_leaves_the_trials_alone_and_the_next_engine_adopts_them(tmp_path):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor({"a.1": Script(polls=-1)})
    engine = asyncio.create_task(run(paths, executor))
    await until(lambda: executor.polled)
    os.kill(os.getpid(), signal.SIGINT)
    assert await engine == "SIGINT"
    assert executor.called("cancel") == []
    assert states(paths) == {"a.1": "running"}
    executor.scripts["a.1"].polls = 0
    assert await run(paths, executor) is None
    assert (executor.called("submit"), executor.called("adopt")) == (["a.1"], ["a.1"])
    assert states(paths) == {"a.1": "succeeded"}


async def test_a_cancel_that_an_engine_did_not_live_to_carry_out_is_carried_out_by_the_next(tmp_path):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor({"a.1": Script(polls=-1)})
    engine = asyncio.create_task(run(paths, executor))
    await until(lambda: states(paths) == {"a.1": "running"})
    engine.cancel()
    await asyncio.gather(engine, return_exceptions=True)
    append_records(paths.journal, [Event("t", "request", data={"action": "cancel", "offset": 0})])
    await run(paths, executor)
    assert states(paths) == {"a.1": "cancelled"}


@pytest.mark.parametrize("is_journaled", [False, True])
async def test_a_trial_that_an_engine_left_while_it_was_checked_and_that_is_cancelled_is_archived(
    tmp_path, is_journaled
):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor({"a.1": Script(busy=-1)})
    trial = paths.trial(TrialKey(A, 1))
    engine = asyncio.create_task(run(paths, executor))
    await until(trial.trial.exists)
    engine.cancel()
    await asyncio.gather(engine, return_exceptions=True)
    if is_journaled:
        cancelled = Event("t", "state", f"{A}/1", State.CANCELLED, message("cancelled_before"), "viewer")
        append_records(paths.journal, [cancelled])
    else:
        append_records(paths.control, [Request("t", "cancel")])
    await run(paths, executor)
    assert states(paths) == {"a.1": "cancelled"}
    assert TrialFiles(trial).problems() == []
    assert json.loads(trial.result.read_text())["cause"] == {"code": "cancelled_before"}


async def test_a_trial_that_was_never_started_is_started_by_the_next_engine(tmp_path):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor()
    append_records(paths.journal, [Event("t", "state", f"{A}/1", "submitted")])
    await run(paths, executor)
    assert executor.called("submit") == ["a.1"]
    assert states(paths) == {"a.1": "succeeded"}


async def test_a_running_trial_that_no_node_knows_any_more_is_lost_and_tried_again(tmp_path):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor()
    append_records(paths.journal, [Event("t", "state", f"{A}/1", "running")])
    await run(paths, executor)
    assert states(paths) == {"a.1": "lost", "a.2": "succeeded"}


async def test_a_full_disk_ends_the_engine_and_the_next_one_collects(tmp_path, monkeypatch):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor()

    def full(*_: object) -> None:
        raise StorageError("archive.json: cannot be written (No space left on device)")

    with monkeypatch.context() as patch:
        patch.setattr("dlperf.campaign.stages.seal", full)
        with pytest.raises(StorageError, match="No space left"):
            await run(paths, executor)
    assert states(paths) == {"a.1": "running"}
    await run(paths, executor)
    assert executor.called("submit") == ["a.1"]
    assert states(paths) == {"a.1": "succeeded"}


async def test_a_full_disk_while_tailing_ends_the_engine(tmp_path, monkeypatch):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor()

    async def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", "out.log")

    monkeypatch.setattr(executor, "tail", full)
    with pytest.raises(StorageError, match=r"out\.log: No space left on device"):
        await run(paths, executor)
    assert states(paths)["a.1"] == "running"
