"""The function of verdicts: what it says, and how often it is wrong in simulated histories."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from itertools import product
from statistics import stdev

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from dlperf.verdicts.inference.policies import APART, CLAIM, IN_TURNS, LEVEL, OF_KIND, holm_level
from dlperf.verdicts.inference.variations import between_steps, pooled
from dlperf.verdicts.inference.verdict import Sides, Variation, judge, judge_claim, two_campaigns

STEADY = [100.0, 100.1, 99.9, 100.05, 99.95]


def moved(values: list[float], by: float) -> list[float]:
    return [value * (1 + by) for value in values]


@pytest.mark.parametrize("policy", [IN_TURNS, APART, CLAIM], ids=["in turns", "apart", "claim"])
@pytest.mark.parametrize(("by", "code"), [(-0.02, "worse"), (0.02, "better"), (0.0, "same")])
def test_a_clear_difference_and_none_are_told(policy, by, code):
    evidence = Sides(STEADY * 3, moved(STEADY[::-1] * 3, by), paired=policy is IN_TURNS)
    found = judge(evidence, policy)
    assert found is not None
    assert found.code == code
    assert found.low < found.difference < found.high
    assert found.more is None


def test_an_interval_inside_the_sought_loss_is_the_same_although_it_leaves_out_zero():
    found = judge(Sides(STEADY * 3, moved(STEADY * 3, -0.003)), replace(CLAIM, loss=0.01))
    assert found is not None
    assert (found.code, found.high < 0, found.p < LEVEL) == ("same", True, True)


def test_what_cannot_be_told_names_the_trials_that_would_probably_decide():
    noisy = [100.0, 103.0, 97.0, 102.0, 98.0]
    found = judge(Sides(noisy, moved(noisy[::-1], -0.02)), replace(CLAIM, loss=0.03))
    assert found is not None
    assert found.code == "cannot_tell"
    assert found.more is not None
    assert 5 < found.more < 100
    a, b = (
        [value for _ in range(5 + found.more) for value in values][: 5 + found.more]
        for values in (noisy, moved(noisy[::-1], -0.02))
    )
    enough = judge(Sides(a, b), replace(CLAIM, loss=0.03))
    assert enough is not None
    assert enough.code != "cannot_tell"


def test_no_number_of_trials_decides_what_campaigns_differ_by():
    found = judge(two_campaigns(STEADY, moved(STEADY, -0.03), machines=Variation(0.05)), APART)
    assert found is not None
    assert (found.code, found.more) == ("cannot_tell", None)


@pytest.mark.parametrize("count", [0, 1])
def test_one_trial_of_a_side_shows_no_variation(count: int):
    assert judge(Sides(STEADY, STEADY[:count]), CLAIM) is None


def test_fewer_trials_than_a_policy_needs_never_decide():
    found = judge(Sides(STEADY[:4], moved(STEADY[:4], -0.5), paired=True), IN_TURNS)
    assert found is not None
    assert (found.code, found.more) == ("cannot_tell", 1)


def test_equal_values_are_the_same_within_what_logs_can_print():
    found = judge(Sides([7.0] * 5, [7.0] * 5, paired=True), IN_TURNS)
    assert found is not None
    assert found.code == "same"
    assert found.loss >= 0.001


def test_the_order_of_the_sides_mirrors_the_verdict():
    a, b = STEADY, moved(STEADY, 0.02)
    there, back = judge(Sides(a, b), APART), judge(Sides(b, a), APART)
    assert there is not None
    assert back is not None
    assert (there.code, back.code, there.p) == ("better", "worse", back.p)
    assert (1 + there.low) * (1 + back.high) == pytest.approx(1)


def test_two_campaigns_of_one_deviation_are_compared_by_the_t_test_of_both_looks():
    a, b = STEADY, moved(STEADY[::-1], 0.001)
    found = judge(Sides(a, b), APART)
    expected = scipy.stats.ttest_ind([math.log(value) for value in b], [math.log(value) for value in a])
    assert found is not None
    assert found.p == pytest.approx(min(1, 2 * expected.pvalue))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_the_level_of_several_tests_rejects_what_holm_rejects(ps: list[float]):
    ordered, rejected = sorted(ps), 0
    while rejected < len(ps) and ordered[rejected] <= LEVEL / (len(ps) - rejected):
        rejected += 1
    assert sum(p <= holm_level(ps) for p in ps) == rejected


def test_a_variation_is_pooled_over_groups_with_its_degrees_of_freedom():
    found = pooled([[100.0, 102.0], [50.0, 50.5, 49.5], [7.0]])
    assert found is not None
    assert found.freedom == 3
    assert found.share == pytest.approx(0.0115, abs=1e-4)
    assert pooled([[1.0], []]) is None


def test_a_variation_between_campaigns_does_not_count_real_changes():
    draw = random.Random(4)
    values = [draw.gauss(100, 1) * (0.8 if number >= 15 else 1) for number in range(30)]
    found = between_steps([values])
    assert found is not None
    assert 0.006 < found.share < 0.014
    assert found.freedom == pytest.approx(0.37 * 29)
    assert between_steps([values[:6]]) is None


def simulated(histories: int, evidence, policy) -> Counter:
    draw, codes = random.Random(5), Counter()
    for _ in range(histories):
        found = judge(evidence(draw), policy)
        assert found is not None
        codes[found.code] += 1
    return codes


def test_however_often_one_looks_an_equal_version_is_called_different_in_one_of_a_hundred_searches():
    draw, false = random.Random(5), 0
    for _ in range(400):
        a, b = ([draw.gauss(100, 0.35) for _ in range(IN_TURNS.most)] for _ in "ab")
        looks = (judge(Sides(a[:n], b[:n], paired=True), replace(IN_TURNS, loss=1e-9)) for n in range(5, 16))
        false += any(found is not None and found.decided for found in looks)
    assert false <= 8


def test_the_interval_of_two_looks_holds_a_campaign_effect_of_one_deviation():
    def evidence(draw: random.Random) -> Sides:
        a, b = ([draw.gauss(level, 0.35) for _ in range(7)] for level in (draw.gauss(100, 0.35), draw.gauss(100, 0.35)))
        return two_campaigns(a, b)

    codes = simulated(500, evidence, replace(APART, loss=1e-9))
    assert codes["worse"] + codes["better"] <= 12


def test_the_interval_of_a_claim_holds_the_true_difference_in_99_of_100_cases():
    draw, missed = random.Random(6), 0
    for count in [5, 7] * 1000:
        a, b = ([draw.lognormvariate(level, 0.0035) for _ in range(count)] for level in (0.0, math.log(1.02)))
        found = judge(Sides(a, b), CLAIM)
        assert found is not None
        missed += not found.low < 0.02 < found.high
    assert 0.005 < missed / 2000 < 0.015


def test_a_program_is_ahead_on_a_kind_of_gpu_only_beyond_what_its_gpus_differ_by():
    def evidence(draw: random.Random) -> Sides:
        return Sides(*([draw.gauss(100, 0.8) for _ in range(3)] for _ in "ab"), paired=True)

    codes = simulated(1000, evidence, OF_KIND)
    assert codes["worse"] + codes["better"] <= 25
    clear = judge(Sides([100.0, 101.0, 100.5], [110.0, 111.2, 110.4], paired=True), OF_KIND)
    assert clear is not None
    assert clear.code == "better"


def trials(count: int, mean: float, deviation: float) -> list[float]:
    """Trials whose logarithms have exactly this mean and deviation."""
    signs = [(-1.0) ** number * (number < count - count % 2) for number in range(count)]
    return [math.exp(mean + deviation * sign / stdev(signs)) for sign in signs]


@pytest.mark.parametrize("count", [2, 3, 5, 8, 15])
def test_the_trials_that_would_decide_do_if_nothing_else_changes(count: int) -> None:
    promised = Counter[str]()
    for step, deviation in product(range(40), (0.0035, 0.03)):
        difference = step * deviation / 8

        def turns(count: int, moved: float = difference, deviation: float = deviation) -> Sides:
            return Sides([1.0] * count, trials(count, moved, deviation), paired=True)

        def apart(count: int, moved: float = difference, deviation: float = deviation) -> Sides:
            return Sides(trials(count, 0.0, deviation), trials(count, moved, deviation))

        found = judge(turns(count), IN_TURNS)
        if found and found.more:
            promised["ab"] += 1
            then = judge(turns(count + found.more), replace(IN_TURNS, most=max(15, count + found.more)))
            assert then is not None
            assert then.decided, (found, then)
        claimed = judge_claim(apart(count), CLAIM, 1)
        if claimed and not claimed.decided:
            promised["claim"] += 1
            assert claimed.more is not None, claimed
            then = judge_claim(apart(count + claimed.more), CLAIM, 2)
            assert then is not None
            assert then.decided, (claimed, then)
    assert promised["ab"] or count == 15
    assert promised["claim"] or count > 5
