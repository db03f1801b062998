"""The same trials get the same verdict at every door, with the exit code and the reasons that belong to it."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from claimable import PAIRS, STEADY, Values, row
from dlperf.app.model.results.comparison import comparison_of
from dlperf.app.model.results.side_by_side import side_by_side
from dlperf.cli.output import print_json
from dlperf.errors import ExitCode
from dlperf.messages.finding import warning
from dlperf.report.answer import Answer, answers
from dlperf.report.ci import write_ci_files
from dlperf.report.data import SiteData
from dlperf.table.model import ConfigurationResult, Status
from dlperf.verdicts.baselines import baseline_of, judge_reference
from dlperf.verdicts.claims import Claim, claim, context_of
from dlperf.verdicts.compare import Selector, claims_together, compare
from dlperf.verdicts.judging import Judgement, exit_code, judge_rows, outcome_of
from dlperf.verdicts.trend import judge_history

CODES = {"worse": ExitCode.MEASURED_FAILED, "cannot_tell": ExitCode.CANNOT_TELL}


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
        wanted = r"more (trials each|campaigns of this level) would decide \(about \d|not even (1,000 trials|30 more)"
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
