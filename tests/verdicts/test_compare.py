"""Two sets of results side by side."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from dlperf.errors import RequestError
from dlperf.measured.model import TrialResult
from dlperf.plan import TrialKey
from dlperf.runs.archive import keep_sent
from dlperf.table.model import ConfigurationResult, Status
from dlperf.verdicts.claims import Claim
from dlperf.verdicts.compare import Comparisons, compare, parse_selector
from dlperf.verdicts.inference.verdict import Variation
from dlperf.verdicts.judging import Judgement, below, judge_pairs, judge_rows
from dlperf.verdicts.variation import Known, known_of_pair
from dlperf.verdicts.workspace import compare_in_workspace
from handmade_trials import PROTOCOL, end_trial, measured_campaign, own_log, planned, workspace_in, write_planned


def row(campaign: str, *values: float, framework: str = "f", gpus: int = 1, unit: str = "images/s", **more: object):
    trials = tuple(TrialResult(number, "succeeded", value=value) for number, value in enumerate(values, 1))
    value = sorted(values)[len(values) // 2] if values else None
    known: dict[str, object] = {
        "hardware": "h",
        "case": "m",
        "precision": "fp32",
        "batch_size": 8,
        "nodes": 1,
        "spread": None,
        "n": len(values) or None,
        "speedup": None,
        "efficiency": None,
        "mfu": None,
        "protocol": "p",
        "status": Status("measured" if values else "out_of_memory"),
    }
    fields = known | {"campaign": campaign, "framework": framework, "gpus": gpus, "unit": unit} | more
    return ConfigurationResult(value=value, trials=trials, **fields)  # type: ignore[arg-type]


def on_one_machine(found: ConfigurationResult) -> ConfigurationResult:
    trials = (replace(trial, conditions={"gpu.uuid": "GPU-1"}) for trial in found.trials)
    return replace(found, trials=tuple(trials))


def compared(rows: list[ConfigurationResult], a: str = "a", b: str = "b") -> Comparisons:
    return compare(rows, parse_selector(a, rows), parse_selector(b, rows))


def only(rows: list[ConfigurationResult], a: str = "a", b: str = "b") -> Claim:
    (pair,) = compared(rows, a, b).pairs
    return pair


def judged(pair: Claim, campaigns: Variation | None = None) -> Judgement:
    return judge_rows(pair.a, pair.b, known=Known(campaigns))


def test_the_ratio_has_the_interval_that_the_trials_leave_open():
    pair = only([row("a", 98, 100, 102), row("b", 110, 112, 108)])
    assert pair.ratio == pytest.approx(1.10)
    assert pair.interval == (pytest.approx(1.007, abs=1e-3), pytest.approx(1.201, abs=1e-3))
    assert str(pair.verdict).startswith(
        "cannot tell: a new campaign of about 5 trials each would decide; numerics not recorded; "
    )


def test_less_of_what_should_be_low_is_a_gain():
    pair = only(
        [
            row("a", 98, 99, 100, 101, 102, unit="ms", direction="lower"),
            row("b", 80, 80.5, 81, 81.5, 82, unit="ms", direction="lower"),
        ]
    )
    assert pair.ratio == pytest.approx(0.81)
    assert pair.gain == pytest.approx(1 / 0.81)
    assert below(judged(pair), 0.97) == "same"
    assert below(judge_rows(pair.b, pair.a), 0.97) == "worse"


def test_other_metrics_are_not_compared_even_in_one_unit():
    pair = only([row("a", 1, unit="s", metric="step_time"), row("b", 1, unit="s", metric="time_to_train")])
    assert str(pair.verdict) == "not comparable: step_time against time_to_train"


def test_one_trial_leaves_the_variation_unknown():
    pair = only([row("a", 100), row("b", 90)])
    assert (pair.ratio, pair.interval, pair.p) == (pytest.approx(0.9), None, None)


def test_campaigns_are_matched_on_equal_axes():
    rows = [row("a", 100), row("a", 190, gpus=2), row("b", 200, gpus=2), row("b", 300, gpus=4)]
    found = compared(rows)
    assert [(pair.a.gpus, pair.b.gpus) for pair in found.pairs] == [(2, 2)]
    assert [(item.row.gpus, item.reason) for item in found.only_a] == [(1, "no 1n1g")]
    assert [(item.row.gpus, item.reason) for item in found.only_b] == [(4, "no 1n4g")]


def test_what_a_side_lacks_is_said_by_the_axes_that_it_does_not_have():
    rows = [row("a", 100), row("a", 190, gpus=2), row("a", 90, batch_size=4), row("a", 80, framework="g", gpus=2)]
    rows += [row("b", 190, gpus=2), row("b", 70, framework="g")]
    reasons = {(item.row.framework, item.row.gpus, item.row.batch_size): item.reason for item in compared(rows).only_a}
    assert reasons == {
        ("f", 1, 8): "all of its axes, not together",
        ("f", 1, 4): "no batch size 4",
        ("g", 2, 8): "all of its axes, not together",
    }


def test_an_axis_that_both_sides_fix_may_differ():
    rows = [row("c", 100, framework="x"), row("c", 120, framework="y"), row("c", 90, framework="z")]
    pair = only(rows, "framework=x", "framework=y,campaign=c")
    assert pair.ratio == pytest.approx(1.2)


def test_programs_pair_where_one_lets_choose_what_the_other_does_anyway():
    rows = [row("c", 100, framework="x", axes=(("compile", "no"), ("tensor_parallel", 1)))]
    rows += [row("c", 120, framework="y", options={"compile": "no", "data": "made"})]
    assert only(rows, "framework=x", "framework=y").ratio == pytest.approx(1.2)


def test_an_axis_of_neither_side_need_not_be_equal():
    rows = [row("c", 100, framework="x", options={"compile": "step"})]
    rows += [row("c", 120, framework="y", options={"compile": "model and loss"})]
    rows += [row("c", 90, framework="z", axes=(("compile", "no"),))]
    assert only(rows, "framework=x", "framework=y").ratio == pytest.approx(1.2)


def test_single_configurations_are_compared_whatever_their_axes():
    rows = [row("a", 100), row("a", 190, gpus=2)]
    assert only(rows, "h_f_m_fp32_bs8_1n1g", "a/h_f_m_fp32_bs8_1n2g").ratio == pytest.approx(1.9)


def test_a_point_that_a_side_holds_twice_is_not_compared():
    found = compared([row("a", 100), row("a", 101), row("b", 100)])
    assert found.pairs == ()
    assert found.ambiguous == ("h f m fp32 8 1n1g: 2 rows against 1: name one more axis",)


def test_sides_that_share_nothing_are_a_wrong_request():
    with pytest.raises(RequestError, match="share no configuration"):
        compared([row("a", 100), row("b", 100, gpus=2)])


@pytest.mark.parametrize("text", ["nowhere", "speed=1", "h_f_m_fp32_bs8_1n9g"])
def test_a_selector_that_means_nothing_is_a_wrong_request(text: str):
    with pytest.raises(RequestError):
        parse_selector(text, [row("a", 100)])


def test_a_missing_figure_says_why_and_fails_a_threshold():
    pair = only([row("a", 100), row("b")])
    assert (pair.ratio, str(pair.verdict)) == (None, "not comparable: out of memory")
    assert below(judged(pair), 0.5) == "missing"
    assert below(judged(only([row("a"), row("b", 100)])), 0.5) == "same"


def test_the_threshold_is_on_the_ratio_of_the_figures():
    published = [row(side, value, status=Status("published")) for side, value in (("a", 100), ("b", 97))]
    pair = only(published)
    assert below(judged(pair), 0.97) == "same"
    assert below(judged(pair), 0.98) == "worse"


@pytest.mark.parametrize(
    ("b", "outcome"),
    [
        ((90, 104, 95, 96, 101), "cannot_tell"),
        ((90, 91, 90.5, 90, 91), "worse"),
        ((98, 97.5, 98, 98.5, 98), "cannot_tell"),
        ((100, 100.1, 99.9, 100, 100), "same"),
        ((96, 96), "cannot_tell"),
        ((99, 99), "cannot_tell"),
        ((96.7, 96.8, 96.7, 96.6, 96.7), "cannot_tell"),
        ((99.9, 97.5), "cannot_tell"),
    ],
    ids=[
        "by chance",
        "clear",
        "above by chance",
        "clearly above",
        "few, below",
        "few, steady",
        "clearly less, by how much is open",
        "few, varied",
    ],
)
def test_only_what_is_clear_passes_or_fails_a_threshold(b: tuple[float, ...], outcome: str):
    pair = only([on_one_machine(row("a", 99.9, 100, 100, 100.1, 100)), on_one_machine(row("b", *b))])
    assert below(judged(pair), 0.97) == outcome


def test_a_threshold_allows_for_how_much_campaigns_are_known_to_differ():
    steady = (on_one_machine(row(name, *values)) for name, values in (("a", (100.1,) * 5), ("b", (96.1,) * 5)))
    pair = only(list(steady))
    assert below(judged(pair), 0.97) == "worse"
    assert below(judged(pair, Variation(0.02, 10)), 0.97) == "cannot_tell"


def test_a_threshold_takes_the_variation_of_its_own_hardware():
    def history(hardware: str, varying: float) -> list[ConfigurationResult]:
        values = ((f"{hardware} {night}", 100 + varying * (-1) ** night) for night in range(7))
        return [on_one_machine(row(name, *(value,) * 5, hardware=hardware)) for name, value in values]

    rows = [*history("steady", 0.02), *history("noisy", 5)]
    rows += [on_one_machine(row("b", *(96,) * 5, hardware=hardware)) for hardware in ("steady", "noisy")]
    found = {
        hardware: judge_pairs(compared(rows, f"{hardware} 0", f"campaign=b,hardware={hardware}"))[0]
        for hardware in ("steady", "noisy")
    }
    assert {name: below(each, 0.97) for name, each in found.items()} == {"steady": "worse", "noisy": "cannot_tell"}


def test_two_kinds_of_hardware_vary_as_each_of_them_does():
    known = {
        "h": Known(Variation(0.003, 10), Variation(0.03, 4)),
        "other": Known(Variation(0.004, 10), Variation(0.04, 4)),
    }
    found = known_of_pair(known, row("a", 1), row("b", 1, hardware="other"))
    campaigns, machines = found.campaigns, found.machines
    assert campaigns == Variation(pytest.approx(0.005 / math.sqrt(2)), pytest.approx(625 / 33.7))
    assert machines == Variation(pytest.approx(0.05 / math.sqrt(2)), pytest.approx(625 / 84.25))
    assert known_of_pair(known, row("a", 1), row("b", 1, hardware="third")).campaigns is None


def test_a_gain_that_is_asked_for_is_not_excused_by_chance():
    pair = only([row("a", 99, 100, 100, 101, 100), row("b", 100, 101, 99, 100, 102)])
    assert below(judged(pair), 1.05) == "worse"


def test_figures_in_different_units_are_not_compared():
    pair = only([row("a", 100), row("b", 100, unit="tokens/s")])
    assert (pair.ratio, str(pair.verdict)) == (None, "not comparable: images/s against tokens/s")


def test_conditions_that_differ_are_said(tmp_path: Path):
    workspace = workspace_in(tmp_path)
    for name, options, driver in (("a", {"dali": True}, "550.1"), ("b", {"dali": False}, "560.2")):
        protocol = PROTOCOL if name == "a" else PROTOCOL | {"estimator": "mean()"}
        plan = planned(repeats=1, options=options, protocol=protocol)
        environment = json.dumps(
            {"driver": driver, "hostname": name, "gpus": [{"name": "H200", "uuid": f"GPU-{name}"}]}
        )
        files = {"n0/out.log": own_log(100.0), "n0/environment.json": environment}
        campaign = write_planned(workspace, name, [plan])
        keep_sent(campaign.trial(TrialKey(plan.configuration.id, 1)), {"n0/files/train.py": name.encode()})
        end_trial(campaign, plan, 1, files)
    (pair,) = compare_in_workspace(workspace, "a", "b").pairs
    assert set(pair.differences) == {
        "protocol.estimator: rate(skip=20, take=100) against mean()",
        "options.dali: True against False",
        "driver: 550.1 against 560.2",
        "gpu.uuid: GPU-a against GPU-b",
        "programs.train.py: ca978112ca1b against 3e23e8160039",
    }


def test_campaigns_of_one_plan_differ_in_nothing(tmp_path: Path):
    workspace = workspace_in(tmp_path)
    for name in ("a", "b"):
        measured_campaign(workspace, name, [(planned(), [100.0, 101.0])])
    (pair,) = compare_in_workspace(workspace, "a", "b").pairs
    assert (pair.differences, pair.verdict.code) == ((), "cannot_tell")


def test_rows_pair_on_equal_axes_unless_a_side_names_one():
    rows = [row("a", 100, 101, axes=(("sequence_length", length),)) for length in (2048, 8192)] + [
        row("b", 110, 111, axes=(("sequence_length", 8192),))
    ]
    assert [pair.a.axes for pair in compared(rows).pairs] == [(("sequence_length", 8192),)]
    pair = only(rows, "campaign=a,sequence_length=2048", "campaign=b,sequence_length=8192")
    assert pair.ratio == pytest.approx(1.1, rel=0.01)
