"""The ``dlperf`` commands; thin.

To add a command:

1. Write it in the module of its group (``cli/campaigns.py``, ``cli/catalog.py`` …)::

       commands = typer.Typer()

       @commands.command()
       def status(context: typer.Context, as_json: Annotated[bool, typer.Option("--json")] = False) -> None:
           \"\"\"One line that says what it does; it is the command's help.\"\"\"
           from dlperf.runs.journal import campaign_status      # every import of a room stays inside

           workspace = current_workspace(context)               # cli.context
           ...
           raise typer.Exit(ExitCode.MEASURED_FAILED)           # or return, for 0

2. Add the module to ``GROUPS`` of ``cli/root.py``: its place there is the command's place in ``dlperf --help``.

At the top of such a module only the standard library, ``typer``, ``dlperf.errors`` and ``dlperf.cli.*`` may
be imported, so that ``dlperf --help`` stays quick. Raise ``DlperfError`` (``RequestError`` for a wrong
request): ``main`` prints its one line and exits with its code. Write results with ``cli.output``:
``print_json`` for ``--json``, ``print_table`` otherwise; progress goes to stderr by ``Progress``.
"""

from __future__ import annotations

import gc
import os
import sys
import traceback
from collections.abc import Sequence

from dlperf.errors import DlperfError, ExitCode


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, without arguments its help; every way out is an exit code, every error one line on stderr.

    Raises:
        SystemExit: always.
    """
    gc.set_threshold(100_000)  # of 700: `dlperf results --json` of 10,000 configurations takes a third less time
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        code = _run(words)
        sys.stdout.flush()
    except KeyboardInterrupt:  # while the commands are loaded
        code = ExitCode.INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = ExitCode.MEASURED_FAILED
    raise SystemExit(int(code))


def _run(words: list[str]) -> int:
    import typer

    from dlperf.cli.root import app

    debug = "--debug" in words
    try:
        return int(app(words, prog_name="dlperf", standalone_mode=False) or ExitCode.DONE)
    except typer.TyperException as error:
        return _complain((_usage(error),), error.exit_code)
    except typer.Abort:
        return _complain(("nothing was done",), ExitCode.INTERRUPTED)
    except KeyboardInterrupt:
        return _complain(("interrupted",), ExitCode.INTERRUPTED)
    except BrokenPipeError:
        raise
    except DlperfError as error:
        return _complain(error.lines, error.exit_code, debug)
    except OSError as error:
        return _complain((_refused_by_the_system(error),), ExitCode.MEASURED_FAILED, debug)
    except Exception as error:
        message = f"unexpected {type(error).__name__}: {error}: run again as `dlperf --debug …`"
        return _complain((message,), ExitCode.MEASURED_FAILED, debug)


def _refused_by_the_system(error: OSError) -> str:
    """What the machine would not do for us: a disk that is full, a file that may not be read."""
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}: free space, mend permissions, or run again as `dlperf --debug …`"


def _usage(error: Exception) -> str:
    """Typer's sentence, and the command whose ``--help`` says more."""
    message = getattr(error, "format_message", error.__str__)()
    context = getattr(error, "ctx", None)
    return f"{message.rstrip('.')}: see `{context.command_path} --help`" if context else message


def _complain(messages: Sequence[str], code: int, traceback_wanted: bool = False) -> int:
    from dlperf.view.text import one_line

    if traceback_wanted:
        traceback.print_exc()
    for message in messages:
        print(f"dlperf: {one_line(message)}", file=sys.stderr)
    return code
