"""What several GPUs and campaigns show: claims about a kind, and how much results vary."""

from __future__ import annotations

from dataclasses import replace

import pytest

from claimable import CONDITIONS, LOW, PYTORCH, ROW, claimable, of_trials
from dlperf.messages.finding import warning
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import claim
from dlperf.verdicts.compare import Selector, compare
from dlperf.verdicts.inference.policies import LEVEL
from dlperf.verdicts.kinds import campaigns_in_turns
from dlperf.verdicts.overturning import least_further_lead
from dlperf.verdicts.variation import Known, known_variation


def on_gpu(gpu: int | str, lead: float) -> list[ConfigurationResult]:
    sides = (
        claimable(ROW, *(7000.0 + turn for turn in range(5))),
        claimable(PYTORCH, *(7000 * lead + turn for turn in range(5)), turn=1),
    )
    return [
        replace(of_trials(side, conditions=CONDITIONS | {"gpu.uuid": f"GPU-{gpu}"}), campaign=f"c{gpu}")
        for side in sides
    ]


def test_one_configuration_in_two_campaigns_is_no_pair_of_programs() -> None:
    rows = [replace(row, campaign=f"c{gpu}") for gpu in range(3) for row in on_gpu(gpu, 1.0)]
    assert campaigns_in_turns(rows[0], rows[2], rows) == []


def test_a_claim_about_a_kind_is_one_comparison_whichever_of_its_gpus_are_named() -> None:
    rows = [row for gpu in range(4) for row in on_gpu(gpu, 1.08 + gpu / 1000)]
    sides = (Selector(row.id, {"framework": row.framework}) for row in rows[:2])
    found = compare(rows, *sides)
    assert [len(one.machines) for one in found.pairs] == [4]
    assert found.pairs[0].found is not None
    assert found.pairs[0].found.policy.level == LEVEL, "it is one test"


def test_a_claim_holds_with_one_more_gpu_from_the_lead_on_that_is_named() -> None:
    rows = [row for gpu in range(4) for row in on_gpu(gpu, 1.08 + gpu / 1000)]
    found = claim(*rows[:2], rows=rows)
    least = least_further_lead(found)
    assert least is not None
    assert least_further_lead(found.inverse) == pytest.approx(least), "of the better side, whichever is named first"
    for lead, code in ((least + 1e-3, "better"), (least - 1e-3, "cannot_tell")):
        assert claim(*rows[:2], rows=[*rows, *on_gpu(4, 1 + lead)]).verdict.code == code
    assert least_further_lead(claim(*rows[:2])) is None, "of one GPU"


def test_three_gpus_of_a_kind_count_once_each() -> None:
    steady = [on_gpu(gpu, 1.08 + gpu / 1000) for gpu in range(3)]
    chance = [on_gpu(gpu, lead) for gpu, lead in enumerate((1.08, 0.99, 1.02))]
    rows = [row for pair in steady for row in pair]
    assert (claim(*steady[0]).machines, claim(*steady[0]).verdict.code) == ((), "better")
    of_kind = claim(*steady[0], rows=rows)
    assert (len(of_kind.machines), of_kind.verdict.code, of_kind.ratio) == (3, "better", pytest.approx(1.081, abs=1e-4))
    found = claim(*chance[0], rows=[row for pair in chance for row in pair])
    assert (len(found.machines), found.verdict.code) == (3, "cannot_tell"), "one GPU alone would claim it"
    assert found.reasons[0].code == "more_gpus"
    *others, last = rows
    doubtful = [*others, replace(last, findings=(warning("drift"),))]
    assert [why.code for why in claim(*steady[0], rows=doubtful).reasons] == ["with_caveat"], "of a GPU not shown"
    drifting = [*others, replace(last, trials=tuple(replace(trial, drift=-0.09) for trial in last.trials))]
    assert [why.code for why in claim(*steady[0], rows=drifting).reasons] == ["within_drift"], "of a GPU not shown"
    waiting = of_trials(others[-1], idle=0.2)
    assert [why.code for why in claim(*steady[0], rows=[*others[:-1], waiting, last]).reasons] == ["within_idle"]
    assert claim(*steady[0], rows=[*others, of_trials(last, idle=0.2)]).verdict.code == "better", "ahead all the same"
    few = [
        replace(row, trials=tuple(replace(row.trials[n], losses=((100, 2.0 + n / 10),)) for n in range(2)))
        for row in rows
    ]
    assert [why.code for why in claim(*few[:2]).reasons] == ["new_campaign", "losses_unclear"]
    assert claim(*few[:2], rows=few).verdict.code == "better", "two trials on each GPU are six losses"
    other = [of_trials(row, conditions=CONDITIONS | {"programs.a.py": "2"}) for row in rows]
    assert claim(*steady[0], rows=other).machines == ()


