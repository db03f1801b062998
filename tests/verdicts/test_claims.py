"""What may be claimed of two results, and what is said where nothing may."""

from __future__ import annotations

from dataclasses import replace

import pytest

from claimable import CONDITIONS, HIGH, LOW, NUMERICS, PYTORCH, ROW, claimable, of_trials
from dlperf.measured.findings.program_faults import UNFAIR
from dlperf.messages import CHINESE
from dlperf.messages.finding import note, warning
from dlperf.table.families import family_of
from dlperf.table.model import ConfigurationResult, Status
from dlperf.verdicts.claims import claim
from dlperf.verdicts.inference.verdict import Variation
from dlperf.verdicts.kinds import campaigns_in_turns
from dlperf.verdicts.variation import Known


def codes(a: ConfigurationResult, b: ConfigurationResult) -> list[str]:
    return [reason.code for reason in claim(a, b).reasons]


def test_five_interleaved_trials_each_under_equal_conditions_give_a_claim() -> None:
    found = claim(LOW, HIGH)
    assert (found.verdict.code, claim(HIGH, LOW).verdict.code) == ("better", "worse")
    assert (found.p, found.reasons) == (pytest.approx(0, abs=1e-9), ())
    assert found.interval is not None
    assert found.interval[0] < found.ratio < found.interval[1]  # type: ignore[operator]


def test_an_axis_that_one_program_has_not_counts_as_what_the_other_does_whatever_is_chosen() -> None:
    chosen = replace(LOW, axes=(("checkpointing", "full"), ("compile", "yes"), ("context_parallel", 1)))
    fixed = replace(HIGH, axes=(("checkpointing", "full"),), options={"compile": "yes"})
    assert claim(chosen, fixed).verdict.code == "better"
    for other in (replace(fixed, options={"compile": "no"}), replace(fixed, options={})):
        assert codes(chosen, other) == ["unequal_setting"]
    parts = replace(chosen, axes=(*chosen.axes[:2], ("context_parallel", 2)))
    assert str(claim(parts, fixed).reasons[0]) == "context_parallel 1 against 2", "the faster first"


def test_less_of_what_should_be_low_is_better() -> None:
    low, high = (replace(row, unit="GB", direction="lower", metric="memory") for row in (LOW, HIGH))
    assert (claim(high, low).verdict.code, claim(low, high).verdict.code) == ("better", "worse")


def test_trials_that_overlap_are_the_same_within_the_loss_that_was_sought() -> None:
    found = claim(LOW, claimable(PYTORCH, 7000.5, 7002.0, 7003.5, 7004.5, 7007.0, turn=1))
    assert str(found.verdict) == "same"
    assert found.detectable == pytest.approx(0.0017, abs=0.0003)


def test_what_others_sent_is_never_claimed_about_and_is_no_gpu_of_a_kind() -> None:
    sent = [replace(row, status=Status("imported"), source="sent by Ada Lovelace") for row in (LOW, HIGH)]
    for pair in (sent, (LOW, sent[1]), (sent[0], HIGH)):
        assert str(claim(*pair).verdict) == "cannot tell: third-party results"
    assert campaigns_in_turns(LOW, HIGH, sent) == []


VARIED = (
    claimable(ROW, 7000.0, 7100.0, 7200.0, 7300.0, 7050.0),
    claimable(PYTORCH, 7200.0, 7300.0, 7400.0, 7500.0, 7250.0, turn=1),
)


def test_trials_that_leave_it_open_name_how_large_a_new_campaign_would_decide() -> None:
    found = claim(*VARIED)
    assert [reason.code for reason in found.reasons] == ["new_campaign"]
    assert str(found.verdict).startswith("cannot tell: a new campaign of about ")
    assert found.found is not None
    assert found.reasons[0].parameters["count"] == 5 + (found.found.more or 0) < 25


def test_each_further_campaign_of_the_same_programs_has_a_smaller_share_of_the_level() -> None:
    sides = [[replace(row, campaign=f"c{number}") for row in (LOW, HIGH)] for number in range(4)]
    rows = [row for pair in sides for row in pair]
    first, fourth = claim(LOW, HIGH), claim(*sides[-1], rows=rows)
    assert first.p is not None
    assert fourth.p == pytest.approx(10 * first.p), "1/20 of the level, not 1/2"
    once, again = (claim(*VARIED, rows=[*rows, *more]) for more in ((), VARIED))
    assert once.found is not None
    assert again.found is not None
    assert (once.found.more or 0) < (again.found.more or 0)
    other = [of_trials(row, conditions=CONDITIONS | {"programs.a.py": "2"}) for row in rows]
    assert claim(LOW, HIGH, rows=other).p == first.p, "changed programs begin anew"


def test_a_campaign_that_was_cut_short_may_have_been_stopped_for_its_result() -> None:
    cut = replace(HIGH, findings=(warning("too_few_trials", count=5, repeats=7),))
    whole, stopped = claim(LOW, HIGH).p, claim(LOW, cut).p
    assert whole is not None
    assert (stopped, claim(LOW, cut).verdict.code) == (pytest.approx(3 * whole), "better"), "after 5, 6 or 7 trials"


