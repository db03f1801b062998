"""Records that count only where a log holds no other."""

from array import array
from collections.abc import Iterator, Sequence

from dlperf.formats.recorder import Columns, Recorder, chosen
from dlperf.formats.samples import Run, Window

Kept = tuple[Columns, Sequence[int], str | None, Window | None]
"""Records, their lines, and where they differ from those of the format: unit and window."""


class HeldRecords:
    """Keeps records until the end of a log: they count where it holds no other."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._kept: list[Kept] = []

    def extend(
        self, columns: Columns, lines: Sequence[int], unit: str | None = None, window: Window | None = None
    ) -> None:
        """Keep records."""
        packed = {name: array("d", column) for name, column in columns.items()}
        self._kept.append((packed, array("q", lines), unit, window))

    def runs_so_far(self) -> list[Run]:
        """Return the runs that the records would make if the log ended here."""
        recorder = self._recorder.without_runs()
        for each in _longest(self._kept):
            recorder.extend(*each)
        return recorder.runs

    def release(self) -> None:
        """Add the records to a log without others."""
        kept, self._kept = self._kept if not self._recorder.runs else [], []
        for each in _longest(kept):
            self._recorder.extend(*each)


def _longest(kept: Sequence[Kept]) -> Iterator[Kept]:
    """Yield records; of progress bars, which state their steps, those of the longest and not of its evaluations."""
    longest = max((max(columns["steps"]) for columns, *_ in kept if "steps" in columns), default=0.0)
    for columns, lines, unit, window in kept:
        if not longest or "steps" not in columns:
            yield columns, lines, unit, window
        elif indices := [index for index, steps in enumerate(columns["steps"]) if steps == longest]:
            yield chosen(columns, indices), [lines[index] for index in indices], unit, window
