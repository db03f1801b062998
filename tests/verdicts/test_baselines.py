"""Baselines and the verdicts that follow from them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from claimable import CONDITIONS, claimable
from dlperf.catalog.axes import Configuration, field_values
from dlperf.errors import RequestError
from dlperf.table.model import ConfigurationResult, Status
from dlperf.verdicts.baselines import Baseline, baseline_of, judge_reference
from dlperf.verdicts.judging import Options

STEADY = (99.9, 100.0, 100.0, 100.0, 100.1)
POINT = Configuration("box", "numpy", "lenet5", "fp32", 32, 1, 1)


def row(*values: float, campaign: str = "a", gpu: str = "GPU-1", **fields: object) -> ConfigurationResult:
    known = {"unit": "images/s", "status": Status("measured"), **fields}
    found = claimable(ConfigurationResult(**field_values(POINT), campaign=campaign, **known), *values)
    conditions = CONDITIONS | {"gpu.uuid": gpu}
    return replace(found, trials=tuple(replace(trial, conditions=conditions) for trial in found.trials))


def verdict(baseline: Baseline, now: ConfigurationResult) -> tuple[str, str]:
    (reference,) = baseline.references
    found = judge_reference(reference, now)
    return found.outcome, str(found.verdict)


def moved(by: float) -> tuple[float, ...]:
    return tuple(value * (1 + by) for value in STEADY)


def test_a_campaign_may_differ_as_much_as_trials_do_until_three_were_measured():
    before = row(*STEADY)
    baseline = baseline_of("main", [before], [before])
    assert baseline.references[0].loss == pytest.approx(0.0104, abs=1e-3)
    assert verdict(baseline, row(*moved(-0.001), campaign="b"))[0] == "same"
    outcome, said = verdict(baseline, row(*moved(-0.02), campaign="b"))
    assert (outcome, said) == ("worse", "worse: -2.00 % (-2.67 % … -1.33 %)")
    assert verdict(baseline, row(*moved(0.02), campaign="b"))[0] == "better"


def test_campaigns_that_were_measured_say_how_much_they_differ():
    shifts = (0.0, 0.01, -0.01, 0.012, -0.008, 0.004, 0.013, -0.006) * 3
    known = [row(*moved(by), campaign=str(number)) for number, by in enumerate(shifts)]
    baseline = baseline_of("main", known[:1], known)
    assert verdict(baseline, row(*moved(-0.02), campaign="b"))[0] == "cannot_tell"
    assert verdict(baseline, row(*moved(-0.15), campaign="b"))[0] == "worse"


def test_another_machine_may_differ_by_what_machines_of_its_kind_differ_by():
    before = row(*STEADY)
    baseline = baseline_of("main", [before], [before])
    outcome, said = verdict(baseline, row(*moved(-0.03), campaign="b", gpu="y"))
    assert outcome == "cannot_tell"
    assert said.endswith("not even 1,000 trials each would decide")
    assert verdict(baseline, row(*moved(-0.03), campaign="b"))[0] == "worse"
    kind = [
        row(*moved(by), campaign=gpu, gpu=gpu)
        for gpu, by in zip("vwxyz", (0.0, 0.001, -0.001, 0.0005, 0.0), strict=True)
    ]
    assert verdict(baseline_of("main", kind[:1], kind), row(*moved(-0.03), campaign="b", gpu="u"))[0] == "worse"


def test_more_of_what_should_be_low_is_worse():
    fields = {"unit": "GB", "direction": "lower", "metric": "allocated_memory_per_gpu"}
    now = row(*moved(0.05), campaign="b", **fields)
    assert verdict(baseline_of("main", [row(*STEADY, **fields)], []), now)[1].startswith("worse: +5.00 % (+")


def test_a_loss_that_is_named_is_sought():
    before = row(*STEADY)
    (reference,) = baseline_of("main", [before], [before]).references
    now = row(*moved(-0.02), campaign="b")
    assert judge_reference(reference, now, Options(loss=0.03)).outcome == "same"
    assert judge_reference(reference, now, Options(loss=0.01)).outcome == "worse"


def test_the_latest_of_several_campaigns_is_kept():
    old, new = row(*STEADY, campaign="z"), row(*STEADY, campaign="a")
    trials = tuple(replace(trial, started=f"2027-{trial.started[5:]}") for trial in new.trials if trial.started)
    rows = [replace(new, trials=trials), old]
    assert [item.result.campaign for item in baseline_of("main", rows, rows).references] == ["a"]


def test_four_trials_are_too_few():
    with pytest.raises(RequestError, match="4 trials, and a baseline needs 5"):
        baseline_of("main", [row(*STEADY[:4])], [])
