"""The frameworks that ran the same work on the same hardware, and what may be claimed of the first two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dlperf.messages import Message
from dlperf.report.data import gpus_total, grouped
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import Claim, claim, family_of, work_left_out


@dataclass(frozen=True)
class Answer:
    """Results of one report on one hardware, precision, scale and batch size, the highest first."""

    ranked: tuple[ConfigurationResult, ...]

    @property
    def best(self) -> ConfigurationResult:
        return self.ranked[0]

    @property
    def mixed(self) -> bool:
        """Whether the precisions differ in what the weights are held in."""
        return len({row.precision for row in self.ranked}) > 1

    @property
    def shared(self) -> ConfigurationResult:
        """The best, with the precision that all have in common."""
        return replace(self.best, precision=base_precision(self.best)) if self.mixed else self.best

    @cached_property
    def second(self) -> ConfigurationResult | None:
        """The first of another framework: a version or variant is no competitor."""
        return next((row for row in self.ranked if is_rival(row, self.best)), None)

    @cached_property
    def claim(self) -> Claim | None:
        """What may be said of the best relative to the second."""
        return claim(self.second, self.best) if self.second else None

    @property
    def reasons(self) -> tuple[Message, ...]:
        """Why nothing may be claimed, with the values of the best first, as pages name it first."""
        return claim(self.best, self.second).reasons if self.second else ()


def is_rival(a: ConfigurationResult, b: ConfigurationResult) -> bool:
    return family_of(a.framework) != family_of(b.framework)


def said_of(row: ConfigurationResult, rival: ConfigurationResult) -> Claim:
    """Compare a result with a rival; where there are reasons against a claim, with this result's value first."""
    found = claim(rival, row)
    return claim(row, rival) if found.reasons else found


def claimed_best(results: Iterable[ConfigurationResult]) -> ConfigurationResult | None:
    """Return the result that may be called better than each of another framework; None if there is none."""
    measured = [row for row in results if row.value is not None]
    best = max(measured, key=lambda row: row.score, default=None)
    rivals = [row for row in measured if best and is_rival(row, best)]
    return best if best and rivals and all(claim(row, best).improves for row in rivals) else None


def answers(results: Iterable[ConfigurationResult]) -> tuple[Answer, ...]:
    """Return one answer for each hardware and precision of a report that has a value."""
    measured = [result for result in results if result.value is not None]
    return tuple(_answer(contest) for contest in grouped(measured, contest_of).values())


def contest_of(result: ConfigurationResult) -> tuple[object, ...]:
    """Return the key that two results of a report must share to be compared."""
    work = work_left_out(result.framework)
    return result.hardware, base_precision(result), result.axes, result.unit, result.metric, result.tuning, work


def base_precision(result: ConfigurationResult) -> str:
    """Return the precision whatever the weights are held in: such numbers stand side by side, without a claim."""
    return result.precision.removesuffix("-pure")


def _answer(contest: Iterable[ConfigurationResult]) -> Answer:
    """Return the largest scale at which at least two frameworks ran one batch size, and their best such batch size.

    Equal precisions come before those of which only the weights differ.
    """
    points = grouped(contest, lambda row: (gpus_total(row), row.nodes, row.batch_size))
    equal = [same for rows in points.values() for same in grouped(rows, lambda row: row.precision).values()]
    compared = [rows for rows in equal if _frameworks(rows) > 1] or points.values()
    most = min(2, max(map(_frameworks, compared)))
    found = [_best_of_each(rows) for rows in compared if _frameworks(rows) >= most]
    return Answer(max(found, key=lambda rows: (gpus_total(rows[0]), rows[0].nodes, _frameworks(rows), rows[0].score)))


def _frameworks(rows: Sequence[ConfigurationResult]) -> int:
    return len({family_of(row.framework) for row in rows})


def _best_of_each(rows: Iterable[ConfigurationResult]) -> tuple[ConfigurationResult, ...]:
    frameworks = grouped(rows, lambda row: row.framework)
    best = (max(same, key=lambda row: row.score) for same in frameworks.values())
    return tuple(sorted(best, key=lambda row: (-row.score, row.framework)))
