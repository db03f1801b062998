"""What the history of a configuration says of its newest result."""

from __future__ import annotations

from dataclasses import replace

import pytest

from claimable import claimable
from dlperf.catalog.axes import Configuration, field_values
from dlperf.table.model import ConfigurationResult, Status
from dlperf.verdicts.trend import history_of, judge_history

POINT = Configuration("box", "numpy", "lenet5", "fp32", 32, 1, 1)


def row(number: int, value: float, **fields: object) -> ConfigurationResult:
    known = {"unit": "images/s", "configuration": POINT.id, "status": Status("measured"), "value": value, **fields}
    found = replace(
        claimable(ConfigurationResult(**field_values(POINT), campaign=f"c{number}", **known), value), value=value
    )
    started = f"2026-01-{number + 1:02}T00:00:00Z"
    return replace(found, trials=tuple(replace(trial, started=started) for trial in found.trials))


def history(*values: float, **fields: object) -> list[ConfigurationResult]:
    return [row(number, value, **fields) for number, value in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "fields", "verdict", "failed"),
    [
        ([100.0, 101.0] * 5 + [90.0] * 5, {}, "-10.00 % since c10 (10 campaigns before, 5 since, p = 0.001)", True),
        ([100.0, 101.0] * 5 + [110.0] * 5, {}, "+10.00 % since c10 (10 campaigns before, 5 since, p = 0.001)", False),
        ([100.0] * 10 + [110.0] * 5, {"unit": "ms", "direction": "lower"}, "+10.00 % since c10", True),
        ([100.0, 101.0] * 6, {}, "no change of level in 12 campaigns", False),
        ([100.0] * 9, {}, "10 campaigns are needed to see a trend, not 9", True),
    ],
    ids=["slower", "faster", "more of what should be low", "steady", "too few"],
)
def test_a_level_that_fell_fails_and_so_does_a_history_that_shows_nothing(values, fields, verdict, failed):
    rows = history(*values, **fields)
    found = judge_history(rows[-1], rows)
    assert str(found.verdict).startswith(verdict)
    assert found.failed is failed


def test_a_result_without_a_value_fails():
    missing = replace(row(12, 1.0), value=None, status=Status("failed"))
    assert judge_history(missing, history(*[100.0] * 12)).failed


def test_a_history_is_of_one_configuration_and_protocol_in_order_and_ends_with_the_result():
    rows = history(*[1.0] * 5)
    others = [replace(rows[0], configuration="other"), replace(rows[0], protocol="quick"), replace(rows[0], value=None)]
    assert [each.campaign for each in history_of(rows[3], [*reversed(rows), *others])] == ["c0", "c1", "c2", "c3"]
