"""A program in a terminal of its own: what it writes, when, and what it costs. For the other benchmarks."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Sequence
from pathlib import Path

ALTERNATE_SCREEN = b"\x1b[?1049h"
PAINTED_BYTES = 2000
"""So much after entering the alternate screen is a picture; before that there are questions to the terminal."""
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def cpu_seconds_of(pid: int) -> float:
    """Processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def children_of(pid: int) -> list[int]:
    """The processes that a process has started and that run."""
    found = (int(word) for path in Path(f"/proc/{pid}/task").glob("*/children") for word in path.read_text().split())
    return list(found)


class Terminal:
    """A program that believes to sit in a terminal."""

    def __init__(self, command: Sequence[str], folder: Path, columns: int = 120, rows: int = 40) -> None:
        self.started = time.perf_counter()
        self.written = bytearray()
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            modules = [str(Path(part).resolve()) for part in os.environ.get("PYTHONPATH", "").split(os.pathsep)]
            environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
            environment["PYTHONPATH"] = os.pathsep.join(modules)
            environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its bytecode
            os.chdir(folder)
            os.execvpe(command[0], list(command), environment)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds: float) -> bytes:
        """What comes within so many seconds; as soon as anything does."""
        if not select.select([self._master], [], [], max(0.0, seconds))[0]:
            return b""
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:
            return b""
        self.written += data
        return data

    def press(self, keys: str) -> None:
        """Type something."""
        os.write(self._master, keys.encode())

    def seconds_until(self, text: str, patience: float = 60.0) -> float:
        """How long it takes until a text is written; what was written before does not count."""
        start, seen = time.perf_counter(), len(self.written)
        wanted = text.encode()
        while wanted not in self.written[max(0, seen - len(wanted)) :]:
            if time.perf_counter() - start > patience:
                raise TimeoutError(f"{text!r} was not written within {patience:.0f} s")
            self.read(0.1)
        return time.perf_counter() - start

    def seconds_to_picture(self, patience: float = 60.0) -> float:
        """From the start to the first picture."""
        while True:
            _, entered, picture = self.written.partition(ALTERNATE_SCREEN)
            if entered and len(picture) >= PAINTED_BYTES:
                return time.perf_counter() - self.started
            if time.perf_counter() - self.started > patience:
                raise TimeoutError(f"no picture; it wrote {bytes(self.written[-500:])!r}")
            self.read(0.1)

    def rest(self, seconds: float) -> None:
        """Read whatever comes for so long."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self.read(left)

    def cpu_seconds(self) -> float:
        """Processor time that the program has used."""
        return cpu_seconds_of(self.pid)

    def megabytes(self) -> float:
        """Memory that the program holds, resident."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1000
        return 0.0

    def cores(self, seconds: float) -> float:
        """Processor time per second, for so many seconds from now."""
        before, start = self.cpu_seconds(), time.perf_counter()
        self.rest(seconds)
        return (self.cpu_seconds() - before) / (time.perf_counter() - start)

    def close(self) -> None:
        """End the program."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._master)
