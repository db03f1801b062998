"""One engine for a campaign."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys

import pytest

from dlperf.errors import DlperfError, RequestError
from dlperf.runs.lock import engine_lock, engine_pid
from dlperf.runs.paths import CampaignPaths

HOLD = (
    "import sys, time; from pathlib import Path; from dlperf.runs.lock import engine_lock;"
    "from dlperf.runs.paths import CampaignPaths\n"
    "with engine_lock(CampaignPaths(Path(sys.argv[1]))): print('held', flush=True); time.sleep(60)"
)


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def test_a_second_engine_is_refused_and_told_of_the_first(holder, tmp_path):
    with (
        pytest.raises(RequestError, match=rf"an engine runs already \(process {holder.pid}\)"),
        engine_lock(CampaignPaths(tmp_path)),
    ):
        pass


def test_viewers_see_which_process_is_the_engine(holder, tmp_path):
    assert engine_pid(CampaignPaths(tmp_path)) == holder.pid


def test_a_killed_engine_holds_nothing(holder, tmp_path):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert engine_pid(CampaignPaths(tmp_path)) is None
    with engine_lock(CampaignPaths(tmp_path)):
        assert engine_pid(CampaignPaths(tmp_path)) == os.getpid()


def test_a_campaign_that_never_ran_has_no_engine(tmp_path):
    assert engine_pid(CampaignPaths(tmp_path)) is None


def test_a_file_system_without_locks_is_said_with_the_file(tmp_path, monkeypatch):
    def refuse(*_: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(DlperfError, match=r"engine\.lock: cannot be locked \(No locks available\): put the workspace"):
        engine_lock(CampaignPaths(tmp_path)).__enter__()
