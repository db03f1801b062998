"""Records that count only where a log holds no other."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from dlperf.formats.recorder import Columns, Recorder
from dlperf.formats.samples import Run, Window


class HeldRecords:
    """Keeps records until the end of a log: they count where it holds no other."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._kept: list[tuple[Columns, Sequence[int], str | None, Window | None]] = []

    def extend(
        self, columns: Columns, lines: Sequence[int], unit: str | None = None, window: Window | None = None
    ) -> None:
        """Keep records."""
        packed = {name: array("d", column) for name, column in columns.items()}
        self._kept.append((packed, array("q", lines), unit, window))

    def runs_so_far(self) -> list[Run]:
        """Return the runs that the records would make if the log ended here."""
        recorder = self._recorder.without_runs()
        for each in self._kept:
            recorder.extend(*each)
        return recorder.runs

    def release(self) -> None:
        """Add the records to a log without others."""
        kept, self._kept = self._kept if not self._recorder.runs else [], []
        for each in kept:
            self._recorder.extend(*each)
