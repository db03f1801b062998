"""The search for the commit that changed the speed, by noisy measurements. Pure.

A probability is kept for each commit, and the commit that halves it is measured next (Burnashev and Zigangirov 1974;
Karp and Kleinberg, Noisy binary search, 2007), beside GOOD or BAD, so that drift between the steps affects both.
"""

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dlperf.verdicts.inference.student import f_tail

STATED = 0.99
"""How probable a commit is, or those of a range together, as it is said."""
CONFIDENCE = 0.998
"""The computed probability from which that is said: outliers, and a loss no larger than the noise, make it too high."""
MOST_OF_ENDS = 30
"""Trials of GOOD and of BAD up to which are added until BAD is worse, as ``policies.IN_TURNS`` decides."""
STEP_VARIANCE = 0.25
"""Of the level of a step, in variances of a trial: campaigns differ by more than their trials."""
LEAST_OF_FOUND = 3
"""Trials of a commit and of those before it without which it is not named."""
LEAST_SQUARES = 1e-8
"""Of a trial: logs print about four digits."""
STEPS_OF_HALVING = 10
"""Most steps for each time that the commits can be halved."""
MISFIT = 0.001
"""Largest p of a history that has more than one change."""

Step = tuple[tuple[str, float], ...]
"""Commits and the logarithms of their scores, of trials that ran in turns."""


@dataclass(frozen=True)
class History:
    """The commits of a search."""

    good: str
    parents: Mapping[str, Sequence[str]]
    """Commits after GOOD, the older first, and their parents among them; the last one is BAD."""

    @cached_property
    def commits(self) -> tuple[str, ...]:
        return tuple(self.parents)

    @property
    def bad(self) -> str:
        return self.commits[-1]

    @cached_property
    def contains(self) -> np.ndarray:
        """Whether the commit of a row contains that of a column."""
        place = {commit: index for index, commit in enumerate(self.commits)}
        found = np.eye(len(place), dtype=bool)
        for commit, index in place.items():
            for parent in self.parents[commit]:
                found[index] |= found[place[parent]]
        return found

    def is_bad(self, commit: str) -> np.ndarray:
        """Return for each commit whether this one is bad if that one is the first bad one."""
        if commit == self.good:
            return np.zeros(len(self.commits), dtype=bool)
        return np.asarray(self.contains[self.commits.index(commit)])


@dataclass(frozen=True)
class Beliefs:
    """What the steps so far say."""

    history: History
    probabilities: np.ndarray
    counts: Mapping[str, int]
    """Trials of each measured commit."""
    misfit: float
    """How often chance gives as much deviation from one change."""

    @property
    def likeliest(self) -> str:
        return self.history.commits[int(self.probabilities.argmax())]

    @property
    def confidence(self) -> float:
        return float(self.probabilities.max())

    def range(self) -> tuple[str, ...]:
        """Return the fewest commits among which the first bad one is at the stated confidence, the older first."""
        order = np.argsort(-self.probabilities, kind="stable")
        enough = int(np.searchsorted(np.cumsum(self.probabilities[order]), CONFIDENCE)) + 1
        return tuple(self.history.commits[index] for index in sorted(order[:enough]))

    @property
    def is_misfit(self) -> bool:
        """Whether one change does not explain what was measured."""
        return self.misfit <= MISFIT

    @property
    def found(self) -> str | None:
        """The commit at the stated confidence, where one change explains all that was measured."""
        certain = self.confidence >= CONFIDENCE and not self.is_misfit
        return self.likeliest if certain and not self._lacking(()) else None

    def next_commit(self, untestable: Collection[str]) -> str | None:
        """Return the commit to measure next, or None where no other can tell anything."""
        if self.confidence >= CONFIDENCE:
            return next(iter(self._lacking(untestable)), None)
        share = self.history.contains @ self.probabilities
        known = [index for index, name in enumerate(self.history.commits) if name not in untestable]
        best = min(known[:-1], key=lambda index: abs(share[index] - 0.5), default=None)
        return None if best is None or not 1e-6 < share[best] < 1 - 1e-6 else self.history.commits[best]

    def _lacking(self, untestable: Collection[str]) -> list[str]:
        """Return the likeliest commit and its parents as far as they were measured too rarely, the rarest first."""
        parents = self.history.parents[self.likeliest] or (self.history.good,)
        few = [name for name in (self.likeliest, *parents) if self.counts.get(name, 0) < LEAST_OF_FOUND]
        return sorted((name for name in few if name not in untestable), key=lambda name: self.counts.get(name, 0))