def test_a_unit_of_the_last_digit_is_no_lead_of_a_kind_either() -> None:
    def lead(unit: float) -> list[ConfigurationResult]:
        sides = [
            claimable(side, *(value,) * 5, turn=turn)
            for turn, (side, value) in enumerate(((ROW, 12.3), (PYTORCH, 12.3 + unit)))
        ]
        return [
            replace(of_trials(side, conditions=CONDITIONS | {"gpu.uuid": f"GPU-{gpu}"}), campaign=f"c{gpu}")
            for gpu in range(3)
            for side in sides
        ]

    one, two = (claim(*rows[:2], rows=rows) for rows in (lead(0.1), lead(0.2)))
    assert (len(one.machines), one.verdict.code, two.verdict.code) == (3, "same", "better")
    assert one.found is not None
    assert one.found.loss > 0.0081


def test_a_gpu_that_ran_another_version_of_a_framework_is_none_of_the_kind() -> None:
    rows = [row for gpu in range(4) for row in on_gpu(gpu, 1.08 + gpu / 1000)]
    versions = ["2.10", "2.11", "2.11", "2.11"]
    rows = [
        of_trials(row, conditions={**row.trials[0].conditions, "framework_version": versions[place // 2]})
        for place, row in enumerate(rows)
    ]
    assert [len(claim(*rows[at : at + 2], rows=rows).machines) for at in (0, 2)] == [0, 3]


def test_gpus_that_are_in_several_sets_count_once() -> None:
    pairs = [on_gpu(gpus, 1.05) for gpus in ("1, GPU-2", "2, GPU-1", "1, GPU-3", "4, GPU-5", "6, GPU-7")]
    assert len(claim(*pairs[0], rows=[row for pair in pairs for row in pair]).machines) == 3


def test_three_gpus_with_one_trial_each_are_fewer_than_the_five_trials_of_a_claim() -> None:
    rows = [replace(row, trials=row.trials[:1]) for gpu in range(3) for row in on_gpu(gpu, 1.05 + gpu / 1000)]
    found = claim(*rows[:2], rows=rows)
    assert (len(found.machines), found.verdict.code) == (3, "cannot_tell")
    assert [(why.code, why.parameters["count"]) for why in found.reasons] == [("more_trials", 2)]


def test_of_each_gpu_the_campaign_counts_that_began_last_whatever_its_name() -> None:
    rows = [row for gpu in range(3) for row in on_gpu(gpu, 1.05 + gpu / 1000)]
    later = [
        replace(
            row,
            campaign="a",
            trials=tuple(replace(each, started=f"2027{(each.started or '')[4:]}") for each in row.trials),
        )
        for row in on_gpu(0, 0.9)
    ]
    pairs = dict(campaigns_in_turns(*rows[:2], [*rows, *later])).values()
    assert sorted(pair[0].campaign for pair in pairs) == ["a", "c1", "c2"]


def test_the_variation_between_machines_is_that_of_configurations_which_ran_on_several() -> None:
    values = {"GPU-1": 7003.0, "GPU-2": 7100.0, "GPU-3": 7050.0}
    rows = [
        of_trials(replace(LOW, value=value), conditions=CONDITIONS | {"gpu.uuid": gpu}) for gpu, value in values.items()
    ]
    known = known_variation(rows).machines
    assert known is not None
    assert (known.share, known.freedom) == (pytest.approx(0.0069, abs=1e-4), 2)
    assert known_variation(rows[:2]) == known_variation([LOW]) == Known(), "two are too few"


def test_variations_are_those_of_configurations_with_seven_campaigns_or_three_machines_each() -> None:
    cases = [replace(LOW, axes=(("sequence_length", length),)) for length in (1, 2, 4)]
    pairs = [
        of_trials(replace(row, value=7000.0 + number), conditions=CONDITIONS | {"gpu.uuid": f"GPU-{number}"})
        for row in cases
        for number in range(2)
    ]
    assert known_variation(pairs).machines is None, "each on two machines"
    assert known_variation([replace(row, value=7000.0 + n) for row in cases for n in range(6)]).campaigns is None
    nightly = [replace(LOW, value=7000.0 + n) for n in range(7)]
    assert known_variation(nightly).campaigns is not None
    changing = [of_trials(row, conditions=CONDITIONS | {"programs.a.py": row.value}) for row in nightly]
    assert known_variation(changing).campaigns is not None, "a program that changes each night varies, too"
