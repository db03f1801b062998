"""A real terminal: tmux with a socket of its own."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PATIENCE_SECONDS = 60.0
PROGRAM = f"{shlex.quote(sys.executable)} -c 'from dlperf.app import main; main()'"


class Terminal:
    """A terminal with a shell in it."""

    def __init__(self, socket: Path, folder: Path, columns: int = 120, rows: int = 40, environment: str = "") -> None:
        self._tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
        variables = f"{environment or 'LANG=C.UTF-8'} PS1='ready> '"
        shell = f"cd {shlex.quote(str(folder))}; exec env {variables} bash --norc --noprofile"
        size = ["-x", str(columns), "-y", str(rows)]
        self._run("new-session", "-d", *size, "-s", "test", shell)

    def _run(self, *words: str) -> str:
        return subprocess.run([*self._tmux, *words], capture_output=True, text=True, check=True).stdout

    def until_left(self) -> None:
        """Wait until the program has ended and the shell has the terminal again."""
        self.until(lambda: not self.programs(), "the end of the program")

    def type(self, text: str) -> None:
        """Type a line and press enter."""
        self._run("send-keys", "-t", "test", "-l", text)
        self.press("Enter")

    def press(self, *keys: str) -> None:
        """Press keys, by tmux's names."""
        self._run("send-keys", "-t", "test", *keys)

    def escape(self, closed: str) -> None:
        """Press escape, and wait until it has closed what shows this: a key at its heels would make it an alt key."""
        self.press("Escape")
        self.until(lambda: closed not in self.shown(), f"{closed} to go")

    def shown(self) -> str:
        """What the terminal shows."""
        return self._run("capture-pane", "-p", "-t", "test")

    def until_shown(self, *texts: str, seconds: float = PATIENCE_SECONDS) -> str:
        """Wait until the terminal shows all these texts."""
        seen: list[str] = []

        def shows() -> bool:
            seen.append(self.shown())
            return all(text in seen[-1] for text in texts)

        self.until(shows, f"{texts}", seconds)
        return seen[-1]

    def until(self, condition: Callable[[], bool], words: str, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait until something is so."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, f"waited in vain for {words}; the terminal shows\n{self.shown()}"
            time.sleep(0.1)

    def alternate_screen(self) -> bool:
        """Whether a program has the terminal for itself."""
        return self._run("display-message", "-p", "-t", "test", "#{alternate_on}").strip() == "1"

    def resize(self, columns: int, rows: int) -> None:
        self._run("resize-window", "-t", "test", "-x", str(columns), "-y", str(rows))

    def programs(self) -> list[int]:
        """What runs in the terminal beside its shell; a detached engine does not."""
        shell = int(self._run("display-message", "-p", "-t", "test", "#{pane_pid}"))
        return [pid for pid, session in _sessions() if session == shell and pid != shell]

    def close(self) -> None:
        """Close the window, as a click on its cross does; nothing that ran in it may be left."""
        left = self.programs()
        self._run("kill-server")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while left := [pid for pid in left if Path(f"/proc/{pid}").exists()]:
            if time.monotonic() > deadline:
                words = [Path(f"/proc/{pid}/cmdline").read_text() for pid in left]
                for pid in left:
                    os.kill(pid, signal.SIGKILL)
                raise AssertionError(f"left after its terminal was closed: {words}")
            time.sleep(0.05)


def _sessions() -> Iterator[tuple[int, int]]:
    """Every process and its session."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            yield int(entry.name), os.getsid(int(entry.name))