def test_a_level_for_several_claims_asks_for_more_trials() -> None:
    values = (7000.0, 7050.0, 7100.0, 7025.0, 7075.0)
    pair = claimable(ROW, *values), claimable(PYTORCH, *(1.08 * value for value in values), turn=1)
    assert claim(*pair).verdict.code == "better"
    found = claim(*pair, level=1e-8)
    assert [reason.code for reason in found.reasons] == ["new_campaign"]
    assert found.is_testable


def test_trials_that_a_cluster_placed_on_two_gpus_are_compared_where_both_sides_ran_as_often_on_each() -> None:
    def placed(row: ConfigurationResult, gpus: str) -> ConfigurationResult:
        on = (CONDITIONS | {"gpu.uuid": f"GPU-{gpu}"} for gpu in gpus)
        return replace(row, trials=tuple(replace(each, conditions=at) for each, at in zip(row.trials, on, strict=True)))

    assert codes(placed(LOW, "11112"), placed(HIGH, "22221")) == ["other_gpus"]
    assert codes(placed(LOW, "11112"), placed(HIGH, "21111")) == []


def test_a_lead_on_one_gpu_exceeds_what_machines_of_a_kind_vary_by() -> None:
    near = claimable(PYTORCH, *(7340.0 + turn for turn in range(5)), turn=1)
    assert codes(LOW, near) == ["within_machines"], "4.8 %, and one of a hundred machines deviates by 5.6 %"
    few, many = (claim(LOW, near, Known(machines=Variation(0.01, freedom))) for freedom in (2, 20))
    assert ([why.code for why in few.reasons], many.verdict.code) == (["within_machines"], "better")
    another_version = replace(near, framework=LOW.framework)
    assert claim(LOW, another_version).verdict.code == "better", "a version is no rival: both meet the machine alike"


MISSING = {
    "new_campaign": (LOW, replace(HIGH, trials=HIGH.trials[:4])),
    "numerics_differ": (LOW, replace(HIGH, numerics=NUMERICS | {"weights": "bf16"})),
    "numerics_unknown": (LOW, replace(HIGH, numerics={})),
    "numerics_unreported": (LOW, of_trials(HIGH, numerics={"weights": "fp32"})),
    "other_gpus": (LOW, of_trials(HIGH, conditions=CONDITIONS | {"gpu.uuid": "GPU-2"})),
    "gpus_unrecorded": (LOW, of_trials(HIGH, conditions={})),
    "losses_differ": (of_trials(LOW, losses=((100, 3.7),)), of_trials(HIGH, losses=((100, 3.6), (200, 2.0)))),
    "losses_unprinted": (LOW, of_trials(HIGH, losses=())),
    "losses_uncommon": (LOW, replace(HIGH, trials=(*HIGH.trials[:4], replace(HIGH.trials[4], losses=())))),
    "not_interleaved": (LOW, of_trials(HIGH, started="2026-01-02T00:00:00Z")),
    "short_window": (LOW, of_trials(HIGH, window_seconds=3.5)),
    "window_unrecorded": (LOW, of_trials(HIGH, window_seconds=None)),
    "with_caveat": (LOW, replace(HIGH, findings=(warning("drift"), note("sw_power_cap")))),
    "unequal_setting": (LOW, replace(HIGH, axes=(("sequence_length", 8192),))),
    "third_party": (LOW, replace(HIGH, status=Status("published"))),
}


@pytest.mark.parametrize(("code", "pair"), MISSING.items(), ids=MISSING)
def test_whatever_is_missing_there_is_no_claim_and_it_is_named(code: str, pair: tuple) -> None:
    assert codes(*pair) == codes(*reversed(pair)) == [code]
    found = claim(*pair)
    assert found.verdict.code == "cannot_tell"
    assert found.ratio == pytest.approx(1.085, abs=0.01), "the numbers are still shown"


def test_versions_that_print_no_losses_are_compared_without_and_rivals_are_not() -> None:
    low, high = (of_trials(row, losses=()) for row in (LOW, HIGH))
    assert codes(low, replace(high, framework="jax")) == []
    assert codes(low, high) == ["losses_unprinted"] * 2


def test_the_side_behind_must_not_have_waited_for_its_host_by_as_much_as_it_is_behind() -> None:
    near = claimable(ROW, *(7210.0 + turn for turn in range(5)), turn=1)
    for idle, other, code in ((0.04, 0.0, "cannot_tell"), (0.04, 0.02, "better"), (0.0, 0.04, "better")):
        found = claim(of_trials(LOW, idle=idle), of_trials(near, idle=other))
        assert (found.verdict.code, [why.code for why in found.reasons]) == (
            code,
            ["within_idle"] if code == "cannot_tell" else [],
        )


