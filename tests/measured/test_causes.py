"""Why a trial failed, as the end of its log tells it."""

from __future__ import annotations

import pytest

from dlperf.evidence.logs import TAIL, log_tail
from dlperf.measured.causes import diagnosis, explained, is_out_of_memory
from dlperf.messages import Message, message, quoted

TOKEN = b"ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
OUT_OF_MEMORY = message("out_of_memory")
FAILED = message("exit_code", code_value=1)
BAD_SHAPE = quoted("ValueError: bad shape")
TAILS = {
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB": OUT_OF_MEMORY,
    "[1,3]<stderr>:RuntimeError: CUDA error: out of memory": OUT_OF_MEMORY,
    "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor": OUT_OF_MEMORY,
    "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating": OUT_OF_MEMORY,
    "MemoryError": OUT_OF_MEMORY,
    "[  712.4] Out of memory: Killed process 4242 (python3) total-vm:9000000kB": OUT_OF_MEMORY,
    "RuntimeError: HIP error: hipErrorOutOfMemory": OUT_OF_MEMORY,
    "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`": OUT_OF_MEMORY,
    "ncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nCuda failure 2 'out of memory'": OUT_OF_MEMORY,
    "W1128 03:52:07.8 12155 bfc_allocator.cc:371] Allocator (GPU_0_bfc) ran out of memory trying to allocate 16.02GiB. "
    "The caller indicates that this is not a failure, but\nValueError: bad shape": BAD_SHAPE,
    "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0": OUT_OF_MEMORY,
    "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3)\nRuntimeError: aborted": message("nccl_timeout"),
    "ncclSystemError: System call (e.g. socket, malloc) failed": message("nccl_error"),
    "OSError: [Errno 28] No space left on device": message("no_space"),
    'Traceback (most recent call last):\n  File "t.py"\nValueError: bad shape (3, 4)\n': quoted(
        "ValueError: bad shape (3, 4)"
    ),
    "[rank0]: KeyError: 'train'": quoted("KeyError: 'train'"),
    "torch.distributed.DistNetworkError: port: 29500, code: -98, name: EADDRINUSE, message: address already in use": (
        message("port_in_use")
    ),
    "bind: Address already in use\n": message("port_in_use"),
    "port 29500 is in use, trying the next\nValueError: bad shape": BAD_SHAPE,
    "master port 29500\nloss 1.0\n": None,
    "loss 1.0\nloss 0.9\n": None,
    "": None,
}


@pytest.mark.parametrize(("tail", "found"), TAILS.items())
def test_the_end_of_a_log_tells_the_cause(tail: str, found: Message | None):
    assert diagnosis(tail) == found


def test_what_the_log_tells_is_added_to_the_cause_once():
    once = explained(FAILED, BAD_SHAPE)
    assert str(once) == "exit code 1: ValueError: bad shape"
    assert explained(once, BAD_SHAPE) == once
    assert explained(None, BAD_SHAPE) == BAD_SHAPE
    assert explained(message("cancelled"), None) == message("cancelled")


def test_a_diagnosis_replaces_the_lines_that_were_quoted():
    quoting = message("last_output", cause=FAILED, lines="master port 29500 | CUDA out of memory")
    once = explained(quoting, OUT_OF_MEMORY)
    assert str(once) == "exit code 1: out of memory"
    assert explained(once, OUT_OF_MEMORY) == once


def test_the_error_of_a_node_takes_the_place_of_the_lines_that_its_exit_quoted():
    quoting = message("last_output", cause=FAILED, lines="Traceback (most recent call last):")
    cause = explained(message("of_node", node="h200-02", cause=quoting), BAD_SHAPE)
    assert cause == message("and_more", subject=message("of_node", node="h200-02", cause=FAILED), more=BAD_SHAPE)


def test_a_diagnosis_replaces_that_of_the_journal_which_lacks_secrets():
    kept = explained(FAILED, quoted("ValueError: token [secret:HF_TOKEN] is refused"))
    assert str(explained(kept, quoted("ValueError: token abc is refused"))) == (
        "exit code 1: ValueError: token abc is refused"
    )
    assert explained(kept, None, "ValueError: token abc is refused") == kept


def test_only_a_diagnosis_says_that_memory_was_short():
    assert is_out_of_memory(explained(FAILED, OUT_OF_MEMORY))
    assert is_out_of_memory(message("of_node", node="n1", cause=message("job_memory")))
    assert not is_out_of_memory(message("last_output", cause=FAILED, lines="no out of memory here"))
    assert not is_out_of_memory(message("ended_by_signal", number=9, name="SIGKILL"))
    assert not is_out_of_memory(None)


def test_a_failure_that_nothing_explains_quotes_the_last_line_once():
    first = explained(FAILED, None, "python3: can't open file '/home/a/x.1/train.py'\n\n")
    assert str(first) == "exit code 1; last output: python3: can't open file '/home/a/x.1/train.py'"
    assert explained(first, None, "another line") == first
    assert explained(FAILED, None, " \n") == FAILED


@pytest.mark.parametrize("shown", [1, 20, 39])
def test_the_rest_of_a_secret_that_is_cut_from_the_end_of_a_log_is_not_shown(tmp_path, shown):
    log = tmp_path / "out.log"
    log.write_bytes(b"x" * TAIL + b" " + TOKEN + b" " + b"y" * (TAIL - shown - 1))
    assert TOKEN.decode()[-shown:] + " " not in log_tail(log)
