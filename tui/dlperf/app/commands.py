"""dlperf commands as child processes: this program itself reaches no machine."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Any

from dlperf.runs.paths import WorkspacePaths
from dlperf.view.text import printable

GRACE_SECONDS = 60.0
"""For a command to end; it gives a program that it started 5, which goes on where the command is killed before."""
LONGEST_LINE = 1 << 20
"""Bytes: the answers of many machines are one line each."""


async def _start(workspace: WorkspacePaths, words: Sequence[str], **options: Any) -> asyncio.subprocess.Process:
    """Start a command in its own session: it asks nothing in this terminal, and a signal reaches all its processes."""
    command = [sys.executable, "-m", "dlperf", "--workspace", str(workspace.root), *words]
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
        limit=LONGEST_LINE,
        **options,
    )


async def run_command(workspace: WorkspacePaths, words: Sequence[str]) -> tuple[str, str]:
    """Run a dlperf command to its end; return its output and its last line on stderr."""
    process = await _start(workspace, words, stderr=subprocess.PIPE)
    try:
        output, errors = await process.communicate()
    finally:
        RunningCommand(process).stop()  # nobody waits for it any more
    lines = [line for line in errors.decode(errors="replace").splitlines() if line.strip()]
    return output.decode(errors="replace"), printable(lines[-1]) if lines else ""


class RunningCommand:
    """A dlperf command whose lines are read while it runs."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, workspace: WorkspacePaths, words: Sequence[str]) -> RunningCommand:
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        return cls(await _start(workspace, words, stderr=subprocess.STDOUT, env=environment))

    async def lines(self) -> AsyncIterator[str]:
        """Yield its lines but those longer than ``LONGEST_LINE``."""
        assert self._process.stdout is not None
        is_rest, data = False, b"\n"
        while data:
            try:
                data = await self._process.stdout.readline()
            except ValueError:  # which has dropped what it read of the line
                is_rest = True
                continue
            if data and not is_rest:
                yield printable(data.decode(errors="replace").rstrip("\r\n"))
            is_rest = False

    async def wait(self) -> int:
        return await self._process.wait()

    def stop(self) -> None:
        """End it after what it started in other sessions; kill it where it does not end.

        Not by Ctrl+C's signal: a shell's background job ignores that one, and so does all that it starts.
        """
        self._signal(signal.SIGTERM)
        asyncio.get_running_loop().call_later(GRACE_SECONDS, self._signal, signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)
