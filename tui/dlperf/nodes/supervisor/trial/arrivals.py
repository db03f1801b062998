"""When the bytes of each log arrived, by this machine's monotonic clock: ``out.times``.

The times in a log are those of a clock that may be set while the program runs; this clock cannot be set.
"""

from typing import Dict, Iterable

from ..files import regular_size, stream_path
from ..host.telemetry import RowFile

SECONDS = 0.1
RESOLUTION = 1e-4
"""Between two looks, as a part of the time since the start: a long trial gets no endless record."""
MOST_LOGS = 64


class Arrivals:
    """Writes a row for each log that has another size than at the last look: seconds since the start, bytes, log."""

    def __init__(self, table: RowFile) -> None:
        self.table = table
        self.started, self.due = 0.0, float("inf")
        self.sizes: Dict[str, int] = {"out.log": 0}
        table.write("seconds,bytes,log\n")

    def start(self, started: float) -> None:
        """Look from now on, and count seconds from a moment of the monotonic clock."""
        self.started = self.due = started

    def follow(self, names: Iterable[str]) -> None:
        """Look at these logs, too, as far as their names fit into a row."""
        for name in names:
            if len(self.sizes) < MOST_LOGS and all(" " <= letter <= "~" for letter in name):
                self.sizes.setdefault(name, 0)

    def look_if_due(self, moment: float) -> None:
        if moment >= self.due:
            self.look(moment)

    def look(self, moment: float) -> None:
        elapsed = moment - self.started
        self.due = moment + max(SECONDS, RESOLUTION * elapsed)
        found = {name: regular_size(stream_path(name)) or 0 for name in self.sizes}
        changed = (name for name, size in found.items() if size != self.sizes[name])
        self.table.write("".join(f"{elapsed:.3f},{found[name]},{name}\n" for name in changed))
        self.sizes = found
