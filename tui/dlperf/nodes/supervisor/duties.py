"""What a supervisor does every second beside waiting for its trial."""

import os
import time
from typing import IO

from .endings import Moment
from .files import log_streams
from .telemetry import TICK_SECONDS, Telemetry

HEARTBEAT_SECONDS = 5.0


class Duties:
    """The heartbeat, the rows of ``telemetry.csv``, and a look at whether the logs grow."""

    def __init__(self, telemetry: Telemetry, table: IO[str], started: Moment) -> None:
        self.telemetry, self.table = telemetry, table
        self.beat_at = self.tick_at = 0.0
        """By the monotonic clock: when each is due again."""
        self.log_size = 0
        self.begin(started)
        table.write(telemetry.header)

    def begin(self, started: Moment) -> None:
        """Count time and silence from here."""
        self.started = started
        self.log_grew = started.monotonic

    def do_due(self) -> None:
        moment = time.monotonic()
        if moment >= self.beat_at:
            self.beat_at = moment + HEARTBEAT_SECONDS
            with open("heartbeat", "w"):
                os.utime("heartbeat", None)
        if moment >= self.tick_at:
            self.tick_at = moment + TICK_SECONDS
            self.table.write(self.telemetry.tick(self.time()))
            self.look_at_logs(moment)

    def look_at_logs(self, moment: float) -> None:
        size = sum(log_streams(".").values())
        if size != self.log_size:
            self.log_size, self.log_grew = size, moment

    def receive(self, source: IO[bytes]) -> None:
        """Note what one of telemetry's sources has to say."""
        self.table.write(self.telemetry.receive(source, self.time()))

    def silent_seconds(self) -> float:
        """Since a log grew."""
        return time.monotonic() - self.log_grew

    def time(self) -> float:
        """Wall-clock time that goes on evenly from the start of the trial, whatever is done to the clock."""
        return self.started.wall + time.monotonic() - self.started.monotonic
