"""The terminal user interface: a view of the files in runs/ and of the catalogue."""

import gc
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """``dlperf-tui [WORKSPACE]``. Raises SystemExit: always, with an exit code of ``dlperf.errors.ExitCode``."""
    from dlperf.app.command_line import run

    gc.set_threshold(100_000)  # as in dlperf.cli
    sys.setswitchinterval(0.001)  # a thread that reads files makes no key wait for it
    raise SystemExit(run(arguments))
