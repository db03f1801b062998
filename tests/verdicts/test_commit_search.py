"""The search for a commit: its beliefs, what it names, and when it names none."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from dlperf.verdicts.inference.commit_search import History, Step, beliefs_of, search

LINE = History("0", {str(index): [str(index - 1)] if index > 1 else [] for index in range(1, 13)})


def trials(draw: random.Random, level: dict[str, float] | None, *names: str, at: int = 8, loss: float = 0.05) -> Step:
    def score(name: str) -> float:
        return (level or {}).get(name, -loss if int(name) >= at else 0.0) + draw.gauss(0, 0.004)

    return tuple((name, score(name)) for name in names)


def searched(level: dict[str, float] | None = None, failing: tuple[str, ...] = (), seed: int = 1, history=LINE):
    draw = random.Random(seed)
    ends = trials(draw, level, *[history.good, history.bad] * 5)
    return search(history, ends, lambda commit, end: None if commit in failing else trials(draw, level, commit, end))


def test_the_commit_is_found_and_measured_with_the_one_before():
    beliefs, failed = searched()
    assert (beliefs.found, failed, beliefs.range()) == ("8", (), ("8",))
    assert min(beliefs.counts["7"], beliefs.counts["8"]) >= 3
    assert sum(beliefs.counts.values()) < 40


def test_commits_that_do_not_run_leave_a_range():
    beliefs, failed = searched(failing=("7", "8"))
    assert beliefs.found is None
    assert beliefs.range() == ("7", "8", "9")
    assert set(failed) == {"7", "8"}


def test_a_commit_before_which_nothing_runs_is_not_named():
    beliefs, _ = searched(failing=("7",))
    assert (beliefs.found, beliefs.range()) == (None, ("7", "8"))


@pytest.mark.parametrize(
    "level",
    [
        {str(index): -0.05 * index / 12 for index in range(13)},
        {str(index): -0.03 * (index >= 4) - 0.03 * (index >= 8) for index in range(13)},
    ],
    ids=["gradual", "two losses"],
)
def test_a_history_of_several_changes_names_no_single_commit(level: dict[str, float]):
    found = Counter(searched(level, seed=seed)[0].found for seed in range(10))
    assert found[None] >= 9, found


def test_of_a_loss_that_was_mended_and_came_back_the_first_commit_is_named():
    assert searched({str(index): -0.05 * (index in (3, 4, 5, 6, 7, 12)) for index in range(13)})[0].found == "3"


def test_a_merged_branch_is_searched_along_its_parents():
    """0 - 1 - 2 ------- 5 - 6, with 3 and 4 on a branch of 1."""
    history = History("0", {"1": [], "2": ["1"], "3": ["1"], "4": ["3"], "5": ["2", "4"], "6": ["5"]})
    level = {"0": 0.0, "1": 0.0, "2": 0.0, "3": 0.0, "4": -0.05, "5": -0.05, "6": -0.05}
    assert searched(level, history=history)[0].found == "4"


def test_one_commit_after_good_is_the_one():
    assert searched({"0": 0.0, "1": -0.05}, history=History("0", {"1": []}))[0].found == "1"


def test_the_beliefs_are_those_of_all_ways_to_split_the_trials():
    """By hand: the likelihood of two levels, both and the deviation integrated out, without levels of steps."""
    ends = (("0", 0.0), ("3", -1.0), ("0", 0.02), ("3", -1.02), ("1", -0.3))
    history = History("0", {"1": [], "2": ["1"], "3": ["2"]})
    found = beliefs_of(history, [ends]).probabilities

    def likelihood(good: list[float], bad: list[float]) -> float:
        squares = sum((x - sum(side) / len(side)) ** 2 for side in (good, bad) for x in side)
        return (len(good) * len(bad)) ** -0.5 * squares ** (-(5 - 2) / 2)

    bad, good = likelihood([0.0, 0.02], [-1.0, -1.02, -0.3]), likelihood([0.0, 0.02, -0.3], [-1.0, -1.02])
    assert found[1] == found[2]
    assert found[0] / found[1] == pytest.approx(bad / good)
    assert math.isclose(found.sum(), 1)


def test_a_commit_is_named_only_well_beyond_the_probability_that_is_stated():
    history = History("0", {"1": [], "2": ["1"]})
    beliefs = beliefs_of(history, [trials(random.Random(1), None, *"012" * 3, at=1)])
    named = [replace(beliefs, probabilities=np.array([share, 1 - share])) for share in (0.995, 0.999)]
    assert [each.found for each in named] == [None, "1"]
