"""Signals that reach a supervisor, and waiting that they cut short."""

import os
import select
import signal
from typing import IO, Any, List


class Signals:
    """Takes every signal from its making on. TERM and INT ask to end the trial, CHLD and HUP just end a wait.

    HUP is what a closed connection may send: the trial goes on.
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
        """Wait for a signal, for something to read, or for the time to pass; the sources that can be read."""
        waited_for: List[Any] = [self.wake]
        ready, _, _ = select.select(waited_for + sources, [], [], max(0.0, seconds))
        if self.wake in ready:
            os.read(self.wake, 4096)
        return [source for source in sources if source in ready]
