"""Logs are read beside the engine, which neither waits for them nor is delayed by them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading

import pytest
from driving_engine import run, states, until
from scripted import ScriptedExecutor, campaign, planned

from dlperf.campaign import stages
from dlperf.campaign.running import run_in_background
from dlperf.formats.parser import LogParser
from waiting import PATIENCE_SECONDS

ENDLESS = """\
import asyncio, threading
from dlperf.campaign.running import run_in_background

async def main():
    task = asyncio.create_task(run_in_background(threading.Event().wait))
    await asyncio.sleep(0)
    task.cancel()

asyncio.run(main())
"""


def test_a_process_ends_while_it_reads_a_log_without_end():
    subprocess.run([sys.executable, "-c", ENDLESS], check=True, timeout=PATIENCE_SECONDS)


async def test_an_error_in_the_background_is_raised():
    with pytest.raises(ZeroDivisionError):
        await run_in_background(lambda: 1 // 0)
    assert await run_in_background(lambda: 1) == 1


async def test_an_engine_is_interrupted_while_it_measures_a_trial(tmp_path, monkeypatch):
    measures, released = threading.Event(), threading.Event()
    derive = stages.derive

    def derive_slowly(*arguments):
        measures.set()
        released.wait(PATIENCE_SECONDS)
        return derive(*arguments)

    monkeypatch.setattr(stages, "derive", derive_slowly)
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor()
    engine = asyncio.create_task(run(paths, executor))
    await until(measures.is_set)
    os.kill(os.getpid(), signal.SIGINT)
    assert await engine == "SIGINT"
    assert not released.is_set()
    monkeypatch.undo()
    released.set()
    await run(paths, executor)
    assert states(paths) == {"a.1": "succeeded"}


async def test_the_log_of_a_running_trial_is_parsed_outside_of_the_event_loop(tmp_path, monkeypatch):
    threads = set()
    feed = LogParser.feed
    monkeypatch.setattr(
        LogParser, "feed", lambda *arguments: (threads.add(threading.current_thread()), feed(*arguments))
    )
    await run(campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor())
    assert threads
    assert threading.main_thread() not in threads
