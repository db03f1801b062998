"""Work that is done by several processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from dlperf.report.processes import apart, side_by_side

WAITING = """
import os, signal, time
from dlperf.report.processes import apart, side_by_side

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by what a shell runs in the background

def wait(items):
    for _ in items:
        os.write(1, b"begun\\n")
        time.sleep(600)

try:
    apart(lambda: list(side_by_side(wait, range(2))))
except KeyboardInterrupt:
    print("interrupted")
"""


def test_work_in_a_process_apart_may_be_shared_among_others() -> None:
    assert sum(apart(lambda: list(side_by_side(sum, range(10))))) == 45


def test_what_was_raised_in_a_process_is_raised_where_it_is_waited_for() -> None:
    with pytest.raises(ZeroDivisionError):
        apart(lambda: list(side_by_side(lambda items: [1 // item for item in items], (0, 0))))


def test_ctrl_c_is_told_once_and_leaves_no_process() -> None:
    command = [sys.executable, "-c", WAITING]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        for _ in range(min(2, os.cpu_count() or 1)):
            assert process.stdout.readline() == "begun\n"
        os.killpg(process.pid, signal.SIGINT)
        assert process.stdout.read() == "interrupted\n", "the pipe ends when nobody holds it any more"
