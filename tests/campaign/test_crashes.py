"""Engines that are killed at any point: nothing is started twice, nothing is lost."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections import Counter

import pytest

from counting_workspace import Counting
from dlperf.messages import quoted
from dlperf.runs.archive import TrialFiles
from dlperf.runs.journal import campaign_status
from dlperf.runs.lock import engine_pid
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.records import Event
from dlperf.runs.store import append_records

RUN = ("run", "-H", "local", "-f", "counting", "-c", "lenet5", "--yes", "--name", "try")


@pytest.mark.parametrize("seed", [1, 2])
def test_an_engine_killed_again_and_again_starts_each_trial_once(counting, seed):
    moments = random.Random(seed)
    counting.dlperf(*RUN, "-b", "32,64", "--repeats", "2", "--detach")
    paths = counting.campaign("try")
    for _ in range(5):
        while (pid := engine_pid(paths)) is None and not campaign_status(paths).finished:
            counting.dlperf("resume", "try", "--detach")
        if pid is None:
            break
        time.sleep(moments.uniform(0.0, 0.4))
        kill(paths, pid)
    if not campaign_status(paths).finished:
        counting.dlperf("resume", "try")
    assert Counter(counting.states("try").values()) == {"succeeded": 4}
    assert Counter(Counter(counting.starts).values()) == {1: 4}
    for key in campaign_status(paths).trials:
        assert TrialFiles(paths.trial(key)).problems() == []
        assert paths.trial(key).node("local").log.read_bytes().count(b"DLPERF") == 12


def kill(paths: CampaignPaths, pid: int) -> None:
    """Kill an engine and wait until the kernel has let go of its lock."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    while engine_pid(paths) == pid:
        time.sleep(0.01)


def running(counting: Counting, repeats: int) -> subprocess.Popen[bytes]:
    """An engine whose first trial runs until its hold is removed."""
    counting.hold(32)
    engine = counting.start(*RUN, "-b", "32", "--repeats", str(repeats))
    counting.wait_for("try", "32/1", "running")
    return engine


def test_a_journal_that_cannot_grow_ends_the_engine_and_is_mended_by_the_next(counting):
    engine = running(counting, 2)
    engine.kill()
    engine.wait()
    paths = counting.campaign("try")
    append_records(paths.journal, [Event("t", "note", cause=quoted("x" * 1000))] * 1000)
    (counting.home / "hold-32").unlink()
    limit = paths.journal.stat().st_size + 300
    done = subprocess.run(
        ["prlimit", f"--fsize={limit}", *counting.command("resume", "try")],
        env=counting.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert f"dlperf: {paths.journal}: cannot be written" in done.stderr.splitlines()[-1]
    assert not paths.journal.read_bytes().endswith(b"\n")
    counting.dlperf("resume", "try")
    assert counting.states("try") == {"32/1": "succeeded", "32/2": "succeeded"}
    assert Counter(Counter(counting.starts).values()) == {1: 2}


def test_status_tells_a_dead_engine_and_what_to_do(counting):
    engine = running(counting, 1)
    engine.kill()
    engine.wait()
    told = counting.dlperf("status", "try")
    assert "engine is not running: `dlperf resume try`" in told.stderr
    assert "running" in told.stdout
    (counting.home / "hold-32").unlink()
    done = counting.dlperf("resume", "try")
    assert "32" in done.stdout
    assert len(counting.starts) == 1


def test_ctrl_c_leaves_the_trials_on_their_nodes(counting):
    engine = running(counting, 1)
    engine.send_signal(signal.SIGINT)
    _, said = engine.communicate()
    assert engine.returncode == 130
    assert b"`dlperf resume try` continues the campaign" in said
    (counting.home / "hold-32").unlink()
    counting.dlperf("resume", "try")
    assert counting.states("try") == {"32/1": "succeeded"}
    assert len(counting.starts) == 1


def test_two_engines_at_once_are_refused(counting):
    engine = running(counting, 1)
    refused = counting.dlperf("resume", "try", code=2)
    assert f"its engine is running (process {engine.pid})" in refused.stderr
    counting.dlperf("cancel", "try")
    engine.communicate()
    assert engine.returncode == 1
    assert counting.states("try") == {"32/1": "cancelled"}


@pytest.mark.parametrize("moved", [".", "engine.lock"])
def test_an_engine_whose_campaign_was_moved_stops_and_writes_nothing_in_its_place(counting, moved):
    engine = running(counting, 2)
    place = counting.campaign("try").directory / moved
    away = counting.workspace.root / "away"
    place.rename(away)
    _, errors = engine.communicate(timeout=60)
    assert engine.returncode == 1
    assert b"was moved or removed while its engine ran: put it back, then run `dlperf resume`" in errors
    assert not place.exists()
    away.rename(place)
    (counting.home / "hold-32").unlink()
    counting.dlperf("resume", "try")
    assert counting.states("try") == {"32/1": "succeeded", "32/2": "succeeded"}
    assert len(counting.starts) == 2


def test_cancelling_works_when_no_engine_is_left(counting):
    engine = running(counting, 2)
    engine.kill()
    engine.wait()
    counting.dlperf("cancel", "try")
    counting.wait_for("try", "32/1", "cancelled")
    counting.wait_for("try", "32/2", "cancelled")
    assert len(counting.starts) == 1


def test_a_running_campaign_can_be_cancelled_though_its_plan_was_damaged(counting):
    engine = running(counting, 2)
    paths = counting.campaign("try")
    plan = paths.plan.read_bytes()
    paths.plan.write_bytes(b"[")
    assert "cancel: accepted" in counting.dlperf("cancel", "try").stderr
    _, said = engine.communicate()
    assert f"{paths.plan}: not a campaign".encode() in said
    paths.plan.write_bytes(plan)
    assert set(counting.states("try").values()) == {"cancelled"}
