"""The line that names the error, in outputs of real launchers (``tests/data/failures``)."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlperf.measured.causes import diagnosis
from dlperf.measured.error_lines import failed_rank, last_line
from dlperf.messages import quoted

FOLDER = Path(__file__).parents[1] / "data" / "failures"
ERRORS = {
    "torchrun_exception": "ValueError: bad shape (3, 4)",
    "torchrun_no_file": "/opt/venv/bin/python3: can't open file '/home/a/nothere.py': [Errno 2] "
    "No such file or directory",
    "torchrun_signal": "rank 1 on n2: Signal 9 (SIGKILL) received by PID 30470",
    "torchrun_group": "ValueError: a",
    "mpirun_root": "mpirun has detected an attempt to run as root.",
    "mpirun_exception": "ValueError: bad shape (3, 4)",
    "mpirun_no_program": "mpirun was unable to find the specified executable file, and therefore did not launch the "
    "job.  This error was first reported for process rank 0; it may have occurred for other processes as well. "
    "(Node: n1; Executable: nothere)",
    "mpirun_slots": "There are not enough slots available in the system to satisfy the 2000 slots that were "
    "requested by the application:",
    "mpirun_no_ssh": "ssh: connect to host 127.0.0.9 port 22: Connection refused",
    "mpirun_lost_node": "ORTE has lost communication with a remote daemon. (HNP daemon: [[28103,0],0] on node n1; "
    "Remote daemon: [[28103,0],1] on node n2)",
    "mpirun_signal": "mpirun noticed that process rank 1 with PID 445 on node n2 exited on signal 11 "
    "(Segmentation fault).",
    "horovodrun_exception": "ValueError: bad shape (3, 4)",
    "horovodrun_no_ssh": "ssh: Could not resolve hostname nohost-x: Name or service not known",
    "horovodrun_no_program": "env: ‘nothere’: No such file or directory",
    "srun_no_program": "slurmstepd-n1: error: execve(): nosuchprog: No such file or directory",
    "srun_signal": "srun: error: n2: task 1: Segmentation fault",
    "srun_no_pyxis": "srun: unrecognized option '--container-image=x'",
    "podman_no_registry": "Error: initializing source docker://nosuch.invalid/img:1: pinging container registry "
    'nosuch.invalid: Get "https://nosuch.invalid/v2/": dial tcp: lookup nosuch.invalid: no such host',
    "pip_no_version": "ERROR: No matching distribution found for scipy==1.18.1",
    "lmod_no_module": 'Lmod has detected the following error: The following module(s) are unknown: "nosuch/1"',
    "docker_no_daemon": "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. "
    "Is the docker daemon running?",
}
MESSAGES = {
    "torchrun_message": "config file missing: x.yaml",
    "mpirun_message": "config file missing: x.yaml",
    "mpirun_message_first": "config is wrong: no such key lr",
    "horovodrun_message": "config file missing: x.yaml",
    "srun_message": "no config file x.yaml",
    "srun_aborted": "srun: error: n2: task 1: Exited with exit code 1",
    "srun_terminated": "srun: error: n2: task 1: Exited with exit code 1",
    "srun_aborted_message": "no config file x.yaml",
}
RANKS = {
    "mpirun_exception": 1,
    "mpirun_message": 0,
    "mpirun_signal": 1,
    "horovodrun_exception": 1,
    "srun_message": None,
}


def output(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text()


@pytest.mark.parametrize(("name", "line"), ERRORS.items(), ids=ERRORS)
def test_the_first_line_that_names_an_error_is_found_among_the_launcher_s_banners(name: str, line: str):
    assert diagnosis(output(name)) == quoted(line)


@pytest.mark.parametrize(("name", "line"), MESSAGES.items(), ids=MESSAGES)
def test_without_an_error_the_program_s_last_line_is_quoted_and_not_the_launcher_s(name: str, line: str):
    assert (diagnosis(output(name)), last_line(output(name))) == (None, line)


@pytest.mark.parametrize(("name", "rank"), RANKS.items(), ids=RANKS)
def test_the_launcher_names_the_rank_that_failed(name: str, rank: int | None):
    assert failed_rank(output(name)) == rank


def test_every_kept_output_is_tested():
    assert {path.stem for path in FOLDER.iterdir()} == ERRORS.keys() | MESSAGES.keys()


SHELLS = {
    "sh: 1: exec: torchrun: not found": "a program that is missing",
    "/root/.dlperf/x.1/n1/launch.sh: 7: exec: torchrun: Permission denied": "a program that cannot be run",
    "train.py: error: unrecognized arguments: --epoch": "an option that a program does not know",
    "FATAL:   container creation failed: mount /data->/data error": "a message of apptainer",
    "AssertionError": "an exception without a message",
    "Fatal Python error: Segmentation fault": "an interpreter that crashes",
}


@pytest.mark.parametrize("line", SHELLS, ids=SHELLS.values())
def test_an_error_is_known_by_its_beginning(line: str):
    assert diagnosis(f"loading\n{line}\nloss 1.0\n") == quoted(line)


@pytest.mark.parametrize(
    "line", ["error: 0.125", "libcuda warning: /dev/x: No such file or directory", f"{'-' * 64}\nmean 3\n{'-' * 64}"]
)
def test_a_figure_a_warning_and_a_table_are_no_errors(line: str):
    assert diagnosis(line) is None


SHUTDOWNS = (
    "/usr/lib/python3.12/multiprocessing/resource_tracker.py:254: UserWarning: resource_tracker: There appear to be 18 "
    "leaked shared_memory objects to clean up at shutdown\n  warnings.warn('resource_tracker: There appear to be %d '",
    "[rank0]:[W1128 05:00:00.1 ProcessGroupNCCL.cpp:1538] Warning: WARNING: destroy_process_group() was not called "
    "before program exit",
    "sys:1: ResourceWarning: unclosed file <_io.TextIOWrapper name='x'>",
)


@pytest.mark.parametrize("printed", SHUTDOWNS)
def test_what_an_interpreter_prints_as_it_shuts_down_is_not_the_last_line(printed: str):
    assert last_line(f"step 3\nno config file x.yaml\n{printed}\n") == "no config file x.yaml"


def test_of_chained_exceptions_the_one_that_was_raised_is_named():
    chained = (
        "KeyError: 'x'\n\nDuring handling of the above exception, another exception occurred:\n\nValueError: no x\n"
    )
    assert diagnosis(f"{chained}RuntimeError: Connection closed by peer\n") == quoted("ValueError: no x")
