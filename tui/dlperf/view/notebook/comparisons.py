"""A comparison as notebooks show it."""

from collections.abc import Sequence

from dlperf.verdicts.claims import Claim
from dlperf.verdicts.compare import Comparisons
from dlperf.view.notebook.shown import Mark, Shown
from dlperf.view.text import count_noun, one_line, value_text


class ShownComparisons(Shown, Comparisons):
    """A comparison that shows each pair with its verdict, and the ratios with their intervals as bars."""

    def _headline(self) -> str:
        alone = ((len(self.only_a), "only in A"), (len(self.only_b), "only in B"), (len(self.ambiguous), "ambiguous"))
        return ", ".join(
            [count_noun(len(self.pairs), "pair"), *(f"{count} {where}" for count, where in alone if count)]
        )

    def _rows(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        return ("A", "B", "value of A", "value of B", "B/A", "interval", "verdict"), [
            _pair(pair) for pair in self.pairs
        ]

    def _marks(self) -> list[Mark]:
        found = ((pair, pair.ratio) for pair in self.pairs)
        return [Mark(pair.b.id, ratio, f"{ratio:.3f}", pair.interval) for pair, ratio in found if ratio is not None]


def _pair(pair: Claim) -> Sequence[str]:
    interval = " … ".join(f"{end:.3f}" for end in pair.interval or ())
    ratio = "-" if pair.ratio is None else f"{pair.ratio:.3f}"
    values = (value_text(row, row.unit) for row in (pair.a, pair.b))
    names = (f"{row.campaign}/{row.id}" for row in (pair.a, pair.b))
    return (*names, *values, ratio, interval or "-", one_line(str(pair.verdict)))
