"""Why a trial has no figure, in the words that tables show: read from its cause and from the end of its log. Pure."""

from __future__ import annotations

import re

from dlperf.sentences import sentence
from dlperf.sentences.quoted import LAST_OUTPUT, printable_end

OUT_OF_MEMORY = sentence("out_of_memory")

_KNOWN = (
    (
        OUT_OF_MEMORY,
        r"out of memory|OutOfMemoryError|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|OOM when allocating"
        r"|RESOURCE_EXHAUSTED|ResourceExhaustedError|\boom[-_ ]?kill|\bOOM[-_ ]killed|\bOUT_OF_MEMORY\b|\bMemoryError\b"
        r"|std::bad_alloc|[Cc]annot allocate memory",
    ),
    (sentence("nccl_timeout"), r"Watchdog caught collective operation timeout|NCCL.{0,80}timed? ?out"),
    (sentence("nccl_error"), r"ncclUnhandledCudaError|ncclSystemError|ncclInternalError|ncclRemoteError|NCCL error"),
    (sentence("no_space"), r"No space left on device"),
)
"""What frameworks, CUDA, the kernel and Slurm print, most telling first."""

_EXCEPTION = re.compile(r"^\s*(?:\S+:\s)?((?:\w+\.)*\w*(?:Error|Exception)\b: .{1,200})$", re.MULTILINE)
_TAG = re.compile(r"^\[\d+,\d+\]<std(?:out|err)>:\s*|^\[rank\d+\]:\s*", re.MULTILINE)


def diagnosis(text: str) -> str | None:
    """The cause that the end of a log tells, in a few words; None where it tells none.

    A known cause is named whatever stands around it; else the first exception that Python printed last.
    """
    for words, pattern in _KNOWN:
        if re.search(pattern, text):
            return words
    exceptions = _EXCEPTION.findall(_TAG.sub("", text))
    return str(exceptions[-1]).strip() if exceptions else None


def is_out_of_memory(cause: str | None) -> bool:
    """A cause that says that memory did not suffice, of a GPU or of the host."""
    return bool(cause) and diagnosis(cause or "") == OUT_OF_MEMORY


def full_cause(cause: str | None, log_tail: str) -> str | None:
    """The recorded cause, followed by what the log tells where the record does not say so already."""
    told = diagnosis(log_tail)
    if told is None or (cause and told in cause):
        return cause
    return sentence("and_more", told=cause, more=told) if cause else told


def with_last_output(cause: str | None, log_tail: str) -> str | None:
    """A cause that nothing explains, followed by the last line that the program printed."""
    line = printable_end(log_tail.encode(errors="replace"), lines=1)
    if not cause or not line or LAST_OUTPUT in cause:
        return cause
    return sentence("last_output", cause=cause, lines=line)