def test_a_fault_of_a_program_comes_before_what_its_trials_lack() -> None:
    faulty = replace(HIGH, findings=(warning("drift", drift=0.03), warning(min(UNFAIR))), trials=HIGH.trials[:4])
    said = [[part.code for part in why.chain()][-1] for why in claim(LOW, faulty).reasons]
    assert said == [min(UNFAIR), "new_campaign", "drift"]


def test_versions_that_report_no_types_are_compared_by_what_is_planned_and_rivals_are_not() -> None:
    planned = of_trials(HIGH, numerics={})
    assert codes(of_trials(LOW, numerics={}), replace(planned, framework="jax")) == []
    assert codes(of_trials(LOW, numerics={}), planned) == ["numerics_unreported"] * 2


def test_another_precision_has_other_numerics_even_where_these_were_not_recorded() -> None:
    old = [replace(LOW, numerics={}), replace(HIGH, numerics={}, precision="bf16-pure")]
    assert str(claim(*old).verdict) == "cannot tell: different numerics: BF16-PURE / BF16"


def test_how_gradients_are_exchanged_matters_on_several_gpus_only() -> None:
    low, high = (
        replace(LOW, numerics=NUMERICS | {"reduction": "fp32"}),
        replace(HIGH, numerics=NUMERICS | {"reduction": "bf16"}),
    )
    assert codes(low, high) == []
    assert codes(replace(low, gpus=2), replace(high, gpus=2)) == ["numerics_differ"]


def test_the_brief_verdict_has_the_first_reason_and_the_number_of_others() -> None:
    few = claim(replace(LOW, trials=LOW.trials[:3]), of_trials(replace(HIGH, trials=HIGH.trials[:3]), conditions={}))
    assert [reason.code for reason in few.reasons] == ["new_campaign", "gpus_unrecorded"]
    assert str(few.brief) == "cannot tell: a new campaign of about 5 trials each would decide (and 1 more)"
    assert claim(LOW, HIGH).brief == claim(LOW, HIGH).verdict


@pytest.mark.parametrize(
    "code", ["losses_differ", "losses_unprinted", "numerics_differ", "numerics_unreported", "unequal_setting"]
)
def test_no_campaign_is_asked_for_where_none_would_decide(code: str) -> None:
    few = [replace(row, trials=row.trials[:3]) for row in MISSING[code]]
    found = claim(*few)
    assert [why.code for why in found.reasons] == [code]
    assert found.as_data()["more_trials"] is None


def test_what_is_missing_is_said_in_both_languages() -> None:
    found = claim(*MISSING["new_campaign"])
    assert str(found.verdict) == "cannot tell: a new campaign of about 5 trials each would decide"
    assert CHINESE.render(found.verdict) == "无法判断：再做一个测试批次（两侧各约 5 次测试）即可判断"


@pytest.mark.parametrize(("axis", "value"), [("batch_size", 8), ("gpus", 4), ("protocol", "x"), ("tuning", "stock")])
def test_unequal_settings_never_make_a_claim(axis: str, value: object) -> None:
    assert codes(LOW, replace(HIGH, **{axis: value})) == ["unequal_setting"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "other", [{"unit": "tokens/s"}, {"metric": "step_time"}, {"case": "vgg16"}, {"framework": "oneflow-w-o-clip"}]
)
def test_what_is_another_quantity_or_less_work_is_not_comparable(other: dict[str, str]) -> None:
    found = claim(LOW, replace(HIGH, **other))  # type: ignore[arg-type]
    assert (found.verdict.code, found.ratio, found.p) == ("not_comparable", None, None)


def test_machines_are_compared_with_equal_programs_and_versions_and_without_interleaving() -> None:
    other = replace(HIGH, framework="jax", hardware="a100")
    steady = Known(machines=Variation(0.001, 10))
    assert claim(LOW, of_trials(other, conditions=CONDITIONS | {"gpu.uuid": "GPU-2"}), steady).verdict.code == "better"
    assert codes(LOW, of_trials(other, conditions={"programs.a.py": "2"})) == ["other_programs", "versions_unrecorded"]


def test_a_difference_of_machines_must_exceed_what_machines_of_one_kind_differ_by() -> None:
    other = replace(HIGH, framework="jax", hardware="a100")
    assert claim(LOW, other, Known(machines=Variation(0.02, 10))).verdict.code == "cannot_tell"
    assert claim(LOW, other, Known(machines=Variation(0.005, 10))).verdict.code == "better"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("oneflow", "oneflow-w-o-clip", True),
        ("ngc-tensorflow-1.x", "ngc-tensorflow-1.x-w-xla", True),
        ("megatron-bridge-nemo-26.04", "megatron-bridge-nemo-26.06.01", True),
        ("jax", "pytorch-compiled", False),
    ],
)
def test_versions_and_variants_are_one_framework(one: str, other: str, same: bool) -> None:
    assert (family_of(one) == family_of(other)) is same
