"""What a supervisor watches while its payload runs: signals, telemetry, and the growth of the logs."""

import contextlib
import os
import select
import signal
import time
from typing import IO, Any, List, Tuple

from ..files import log_streams
from ..host.libraries import Libraries
from ..host.telemetry import FIRST_TICK_SECONDS, TICK_SECONDS, RowFile, Telemetry
from .arrivals import Arrivals
from .endings import Moment

HEARTBEAT_SECONDS = 5.0
HALT_SECONDS = 1.0
"""A round that takes so much longer than it waits and computes is a halt, which a busy machine makes none of."""
MOST_HALTS = 64


class Signals:
    """Handles signals: TERM and INT ask to end the trial, CHLD and HUP only end a wait.

    A closed connection may send HUP: the trial continues.
    """

    def __init__(self) -> None:
        self.asked_to_end = False
        self.wake, wake_end = os.pipe()
        for end in (self.wake, wake_end):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake_end)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, self.receive)

    def receive(self, number: int, frame: Any) -> None:
        self.asked_to_end = self.asked_to_end or number in (signal.SIGTERM, signal.SIGINT)

    def wait(self, sources: List[IO[bytes]], seconds: float) -> List[IO[bytes]]:
        """Wait for a signal, for something to read, or for a timeout; return the readable sources."""
        waited_for: List[Any] = [self.wake, *sources]
        ready, _, _ = select.select(waited_for, [], [], max(0.0, seconds))
        if self.wake in ready:
            os.read(self.wake, 4096)
        return [source for source in sources if source in ready]


class Monitor:
    """Writes the heartbeat and the rows of ``telemetry.csv`` and ``out.times``, and watches whether the logs grow."""

    def __init__(self, telemetry: Telemetry, table: RowFile, libraries: Libraries, started: Moment) -> None:
        self.telemetry, self.table, self.libraries = telemetry, table, libraries
        self.beat_at, self.tick_at = 0.0, started.monotonic + FIRST_TICK_SECONDS
        """When each is due again, by the monotonic clock."""
        self.log_size = 0
        self.arrivals = Arrivals(RowFile("out.times"))
        self.restart(started)
        table.write(telemetry.header)

    def restart(self, started: Moment) -> None:
        """Count run time, silence and halts from here."""
        self.started = started
        self.log_grew = started.monotonic
        self.looked = (time.monotonic(), time.process_time())
        self.halts: List[Tuple[float, float]] = []
        """When this process was stopped, as the machine or the job may be, in seconds since the start; for how long."""

    def note_round(self, waited: float) -> None:
        """Note a round that took much longer than what it waited at most, and computed.

        What has stopped us has mostly stopped the payload, too: its silence does not count.
        """
        before, self.looked = self.looked, (time.monotonic(), time.process_time())
        elapsed, computed = (now - then for now, then in zip(self.looked, before))
        halted = elapsed - computed - waited
        if halted >= HALT_SECONDS:
            self.log_grew += halted
            self.halts = [*self.halts, (round(before[0] - self.started.monotonic, 3), round(halted, 3))][:MOST_HALTS]

    def run_due(self) -> bool:
        """Do what is due; whether that was more than a look at the logs."""
        moment = time.monotonic()
        if moment >= self.beat_at:
            self.beat_at = moment + HEARTBEAT_SECONDS
            with contextlib.suppress(OSError), open("heartbeat", "a"):
                os.utime("heartbeat", None)
        ticks = moment >= self.tick_at
        if ticks:
            self.tick_at = moment + TICK_SECONDS
            self.table.write(self.telemetry.tick(self.time()))
            self.note_logs(moment)
            self.libraries.look_if_due(moment)
        self.arrivals.look_if_due(moment)
        return ticks

    def note_logs(self, moment: float) -> None:
        streams = log_streams(".")
        self.arrivals.follow(streams)
        size = sum(streams.values())
        if size != self.log_size:
            self.log_size, self.log_grew = size, moment

    @property
    def due(self) -> float:
        """When ``run_due`` has something to do, by the monotonic clock."""
        return min(self.tick_at, self.arrivals.due)

    def end(self) -> None:
        """Note what the logs got until the end."""
        moment = time.monotonic()
        if self.arrivals.due < float("inf"):
            self.note_logs(moment)
            self.arrivals.look(moment)

    def receive(self, source: IO[bytes]) -> None:
        self.table.write(self.telemetry.receive(source, self.time()))

    def time(self) -> float:
        """Wall-clock time that advances evenly from the start of the trial, even if the clock is set."""
        return self.started.wall + time.monotonic() - self.started.monotonic
