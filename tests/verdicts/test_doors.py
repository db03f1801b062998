"""The same trials get the same verdict at every door, with the exit code and the reasons that belong to it."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from claimable import CONDITIONS, claimable
from dlperf.app.model.comparison import comparison_of
from dlperf.app.model.side_by_side import side_by_side
from dlperf.catalog.axes import Configuration, field_values
from dlperf.cli.output import print_json
from dlperf.errors import ExitCode, RequestError
from dlperf.messages.finding import note, warning
from dlperf.report.answer import Answer, answers
from dlperf.report.ci import write_ci_files
from dlperf.report.data import SiteData
from dlperf.table.model import ConfigurationResult, Status
from dlperf.verdicts.baselines import baseline_of, judge_reference
from dlperf.verdicts.claims import Claim, claim, context_of
from dlperf.verdicts.compare import Selector, claims_together, compare
from dlperf.verdicts.judging import Judgement, Options, below, exit_code, judge_rows, outcome_of
from dlperf.verdicts.trend import judge_history

Values = tuple[float, ...]
STEADY = (100.0, 100.03, 99.98, 100.01, 99.97, 100.02, 99.99)
NOISY = (100.0, 106.0, 95.0, 104.0, 97.0, 103.0, 94.0)
PAIRS: dict[str, tuple[Values, Values]] = {
    "better": (STEADY, tuple(value * 1.1 for value in STEADY)),
    "worse": (STEADY, tuple(value * 0.9 for value in STEADY)),
    "same": (STEADY, STEADY[::-1]),
    "cannot_tell": (NOISY, tuple(value * 0.97 for value in NOISY[::-1])),
}
CODES = {"worse": ExitCode.MEASURED_FAILED, "cannot_tell": ExitCode.CANNOT_TELL}


def row(*values: float, framework: str = "alpha", campaign: str = "one", gpu: str = "1", turn: int = 0):
    point = Configuration("box", framework, "lenet5", "fp32", 32, 1, 1)
    known = {"unit": "images/s", "status": Status("measured")}
    found = claimable(ConfigurationResult(**field_values(point), campaign=campaign, **known), *values, turn=turn)
    conditions = CONDITIONS | {"gpu.uuid": gpu}
    return replace(found, trials=tuple(replace(trial, conditions=conditions) for trial in found.trials))


def in_turns(a: Values, b: Values, gpu: str = "1") -> list[ConfigurationResult]:
    sides = (("alpha", a, 0), ("beta", b, 1))
    return [row(*values, framework=name, campaign=f"on {gpu}", gpu=gpu, turn=turn) for name, values, turn in sides]


def versions(a: Values, b: Values) -> Judgement:
    before, now = row(*a), row(*b, turn=1)
    return judge_rows(before, now)


def gate(a: Values, b: Values) -> Judgement:
    before = row(*a)
    (reference,) = baseline_of("main", [before], [before]).references
    return judge_reference(reference, row(*b, campaign="two"))


def reproduction(a: Values, b: Values) -> Judgement:
    return judge_rows(row(*a), row(*b, campaign="two"))


def trend(a: Values, b: Values) -> Judgement:
    levels = (*a, *a, *b)
    history = [
        replace(found, trials=tuple(replace(trial, started=f"2026-01-{day:02}") for trial in found.trials))
        for day, value in enumerate(levels, 1)
        for found in [row(value, campaign=str(day))]
    ]
    return judge_history(history[-1], history)


def of_answer(found: Sequence[Answer]) -> Claim:
    """The claim about beta; the site names the higher side first."""
    (answer,) = found
    assert answer.second is not None
    sides = sorted((answer.best, answer.second), key=lambda each: each.framework)
    return answer.context.claim(*sides)


def of_kind(a: Values, b: Values) -> str:
    """On three GPUs, of which later campaigns superseded two."""
    older = (warning("superseded"),)
    rows = [
        replace(each, findings=older if start else ())
        for start in (0, 2, 4)
        for each in in_turns(a[start : start + 3], b[start : start + 3], str(start))
    ]
    data = SiteData(tuple(rows))
    (report,) = data.reports.values()
    found = of_answer(answers(report, data.context))
    assert (len(report), len(found.machines)) == (2, 3)
    return found.verdict.code


def on_site(a: Values, b: Values) -> str:
    found = of_answer(answers(in_turns(a, b)))
    assert found.machines == ()
    return found.verdict.code


def in_terminal(a: Values, b: Values) -> str:
    rows = [row(*a, campaign="a"), row(*b, campaign="b", turn=1)]
    view = comparison_of(rows, "a", "b")
    assert view is not None
    (point,) = view.points
    return point.verdict


def side_by_side_in_terminal(a: Values, b: Values) -> str:
    """On three GPUs: two rows of one of them stand in columns, with the claim about the kind."""
    rows = [each for at in (0, 2, 4) for each in in_turns(a[at : at + 3], b[at : at + 3], str(at))]
    _, lines = side_by_side(rows[:2], [{}, {}], claims_together([(rows[0], rows[1])], context_of(rows)))
    assert lines["each machine"].cells[2].count("%") == 3
    return lines["verdict"].cells[2].partition(":")[0].replace(" ", "_")


def printed(value: object) -> dict[str, Any]:
    """What ``--json`` prints of it."""
    out = io.StringIO()
    with redirect_stdout(out):
        print_json(value)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def compared(a: Values, b: Values) -> str:
    rows = in_turns(a, b)
    sides = (Selector(name, {"framework": name}) for name in ("alpha", "beta"))
    (pair,) = compare(rows, *sides).pairs
    assert printed(pair)["verdict_code"]["code"] == outcome_of(pair)
    return outcome_of(pair)


JUDGING: dict[str, Callable[[Values, Values], Judgement]] = {
    "ab": versions,
    "gate": gate,
    "reproduce": reproduction,
    "trend": trend,
}
SAYING: dict[str, Callable[[Values, Values], str]] = {
    "compare": compared,
    "kind": of_kind,
    "site": on_site,
    "terminal": in_terminal,
    "side by side": side_by_side_in_terminal,
}


@pytest.mark.parametrize("verdict", PAIRS)
@pytest.mark.parametrize("door", SAYING)
def test_a_door_that_prints_says_what_the_trials_say(door: str, verdict: str) -> None:
    assert SAYING[door](*PAIRS[verdict]) == verdict


@pytest.mark.parametrize("verdict", PAIRS)
@pytest.mark.parametrize("door", JUDGING)
def test_a_door_that_judges_says_so_in_text_json_files_for_ci_and_its_exit_code(
    door: str, verdict: str, tmp_path: Path
) -> None:
    found = JUDGING[door](*PAIRS[verdict])
    assert found.outcome == verdict
    assert printed(found)["outcome"] == verdict
    assert exit_code([found.outcome]) == CODES.get(verdict, ExitCode.DONE)
    write_ci_files(tmp_path, [found], "the other")
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()
    marks = {"worse": "failure", "cannot_tell": "error"}
    assert [item.tag for case in suite.iter("testcase") for item in case] == [marks.get(verdict, "system-out")]
    assert not re.search(r"loss of 0\.00", str(found.verdict))
    if verdict == "cannot_tell":
        wanted = r"about \d+ more (trials each|campaigns of this level) would decide|not even (1,000 trials|30 more)"
        assert re.search(wanted, str(found.verdict))


VALUES = st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=6)


@given(VALUES, VALUES, st.booleans(), st.booleans())
@example([100.0, 100.0], [50.0, 51.0], True, False)
@example([0.001], [1e6], False, True)
def test_no_verdict_names_an_infinite_number(a: Values, b: Values, together: bool, lower: bool) -> None:
    direction: dict[str, Any] = {"direction": "lower" if lower else "higher"}
    sides = replace(row(*a), **direction), replace(row(*b, campaign="one" if together else "two", turn=1), **direction)
    found = judge_rows(*sides)
    said = json.dumps([printed(found), printed(claim(*sides))]) + str(found.verdict)
    assert not re.search(r"\b(inf|nan|infinity)\b", said, re.IGNORECASE)
    assert not re.search(r"\d{12}[^\d.]*%", said)


def test_files_for_ci_leave_the_place_of_a_missing_value_empty(tmp_path: Path) -> None:
    missing = replace(row(*STEADY, turn=1), value=None, status=Status("failed"))
    write_ci_files(tmp_path, [judge_rows(row(*STEADY), missing)], "the other")
    assert '<td align="right">100<td align="right"><td>images/s' in (tmp_path / "summary.md").read_text()
    assert "1 of 1 failed" in (tmp_path / "badge.svg").read_text()


@pytest.mark.parametrize(
    ("verdict", "outcome"), [("better", "same"), ("worse", "worse"), ("same", "same"), ("cannot_tell", "cannot_tell")]
)
def test_a_ratio_that_must_not_be_undercut_follows_the_same_trials(verdict: str, outcome: str) -> None:
    a, b = PAIRS[verdict]
    assert below(judge_rows(row(*a), row(*b, turn=1)), 0.98) == outcome


def test_the_terminal_judges_by_the_variation_that_all_results_show() -> None:
    values = tuple(value * 1.05 for value in STEADY)
    rows = [row(*STEADY, campaign="a"), replace(row(*values, campaign="b", gpu="9"), hardware="other")]
    others = [row(*(value * at for value in STEADY), campaign=f"c{at}", gpu=str(at)) for at in (0.8, 1.0, 1.2)]
    found = []
    for known in (rows, [*rows, *others]):
        view = comparison_of(known, "a", "b")
        assert view is not None
        (point,) = view.points
        sides = (Selector(name, {"campaign": name, "hardware": on}) for name, on in (("a", "box"), ("b", "other")))
        (pair,) = compare(known, *sides).pairs
        assert point.claim == pair
        assert pair.interval is not None
        found.append(pair.interval[1] - pair.interval[0])
    assert found[1] > 2 * found[0], "machines that vary by 20 % say less"


def test_results_of_two_protocols_are_compared_at_no_door() -> None:
    a, b = PAIRS["worse"]
    before, now = row(*a), replace(row(*b, campaign="two"), protocol="late")
    (reference,) = baseline_of("main", [before], [before]).references
    for judged in (judge_rows(before, now), judge_reference(reference, now)):
        assert (judged.outcome, below(judged, 0.98)) == ("cannot_tell", "cannot_tell")
        assert "protocol " in str(judged.verdict)
        assert not judged.wants_trials
    few = replace(now, trials=now.trials[:1])
    assert not judge_rows(before, few).wants_trials, "which no trial would change"
    assert "would decide" not in str(judge_rows(before, few).verdict)
    assert "unequal_setting" in [why.code for why in claim(before, now).reasons]


@pytest.mark.parametrize(
    ("verdict", "outcome"), [("better", "cannot_tell"), ("worse", "worse"), ("same", "cannot_tell")]
)
def test_what_is_left_of_trials_that_failed_may_be_worse_but_is_never_the_same(verdict: str, outcome: str) -> None:
    a, b = PAIRS[verdict]
    lost = warning("trials_failed", count=1, of=8)
    before, now = row(*a), replace(row(*b, turn=1), findings=(lost,))
    (reference,) = baseline_of("main", [row(*a)], [row(*a)]).references
    for judged in (judge_rows(before, now), judge_reference(reference, replace(now, campaign="two"))):
        assert (judged.outcome, below(judged, 0.98)) == (outcome, outcome)
        assert ("1 of 8 trials failed" in str(judged.verdict)) == (outcome == "cannot_tell")
        assert not judged.wants_trials
    assert "1 of 8 trials failed" in str(claim(before, now).verdict)


@pytest.mark.parametrize(("share", "outcome"), [(0.002, "better"), (1 / 30, "cannot_tell")])
def test_a_difference_of_a_second_of_short_windows_is_none(share: float, outcome: str) -> None:
    whole = note("coarse_clock", share=share, window=1 / share)
    a, b = (row(*(value,) * 5, turn=turn) for turn, value in enumerate((1024 / 31, 1024 / 30)))
    now = replace(b, trials=tuple(replace(trial, findings=(whole,)) for trial in b.trials))
    (reference,) = baseline_of("main", [a], [a]).references
    for judged in (judge_rows(a, now), judge_reference(reference, replace(now, campaign="two"))):
        assert judged.outcome == outcome
    assert claim(a, now).verdict.code == outcome
    assert judge_rows(row(*STEADY), row(*STEADY, turn=1)).outcome == "same"


def test_a_comparison_lacks_what_the_later_side_alone_does_not_have() -> None:
    lost = replace(row(*STEADY), value=None, status=Status("failed"))
    assert outcome_of(claim(row(*STEADY), lost)) == "missing"
    assert outcome_of(claim(lost, row(*STEADY))) == "same"


def test_nothing_that_was_judged_is_a_failure() -> None:
    assert exit_code([]) is ExitCode.MEASURED_FAILED
    assert exit_code(["better", "cannot_tell", "worse"]) is ExitCode.MEASURED_FAILED


def test_any_loss_counts_where_none_is_too_small() -> None:
    before, now = row(*STEADY), row(*(value * 0.9995 for value in STEADY), turn=1)
    assert judge_rows(before, now).outcome == "same"
    assert judge_rows(before, now, Options(loss=0.0)).outcome == "worse", "0.05 % slower in each pair"
    assert judge_rows(before, row(*STEADY[::-1], turn=1), Options(loss=0.0)).outcome == "cannot_tell"


def test_versions_whose_trials_alternated_stay_pairs_although_some_were_lost() -> None:
    before, now = row(*STEADY, *STEADY), row(*(value * 0.99 for value in (*STEADY, *STEADY)), turn=1)
    without = {number: replace(now, trials=now.trials[:number] + now.trials[number + 2 :]) for number in (0, 5)}
    for left in (now, *without.values()):
        found = judge_rows(before, left)
        assert (found.policy.looks, found.outcome) == (None, "worse")
    apart = replace(now, trials=tuple(replace(trial, started="2026-02") for trial in now.trials))
    assert judge_rows(before, apart).policy.looks == 2


@pytest.mark.parametrize(
    ("a", "b"), [(0.0, 0.3), (0.3, 0.0), (0.0, 0.0), (-2.0, -1.0), (0.3, (0.0, 0.2, 0.2, 0.2, 0.2))]
)
@pytest.mark.parametrize("direction", ["lower", "higher"])
def test_values_that_are_not_above_zero_have_no_verdict_at_any_door(a: Any, b: Any, direction: Any) -> None:
    sides = []
    for turn, given_values in enumerate((a, b)):
        values = given_values if isinstance(given_values, tuple) else (given_values,) * 5
        found = row(*STEADY[:5], turn=turn)
        trials = tuple(replace(trial, value=value) for trial, value in zip(found.trials, values, strict=True))
        sides.append(replace(found, trials=trials, value=median(values), direction=direction))
    before, now = sides
    assert outcome_of(claim(before, now)) == "cannot_tell"
    judged = judge_rows(before, now)
    assert (judged.outcome, below(judged, 0.98), judged.wants_trials) == ("cannot_tell", "cannot_tell", False)
    for said in (judged.verdict, claim(before, now).verdict):
        assert str(said) == "cannot tell: throughput is not above 0 in every trial, so that there is no ratio"
    of_days = [replace(side.trials[0], started=f"2026-01-{day:02}") for day, side in enumerate(sides * 8, 1)]
    days = [replace(now, trials=(trial,), value=trial.value) for trial in of_days]
    assert judge_history(days[-1], days).outcome == "cannot_tell"
    with pytest.raises(RequestError, match="throughput is not above 0"):
        baseline_of("main", [side for side in sides if min(side.values) <= 0], sides)


@pytest.mark.parametrize("lower", [False, True])
def test_one_unit_of_the_last_digit_that_was_printed_is_no_difference(lower: bool) -> None:
    def sides(b: float) -> tuple[ConfigurationResult, ConfigurationResult]:
        found = row(*(12.3,) * 7), row(*(b,) * 7, turn=1)
        return (replace(found[0], direction="lower"), replace(found[1], direction="lower")) if lower else found

    for before, now in (sides(12.2), sides(12.4)):
        apart = judge_rows(before, replace(now, campaign="two"))
        assert {judge_rows(before, now).outcome, apart.outcome, outcome_of(claim(before, now))} <= {
            "same",
            "cannot_tell",
        }
    before, now = sides(13.0 if lower else 11.6)
    judged = judge_rows(before, now)
    assert (judged.outcome, outcome_of(claim(before, now))) == ("worse", "worse")
    assert judged.found is not None
    assert judged.found.high - judged.found.low > 0.015, "each value may be half a unit more or less"
    (reference,) = baseline_of("main", [before], [before]).references
    assert judge_reference(reference, replace(before, campaign="two")).outcome == "same"
