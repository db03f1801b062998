"""The operator's terminal: a view of the files in runs/ and of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """``dlperf-tui [WORKSPACE]``.

    Raises:
        SystemExit: always, with an exit code of ``dlperf.errors.ExitCode``.
    """
    from dlperf.app.command_line import run
    from dlperf.garbage import look_seldom

    look_seldom()
    raise SystemExit(run(arguments))
