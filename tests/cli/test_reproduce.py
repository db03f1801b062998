"""``dlperf reproduce`` with real trials."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from dlperf.catalog.axes import Configuration, field_values
from dlperf.errors import RequestError
from dlperf.measured.model import TrialResult
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import claim
from dlperf.verdicts.reproduction import agreement, find_result

RESULT = "first/local_counting_lenet5_fp32_bs32_1n1g"


def test_a_kept_result_is_run_again_and_found_slower(counting) -> None:
    counting.dlperf(
        "run", "-H", "local", "-f", "counting", "-c", "lenet5", "-b", "32", "--repeats", "5", "--name", "first"
    )
    (script,) = counting.workspace.catalog.rglob("count.sh")
    script.write_text(script.read_text().replace("samples=$((step * $1))", "samples=$((step * $1 / 2))"))
    done = counting.dlperf("reproduce", RESULT, "--name", "second", code=1)
    assert "yours: 16.00 images/s (second, 5 trials, spread 0.0 %)" in done.stdout
    assert "verdict: slower: -50.00 % (p = 0.008)" in done.stdout
    assert "trials not interleaved" in done.stderr
    done = counting.dlperf("reproduce", RESULT, "--name", "third", "--repeats", "1", "--json")
    found = json.loads(done.stdout)
    assert (found["agreement_code"]["code"], found["ratio"], found["b"]["campaign"]) == ("not_tested", 0.5, "third")


def row(*values: float, campaign: str = "first") -> ConfigurationResult:
    point = Configuration("box", "numpy", "lenet5", "fp32", 32, 1, 1)
    trials = tuple(TrialResult(number, "succeeded", value=value) for number, value in enumerate(values, 1))
    middle = sorted(values)[len(values) // 2]
    return ConfigurationResult(
        **field_values(point),
        campaign=campaign,
        unit="images/s",
        value=middle,
        n=len(values),
        trials=trials,
        configuration=point.id,
    )


@pytest.mark.parametrize(
    ("original", "again", "verdict"),
    [
        (
            (100, 101, 102, 103, 104),
            (100.5, 101.5, 102.5, 103.5, 99.5),
            "same: -0.49 %, no significant difference (p = 0.690)",
        ),
        ((100, 101, 102, 103, 104), (110, 111, 112, 113, 114), "faster: +9.80 % (p = 0.008)"),
        ((100, 101), (110, 111, 112, 113, 114), "+10.89 %, not tested: 2 and 5 trials, 5 on each side are needed"),
    ],
)
def test_new_trials_agree_with_a_result_by_the_permutation_test(original, again, verdict) -> None:
    assert str(agreement(claim(row(*original), row(*again, campaign="second")))) == verdict


def test_a_result_is_named_so_that_one_row_is_meant() -> None:
    rows = [row(1.0), row(2.0, campaign="second"), replace(row(1.0), batch_size=64, configuration="other", value=None)]
    assert find_result("second/" + rows[0].configuration, rows).value == 2.0
    with pytest.raises(RequestError, match="2 results have this name"):
        find_result(rows[0].configuration, rows)
    with pytest.raises(RequestError, match="has no value"):
        find_result("other", rows)
