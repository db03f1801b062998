"""The ``dlperf`` commands, a thin layer over the other packages.

CONTRIBUTING.md says how to add one.
"""

import gc
import io
import os
import re
import signal
import sys
import traceback
from collections.abc import Sequence
from types import FrameType

from dlperf.errors import DlperfError, ExitCode

NO_COMMAND = re.compile(r"No such command '(\w+)'")
INSTEAD = {
    "help": "`dlperf --help`",
    "list": "`dlperf status` for campaigns, `dlperf catalog` for what can be measured",
    "ls": "`dlperf status` for campaigns, `dlperf catalog` for what can be measured",
    "show": "`dlperf catalog show ID`, `dlperf status CAMPAIGN` or `dlperf results --campaign NAME`",
    "stop": "`dlperf cancel CAMPAIGN`, or `dlperf pause CAMPAIGN` to start no further trials",
    "kill": "`dlperf cancel CAMPAIGN`",
    "delete": "`dlperf clean` for what trials left on nodes; a campaign is removed in `dlperf-tui`",
    "start": "`dlperf run`, or `dlperf resume CAMPAIGN`",
    "log": "`dlperf logs TRIAL`",
}
"""Command that people try → what they may want."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code; print errors as one line on stderr. Raises SystemExit: always."""
    _open_streams()
    _unwind_on_signals()
    gc.set_threshold(100_000)  # default 700: makes `dlperf results --json` of 10,000 configurations a third faster
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        code = _run(words)
        sys.stdout.flush()
    except KeyboardInterrupt:  # during imports
        code = ExitCode.INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = ExitCode.MEASURED_FAILED
    raise SystemExit(int(code))


def _unwind_on_signals() -> None:
    """Let TERM and a closed terminal end a command as Ctrl-C does, which removes what lies in temporary folders."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # `nohup` ignores one
            signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    ctrl_c = signal.getsignal(signal.SIGINT)  # asyncio has its own, which cancels the task that runs
    (ctrl_c if callable(ctrl_c) else signal.default_int_handler)(number, frame)


def _open_streams() -> None:
    """Replace closed standard streams, whose numbers files would get, and print any name in any locale."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    for descriptor, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            setattr(sys, name, open(descriptor, mode, closefd=False))  # noqa: SIM115 - open as long as the process
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _run(words: list[str]) -> int:
    import typer

    from dlperf.cli.root import command

    debug = "--debug" in words
    try:
        return int(command(words)(words, prog_name="dlperf", standalone_mode=False) or ExitCode.DONE)
    except typer.TyperException as error:
        return _print_errors((_describe_usage_error(error),), error.exit_code)
    except typer.Abort:
        return _print_errors(("aborted",), ExitCode.INTERRUPTED)
    except KeyboardInterrupt:
        return _print_errors(("interrupted",), ExitCode.INTERRUPTED)
    except BrokenPipeError:
        raise
    except DlperfError as error:
        return _print_errors(error.lines, error.exit_code, debug)
    except OSError as error:
        return _print_errors((_describe_os_error(error),), ExitCode.MEASURED_FAILED, debug)
    except Exception as error:
        message = f"unexpected {type(error).__name__}: {error}: run again as `dlperf --debug …`"
        return _print_errors((message,), ExitCode.MEASURED_FAILED, debug)


def _describe_os_error(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}: free space, fix permissions, or run again as `dlperf --debug …`"


def _describe_usage_error(error: Exception) -> str:
    message = getattr(error, "format_message", error.__str__)()
    context = getattr(error, "ctx", None)
    missing = NO_COMMAND.match(message)
    if missing and missing[1] in INSTEAD:
        return f"no command '{missing[1]}': see {INSTEAD[missing[1]]}"
    return f"{message.rstrip('.')}: see `{context.command_path} --help`" if context else message


def _print_errors(messages: Sequence[str], code: int, with_traceback: bool = False) -> int:
    from dlperf.view.text import one_line

    if with_traceback:
        traceback.print_exc()
    for message in messages:
        print(f"dlperf: {one_line(message)}", file=sys.stderr)
    return code
