"""Work that is done by several processes."""

from __future__ import annotations

import _thread
import os
import signal
import subprocess
import sys
import threading
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
RAISED = """
from dlperf.report.site.parallel import parallel_map

try:
    parallel_map(lambda item: 1 // item, (0, 0))
except ZeroDivisionError as error:
    print(error)
"""
ORDERED = """
import os
from dlperf.report.site.parallel import parallel_map

done = parallel_map(lambda item: (item * item, os.getpid()), range(10))
print([square for square, _ in done], os.getpid() in {process for _, process in done})
"""
SEVERAL_CORES = pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core: no process is started")


@SEVERAL_CORES
def test_results_come_in_the_order_of_the_items() -> None:
    done = subprocess.run([sys.executable, "-c", ORDERED], capture_output=True, text=True, check=True)
    assert done.stdout == f"{[item * item for item in range(10)]} False\n"


@SEVERAL_CORES
def test_what_was_raised_in_a_worker_is_raised_here() -> None:
    done = subprocess.run([sys.executable, "-c", RAISED], capture_output=True, text=True, check=True)
    assert done.stdout == "integer division or modulo by zero\n"


def test_nothing_is_forked_beside_a_thread_that_the_interpreter_alone_knows() -> None:
    ended = threading.Event()
    thread = _thread.start_new_thread(ended.wait, ())
    assert thread not in (known.ident for known in threading.enumerate())
    try:
        assert parallel_map(lambda item: os.getpid(), range(2)) == [os.getpid()] * 2
    finally:
        ended.set()


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
