"""Why a trial failed, as the end of its log tells it."""

from __future__ import annotations

import pytest

from dlperf.executors.base import failure_kind
from dlperf.results.causes import diagnosis, full_cause, is_out_of_memory, with_last_output

TAILS = {
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB": "out of memory",
    "[1,3]<stderr>:RuntimeError: CUDA error: out of memory": "out of memory",
    "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor": "out of memory",
    "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating": "out of memory",
    "MemoryError": "out of memory",
    "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0": "out of memory",
    "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3)\nRuntimeError: aborted": "NCCL timeout",
    "ncclSystemError: System call (e.g. socket, malloc) failed": "NCCL error",
    "OSError: [Errno 28] No space left on device": "no space left on the device",
    'Traceback (most recent call last):\n  File "t.py"\nValueError: bad shape (3, 4)\n': "ValueError: bad shape (3, 4)",
    "[rank0]: KeyError: 'train'": "KeyError: 'train'",
    "loss 1.0\nloss 0.9\n": None,
    "": None,
}


@pytest.mark.parametrize(("tail", "told"), TAILS.items())
def test_the_end_of_a_log_tells_the_cause(tail: str, told: str | None):
    assert diagnosis(tail) == told


def test_what_the_log_tells_is_added_to_the_cause_once():
    once = full_cause("exit code 1", "ValueError: bad shape")
    assert once == "exit code 1: ValueError: bad shape"
    assert full_cause(once, "ValueError: bad shape") == once
    assert full_cause(None, "ValueError: bad shape") == "ValueError: bad shape"
    assert full_cause("cancelled", "all is well") == "cancelled"


def test_a_signal_alone_is_no_proof_of_an_empty_memory():
    assert is_out_of_memory("exit code 1: out of memory")
    assert not is_out_of_memory("signal 9 (SIGKILL)")
    assert not is_out_of_memory(None)


def test_a_failure_that_nothing_explains_quotes_the_last_line_and_stays_of_one_kind():
    first = with_last_output("exit code 2", "python3: can't open file '/home/a/x.1/train.py'\n\n")
    second = with_last_output("exit code 2", "python3: can't open file '/home/a/x.2/train.py'\n")
    assert first == "exit code 2; last output: python3: can't open file '/home/a/x.1/train.py'"
    assert failure_kind(first) == failure_kind(second) == "exit code 2"
    assert with_last_output(first, "another line") == first
    assert with_last_output("exit code 2", " \n") == "exit code 2"
