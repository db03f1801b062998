"""Define the errors that are printed as one line: what is wrong, where, and what to do."""

from enum import IntEnum

from dlperf.messages import Message, message, quoted


class ExitCode(IntEnum):
    """Exit codes of every dlperf command."""

    DONE = 0
    MEASURED_FAILED = 1
    BAD_REQUEST = 2
    UNREACHABLE = 3
    CANNOT_TELL = 4
    INTERRUPTED = 130


class DlperfError(Exception):
    """An error that the user can act on; ``str()`` is the printed line, in English."""

    exit_code = ExitCode.MEASURED_FAILED

    def __init__(self, problem: str | Message = "") -> None:
        super().__init__(problem)
        self.message = problem if isinstance(problem, Message) else quoted(problem)
        """The same as a code, for records and other languages."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The printed lines, one for each error."""
        return (str(self),)


class RequestError(DlperfError):
    """The request is wrong: an unknown id, an impossible axis, a file that is not a log."""

    exit_code = ExitCode.BAD_REQUEST


class UnreachableError(DlperfError):
    """A machine cannot be reached; the message names it, if known, and the cause."""

    exit_code = ExitCode.UNREACHABLE

    def __init__(self, cause: str | Message, machine: str = "") -> None:
        self.cause = cause if isinstance(cause, Message) else quoted(cause)
        """Without the machine's name."""
        super().__init__(message("of_machine", machine=machine, cause=self.cause) if machine else self.cause)


class RefusedError(UnreachableError):
    """A machine refuses (wrong host key, refused user key, no Python), so that a retry does not help."""


class StorageError(DlperfError):
    """A file of the workspace cannot be written: full disk or missing permission."""
