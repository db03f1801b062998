"""Which estimator suits a log when nobody names one."""

from __future__ import annotations

from itertools import chain
from math import isfinite

from dlperf.measure.estimator import Estimator, apply, parse_estimator
from dlperf.measure.reading import FactMissing, NotEstimable, Reading

WARM_UP_STEPS = 20
"""DLPerf, FleetX: the first 20 steps are dropped."""
IMPLAUSIBLE_FACTOR = 1.5
"""Printed figures and timestamps disagree this much only where the samples per step are wrong."""


def natural_estimator(reading: Reading) -> Estimator:
    """What a log gives best, after the first 20 steps: samples over time, else a mean, else the program's own figure.

    Batches over time are passed over where they contradict the printed figures by a factor: the batch size
    then is not what a step of this log processes (gradient accumulation, or a wrong one was given). Where a log gives
    nothing, it is the rule that one more fact would make possible, so that its reason says which.
    """
    skip = _warm_up_records(reading)
    choices = (f"rate(skip={WARM_UP_STEPS})", f"batch_over_time(skip={skip})", f"skipmean({skip})", "summary()")
    rules = [parse_estimator(choice) for choice in choices]
    fitting = (rule for rule in rules if _plausible(reading, rule, skip))
    lacking = (rule for rule in rules if _lacks_a_fact(reading, rule))
    return next(chain(fitting, lacking), rules[0])


def _plausible(reading: Reading, rule: Estimator, skip: int) -> bool:
    try:
        value = apply(reading, rule).value
    except NotEstimable:
        return False
    try:
        printed = parse_estimator(f"skipmean({skip})")(reading).value
    except NotEstimable:
        return True
    return max(value, printed) < IMPLAUSIBLE_FACTOR * min(value, printed)


def _lacks_a_fact(reading: Reading, rule: Estimator) -> bool:
    try:
        apply(reading, rule)
    except FactMissing:
        return True
    except NotEstimable:
        pass
    return False


def _warm_up_records(reading: Reading) -> int:
    """Records that end within the warm-up, at most half of them; a tenth where steps are not numbered."""
    done = reading.steps_done
    inside = sum(steps <= WARM_UP_STEPS for steps in done) if any(map(isfinite, done)) else len(done) // 10
    return min(inside, len(done) // 2)
