"""Tolerances of baselines and the verdicts that follow from them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from claimable import CONDITIONS, claimable
from dlperf.catalog.axes import Configuration, field_values
from dlperf.errors import RequestError
from dlperf.table.model import ConfigurationResult, Status
from dlperf.verdicts.baselines import Baseline, baseline_of, judge
from dlperf.verdicts.claims import claim

STEADY = (99.9, 100.0, 100.0, 100.0, 100.1)
POINT = Configuration("box", "numpy", "lenet5", "fp32", 32, 1, 1)


def row(*values: float, campaign: str = "a", gpu: str = "GPU-1", **fields: object) -> ConfigurationResult:
    known = {"unit": "images/s", "configuration": POINT.id, "status": Status("measured"), **fields}
    found = claimable(ConfigurationResult(**field_values(POINT), campaign=campaign, **known), *values)
    conditions = CONDITIONS | {"gpu.uuid": gpu}
    return replace(found, trials=tuple(replace(trial, conditions=conditions) for trial in found.trials))


def verdict(baseline: Baseline, now: ConfigurationResult) -> tuple[str, bool]:
    (reference,) = baseline.references
    found = judge(claim(reference.result, now), reference.tolerance_for(now))
    return str(found.verdict), found.failed


def test_the_tolerance_is_what_trials_of_this_variation_can_show():
    before = row(*STEADY)
    baseline = baseline_of("main", [before], [before])
    assert baseline.references[0].tolerance == pytest.approx(0.002, abs=1e-4)
    assert verdict(baseline, row(99.81, 99.82, 99.82, 99.82, 99.83)) == (
        "-0.18 % (p = 0.008), within the tolerance of 0.20 %",
        False,
    )
    assert verdict(baseline, row(*(value - 0.5 for value in STEADY))) == ("slower: -0.50 % (p = 0.008)", True)
    assert verdict(baseline, row(*(value + 5 for value in STEADY))) == ("faster: +5.00 % (p = 0.008)", False)


def test_another_machine_may_differ_by_what_machines_of_its_kind_differ_by():
    before = row(*STEADY)
    others = [row(*(value * share for value in STEADY), campaign=gpu, gpu=gpu) for gpu, share in (("x", 1.02),)]
    baseline = baseline_of("main", [before], [before, *others])
    assert baseline.references[0].machine_tolerance == pytest.approx(0.051, abs=2e-3)
    slower = tuple(value * 0.97 for value in STEADY)
    assert verdict(baseline, row(*slower, gpu="y")) == ("-3.00 % (p = 0.008), within the tolerance of 5.10 %", False)
    assert verdict(baseline, row(*slower)) == ("slower: -3.00 % (p = 0.008)", True)


def test_more_of_what_should_be_low_is_worse():
    before = row(*STEADY, unit="GB", direction="lower", metric="peak_memory_per_gpu")
    now = row(*(value + 5 for value in STEADY), unit="GB", direction="lower", metric="peak_memory_per_gpu")
    assert verdict(baseline_of("main", [before], [before]), now) == ("worse: +5.00 % (p = 0.008)", True)


def test_the_latest_of_several_campaigns_is_kept():
    old, new = row(*STEADY, campaign="z"), row(*STEADY, campaign="a")
    trials = tuple(replace(trial, started=f"2027-{trial.started[5:]}") for trial in new.trials if trial.started)
    rows = [replace(new, trials=trials), old]
    assert [item.result.campaign for item in baseline_of("main", rows, rows).references] == ["a"]


def test_four_trials_are_too_few():
    with pytest.raises(RequestError, match="4 trials, and a baseline needs 5"):
        baseline_of("main", [row(*STEADY[:4])], [])
