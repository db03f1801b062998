"""What the screens ask of others: dlperf commands as child processes, and requests to a campaign's engine."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from dlperf.runs.paths import Workspace
from dlperf.view.text import printable


@dataclass(frozen=True)
class Outcome:
    """How a dlperf command ended."""

    code: int
    output: str
    message: str
    """Its last line on stderr: what, where and what to do next."""


def command_of(workspace: Workspace, words: Sequence[str]) -> list[str]:
    """The program and arguments of a dlperf command in this workspace."""
    return [sys.executable, "-m", "dlperf", "--workspace", str(workspace.root), *words]


async def run_command(workspace: Workspace, words: Sequence[str]) -> Outcome:
    """Run a dlperf command to its end. It has its own session: it outlives this window."""
    process = await asyncio.create_subprocess_exec(
        *command_of(workspace, words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    output, errors = await process.communicate()
    lines = [line for line in errors.decode(errors="replace").splitlines() if line.strip()]
    return Outcome(process.returncode or 0, output.decode(errors="replace"), printable(lines[-1]) if lines else "")


class Running:
    """A dlperf command whose lines are read while it runs; ends with this window unless it is let go."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, workspace: Workspace, words: Sequence[str]) -> Running:
        return cls(
            await asyncio.create_subprocess_exec(
                *command_of(workspace, words),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
            )
        )

    async def lines(self) -> AsyncIterator[str]:
        """Each line as it comes."""
        assert self._process.stdout is not None
        while data := await self._process.stdout.readline():
            yield printable(data.decode(errors="replace").rstrip("\r\n"))

    async def wait(self) -> int:
        """The exit code."""
        return await self._process.wait()

    def stop(self) -> None:
        """Ask it to end."""
        if self._process.returncode is None:
            self._process.terminate()
