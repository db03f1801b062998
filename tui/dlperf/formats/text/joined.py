"""Records of several lines: those that continue a line are joined to it."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from dlperf.formats.text.lines import LINE_LIMIT, Lines
from dlperf.formats.text.prefixes import Origins


class LineJoiner:
    """Joins lines to the one that they continue; the last is held back until another begins."""

    def __init__(self, continues: Callable[[bytes], object]) -> None:
        self._continues = continues
        self._open: tuple[int, bytes, bytes, bytes] | None = None
        self._kind: Origins | None = None

    def join(self, lines: Lines) -> Lines:
        """Return the lines that are whole, with the number of the first line of each."""
        self._kind = lines.origins
        return self._lines(list(self._whole(lines)), lines)

    def finish(self, end: int) -> Lines:
        """Return the line that was held back."""
        last, self._open = self._open, None
        return self._lines([last] if last else [], Lines(b"", (), (), end))

    def _whole(self, lines: Lines) -> Iterator[tuple[int, bytes, bytes, bytes]]:
        origins = lines.origins
        for index, (number, line) in enumerate(zip(lines.numbers, lines.lines, strict=True)):
            if not line:  # also what stands behind the last line end of a block
                continue
            if self._open is not None and self._continues(line):
                first, text, rank, time = self._open
                self._open = first, (text + b" " + line.strip())[:LINE_LIMIT], rank, time
                continue
            if self._open is not None:
                yield self._open
            self._open = number, line, *((origins.ranks[index], origins.times[index]) if origins else (b"", b""))

    def _lines(self, whole: list[tuple[int, bytes, bytes, bytes]], lines: Lines) -> Lines:
        texts = [text for _, text, _, _ in whole]
        joined = Lines(b"\n".join(texts), texts, [number for number, *_ in whole], lines.end)
        if self._kind is None:
            return joined
        ranks, times = [rank for _, _, rank, _ in whole], [time for *_, time in whole]
        return replace(joined, origins=Origins(ranks, times, self._kind.kind))