def search(
    history: History,
    ends: Step,
    measure: Callable[[str, str], Step | None],
    before_step: Callable[[Beliefs, str], object] | None = None,
    ended: Callable[[], bool] = lambda: False,
) -> tuple[Beliefs, tuple[str, ...]]:
    """Measure commits until one is found, or none is left that can tell more; return the beliefs and what failed.

    Args:
        ends: trials of GOOD and BAD.
        measure: returns trials of a commit and of GOOD or BAD in turns; None where the commit gave no value.
        before_step: called before each step with the beliefs and the commit.
        ended: whether no further step may be begun.
    """
    steps, failed, draw = [ends], list[str](), random.Random(history.bad)
    most = STEPS_OF_HALVING * (1 + len(history.commits).bit_length())
    while True:
        beliefs = beliefs_of(history, steps)
        commit = None if beliefs.found or len(steps) > most or ended() else beliefs.next_commit(failed)
        if commit is None:
            return beliefs, tuple(failed)
        if before_step:
            before_step(beliefs, commit)
        step = measure(commit, draw.choice((history.good, history.bad)))
        if step is None:
            failed.append(commit)
        else:
            steps.append(step)


def beliefs_of(history: History, steps: Sequence[Step]) -> Beliefs:
    """Return the probability of each commit after GOOD that it is the first bad one, each being as likely before.

    Scores are normal around one of two levels, plus a level of each step; levels and deviation are integrated out.
    Both GOOD and BAD are among the commits of the steps.
    """
    trials = [trial for step in steps for trial in step]
    names = list(dict.fromkeys(name for name, _ in trials))
    whiten = _whitening([len(step) for step in steps])
    scores = whiten @ np.array([score for _, score in trials])
    means = whiten @ np.array([[name == other for other in names] for name, _ in trials], dtype=float)
    patterns = np.array([history.is_bad(name) for name in names])
    kinds, kind_of = np.unique(patterns, axis=1, return_inverse=True)
    fits = [
        _fit(scores, np.column_stack((means.sum(axis=1), means @ kinds[:, kind]))) for kind in range(kinds.shape[1])
    ]
    likelihoods = np.array([-0.5 * log_size - (len(trials) - 2) / 2 * np.log(rest) for rest, log_size in fits])
    weights = np.exp(likelihoods - likelihoods.max())[kind_of.ravel()]
    counts = {name: sum(name == other for other, _ in trials) for name in names}
    likeliest = fits[int(kind_of.ravel()[int(weights.argmax())])][0]
    misfit = _misfit(likeliest, _fit(scores, means)[0], len(names) - 2, len(trials) - len(names))
    return Beliefs(history, weights / weights.sum(), counts, misfit)


def _whitening(sizes: Iterable[int]) -> np.ndarray:
    """Return what makes trials independent that share the level of their step."""
    sizes = list(sizes)
    found, start = np.eye(sum(sizes)), 0
    for size in sizes:
        found[start : start + size, start : start + size] -= (1 - (1 + size * STEP_VARIANCE) ** -0.5) / size
        start += size
    return found


def _fit(scores: np.ndarray, design: np.ndarray) -> tuple[float, float]:
    """Return the sum of squares that a linear model leaves, and the logarithm of its information."""
    left = scores - design @ np.linalg.lstsq(design, scores, rcond=None)[0]
    return max(float(left @ left), LEAST_SQUARES * len(scores)), float(np.linalg.slogdet(design.T @ design)[1])


def _misfit(one_change: float, any_change: float, levels: int, freedom: int) -> float:
    """Return p of the F test of one change against a level of each measured commit."""
    if levels < 1 or freedom < 1:
        return 1.0
    return f_tail((one_change - any_change) / levels / (any_change / freedom), levels, freedom)
