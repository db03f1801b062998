"""``dlperf reproduce`` with real trials."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from dlperf.catalog.axes import Configuration, field_values
from dlperf.cli.verdicts.reproduce import print_agreement
from dlperf.errors import RequestError
from dlperf.measured.model import TrialResult
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.judging import judge_rows
from dlperf.verdicts.reproduction import find_result

RESULT = "first/local_counting_lenet5_fp32_bs32_1n1g"


def test_a_kept_result_is_run_again_and_found_slower(counting) -> None:
    counting.dlperf(
        "run", "-H", "local", "-f", "counting", "-c", "lenet5", "-b", "32", "--repeats", "5", "--name", "first"
    )
    (script,) = counting.workspace.catalog.rglob("count.sh")
    slower = script.read_text().replace("samples=$((step * $1))", "samples=$((step * $1 / 2))")
    script.write_text(slower.replace("throughput=$1", "throughput=$(($1 / 2))"))
    done = counting.dlperf("reproduce", RESULT, "--name", "second", code=1)
    assert "yours: 16.00 images/s (second, 5 trials, spread 0.00 %)" in done.stdout
    assert "verdict: worse: -50.00 % (-" in done.stdout
    assert "trials not interleaved" in done.stderr
    done = counting.dlperf("reproduce", RESULT, "--name", "third", "--max-repeats", "2", "--json", code=4)
    found = json.loads(done.stdout)
    said, (low, high) = found["verdict"], (found["low"], found["high"])
    assert (found["verdict_code"]["code"], found["ratio"], found["b"]["campaign"]) == (
        "judged_cannot_tell",
        0.5,
        "third",
    )
    assert f"({100 * low:+.2f} % … {100 * high:+.2f} %)" in said, "numbers are those of the verdict"
    assert "trials not interleaved" in found["reasons"]
    counting.fail(32)
    done = counting.dlperf("reproduce", RESULT, "--name", "fourth", "--max-repeats", "2", code=1)
    assert "yours: - images/s (fourth, failed: exit code 7" in done.stdout
    assert "verdict: not comparable: failed: exit code 7" in done.stdout


def row(*values: float, campaign: str = "first") -> ConfigurationResult:
    point = Configuration("box", "numpy", "lenet5", "fp32", 32, 1, 1)
    trials = tuple(
        TrialResult(number, "succeeded", value=value, conditions={"gpu.uuid": "GPU-1"})
        for number, value in enumerate(values, 1)
    )
    middle = sorted(values)[len(values) // 2]
    return ConfigurationResult(
        **field_values(point),
        campaign=campaign,
        unit="images/s",
        value=middle,
        n=len(values),
        trials=trials,
    )


@pytest.mark.parametrize(
    ("original", "again", "outcome"),
    [
        ((100, 100.1, 100.2, 100.3, 100.4), (100.05, 100.15, 100.25, 100.35, 99.95), "same"),
        ((100, 100.1, 100.2, 100.3, 100.4), (110, 110.1, 110.2, 110.3, 110.4), "better"),
        ((100, 101, 102, 103, 104), (98, 99, 100, 101, 102), "cannot_tell"),
        ((100, 101), (110, 111, 112, 113, 114), "cannot_tell"),
        ((100,), (110, 111, 112, 113, 114), "cannot_tell"),
    ],
)
def test_new_trials_agree_with_a_result_beyond_what_campaigns_differ_by(original, again, outcome) -> None:
    assert judge_rows(row(*original), row(*again, campaign="second")).outcome == outcome


@pytest.mark.parametrize("values", [(100.0,), (100.0, 100.1, 100.2)])
def test_no_trial_is_asked_for_where_the_original_has_too_few(values: tuple[float, ...]) -> None:
    found = judge_rows(row(*values), row(110, 111, 112, 113, 114, campaign="second"))
    assert f"the earlier result has {len(values)} of the 5 trials that a verdict needs" in str(found.verdict)
    assert "would decide" not in str(found.verdict)
    assert (found.wants_trials, found.as_data()["more"]) == (False, None)
    assert judge_rows(row(*values), row(*values)).wants_trials, "both sides of one campaign get more"


def test_the_verdict_alone_says_how_many_trials_would_decide(capsys: pytest.CaptureFixture[str]) -> None:
    found = judge_rows(row(100, 110, 90, 105, 95), row(101, 111, 91, 106, 96, campaign="second"))
    assert found.pair is not None
    print_agreement(found, found.pair)
    printed = capsys.readouterr()
    assert "trials each would decide" in printed.out
    assert "would decide" not in printed.err


def test_another_machine_is_another_result_only_beyond_what_machines_differ_by() -> None:
    original, again = row(100, 100.1, 100.2, 100.3, 100.4), row(103, 103.1, 103.2, 103.3, 103.4, campaign="second")
    trials = tuple(replace(trial, conditions={"gpu.uuid": "GPU-2"}) for trial in again.trials)
    assert judge_rows(original, again).outcome == "better"
    assert judge_rows(original, replace(again, trials=trials)).outcome == "cannot_tell"


def test_a_result_is_named_so_that_one_row_is_meant() -> None:
    rows = [row(1.0), row(2.0, campaign="second"), replace(row(1.0), batch_size=64, value=None)]
    assert find_result("second/" + rows[0].id, rows).value == 2.0
    with pytest.raises(RequestError, match=r"2 results have this name: write one of [^…]*$"):
        find_result(rows[0].id, rows)
    with pytest.raises(RequestError, match="has no value"):
        find_result(rows[2].id, rows)
