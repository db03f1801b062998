"""What can go wrong, said in one line: what, where, and what to do next."""

from __future__ import annotations

from enum import IntEnum

from dlperf.messages import Message, message, quoted


class ExitCode(IntEnum):
    """Exit codes of every dlperf command."""

    DONE = 0
    MEASURED_FAILED = 1
    BAD_REQUEST = 2
    UNREACHABLE = 3
    INTERRUPTED = 130


class DlperfError(Exception):
    """An error that its reader can act on; ``str()`` is the one line that is printed, in English."""

    exit_code = ExitCode.MEASURED_FAILED

    def __init__(self, problem: str | Message = "") -> None:
        super().__init__(problem)
        self.message = problem if isinstance(problem, Message) else quoted(problem)
        """The same for records and for readers of other languages."""

    @property
    def lines(self) -> tuple[str, ...]:
        """What is printed: one line, or one for each of several things that are wrong."""
        return (str(self),)


class RequestError(DlperfError):
    """The request was wrong: an unknown id, an impossible axis, a file that is no log."""

    exit_code = ExitCode.BAD_REQUEST


class UnreachableError(DlperfError):
    """A machine could not be reached; the message names the machine, where it is known, and the cause."""

    exit_code = ExitCode.UNREACHABLE

    def __init__(self, cause: str | Message, machine: str = "") -> None:
        self.cause = cause if isinstance(cause, Message) else quoted(cause)
        """Without the machine's name."""
        super().__init__(message("of_machine", machine=machine, cause=self.cause) if machine else self.cause)


class RefusedError(UnreachableError):
    """A machine answered and refused (wrong host key, refused user key, no Python): trying again does not help."""


class StorageError(DlperfError):
    """A file of the workspace cannot be written: the disk is full, or it may not be."""
