"""Work that is done by several processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dlperf.report.site.parallel import parallel_map

WAITING = """
import os, signal, time
from dlperf.report.site.parallel import parallel_map

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by what a shell runs in the background

def wait(item):
    os.write(1, b"begun\\n")
    time.sleep(600)

try:
    parallel_map(wait, range(2))
except KeyboardInterrupt:
    print("interrupted")
"""
KILLED = """
import os, signal
from dlperf.errors import DlperfError
from dlperf.report.site.parallel import parallel_map

try:
    parallel_map(lambda item: os.kill(os.getpid(), signal.SIGKILL), range(2))
except DlperfError as error:
    print(error)
"""
SEVERAL_CORES = pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core: no process is started")


def test_results_come_in_the_order_of_the_items() -> None:
    assert parallel_map(lambda item: item * item, range(10)) == [item * item for item in range(10)]


def test_what_was_raised_in_a_worker_is_raised_here() -> None:
    with pytest.raises(ZeroDivisionError):
        parallel_map(lambda item: 1 // item, (0, 0))


@SEVERAL_CORES
def test_a_killed_worker_is_an_error_and_no_endless_wait() -> None:
    done = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, check=True)
    assert done.stdout == "a worker process was killed: try again\n"


@SEVERAL_CORES
@pytest.mark.parametrize(
    ("number", "whole_group", "said"),
    [(signal.SIGINT, True, "interrupted\n"), (signal.SIGINT, False, "interrupted\n"), (signal.SIGKILL, False, "")],
)
def test_a_signal_ends_every_worker(number: signal.Signals, whole_group: bool, said: str) -> None:
    command, pipe = [sys.executable, "-c", WAITING], subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=subprocess.STDOUT, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        for _ in range(2):
            assert process.stdout.readline() == "begun\n"
        (os.killpg if whole_group else os.kill)(process.pid, number)
        assert process.stdout.read() == said, "the pipe ends when nobody holds it any more"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_build_that_is_ended_while_mkdocs_runs_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    dlperf = [sys.executable, "-m", "dlperf"]
    subprocess.run([*dlperf, "init", str(tmp_path)], check=True, capture_output=True)
    (tmp_path / "site/docs").mkdir()
    for page in range(300):
        (tmp_path / f"site/docs/page-{page}.md").write_text(f"# {page}\n")
    command = [*dlperf, "--workspace", str(tmp_path), "build-site"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as process:
        assert process.stdout is not None
        while not list(tmp_path.glob("site/.html.*/html")):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        process.stdout.read()
        process.wait()
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)
    assert not list(tmp_path.glob("site/.html.*"))
