"""Metrics of the catalogue and of cases."""

from __future__ import annotations

from pathlib import Path

import pytest
from entries import BOX, CASE, FRAMEWORK, problems_of

from dlperf.catalog.files.load import load_catalog
from dlperf.catalog.units import counts_samples
from dlperf.plan import PlannedMetric, Selection, expand
from dlperf.plan.metrics import planned_metrics

BANDWIDTH = "- id: bandwidth\n  title: Bandwidth\n  unit: GB/s\n  scope: per_gpu\n  estimator: mean\n"


def plan_of(write, case, metrics=None):
    write("- id: box\n  title: Box\n  nodes: [{name: a}]\n")
    write(FRAMEWORK.replace("lenet5", "small").replace("dlperf\n", "dlperf\n  devices: [cpu]\n"), "frameworks.yaml")
    if metrics:
        write(metrics, "metrics.yaml")
    catalog = load_catalog(write(case, "cases.yaml"))
    (planned,) = expand(Selection(hardware=("box",), frameworks=("mine",), cases=("small",)), catalog).configurations
    return planned


def test_throughput_in_the_unit_of_the_case_is_the_metric_of_a_case_that_names_none(write):
    planned = plan_of(write, CASE.replace("images/s", "GB/s"))
    assert planned.primary == PlannedMetric("throughput", "GB/s", estimator="protocol")
    assert "peak_memory_per_gpu" in [metric.id for metric in planned.metrics]


def test_lower_values_of_a_unit_of_time_are_better(write):
    planned = plan_of(write, CASE.replace("images/s", "ms"))
    assert planned.primary == PlannedMetric("duration", "ms", "lower", estimator="protocol")
    assert planned.unit == "ms"


def test_a_case_names_a_metric_of_the_workspace_as_its_primary_one(write):
    planned = plan_of(write, CASE + "  metric: bandwidth\n  metrics: [final_loss]\n", BANDWIDTH)
    assert planned.metrics == (
        PlannedMetric("bandwidth", "GB/s", "higher", "per_gpu", "mean"),
        PlannedMetric("final_loss", "", "lower", "global", "final_loss", needs=("equal_steps",)),
    )
    assert planned.unit == "GB/s"


GUIDE = Path(__file__).parents[2] / "site/docs/guide/programs.md"
PRICE = "  " + next(line for line in GUIDE.read_text().splitlines(keepends=True) if line.startswith("price: "))


def test_hardware_with_a_price_gives_its_cases_a_cost_by_what_they_count(write):
    folder = write(CASE.replace("images/s", "tokens/s"), "cases.yaml")
    write(FRAMEWORK.replace("lenet5", "small").replace("dlperf\n", "dlperf\n  devices: [cpu]\n"), "frameworks.yaml")
    for price in ("", PRICE):
        write(BOX + price, "hardware.yaml")
        selection = Selection(hardware=("box",), frameworks=("mine",), cases=("small",))
        (planned,) = expand(selection, load_catalog(folder)).configurations
        costs = [(item.unit, item.basis) for item in planned.metrics if item.id == "cost_per_million"]
        basis = "3.29 USD/GPU-hour (price list of Example Cloud, 2026-11-01)"
        assert costs == ([("USD/million tokens", basis)] if price else [])


@pytest.mark.parametrize(
    ("price", "said"),
    [
        (PRICE.replace(", date: 2026-11-01", ""), "price.date: is missing"),
        (PRICE.replace('source: "price list of Example Cloud", ', ""), "price.source: is missing"),
        (PRICE.replace("USD", "dollars"), "price.currency: 'dollars' is not allowed"),
        (PRICE.replace("3.29", "0"), "price.amount: should be greater than 0 (got the number 0)"),
        (
            PRICE.replace("2026-11-01", "last week"),
            "price.date: expected a date such as 2026-11-01, got the text 'last week'",
        ),
    ],
)
def test_a_price_is_refused_without_source_or_date(write, price, said):
    (problem,) = problems_of(write(BOX + price, "hardware.yaml"))
    assert problem.startswith("hardware.yaml:")
    assert said in problem


def test_a_cost_is_no_primary_metric(write):
    (problem,) = problems_of(write(CASE + "  metric: cost_per_million\n", "cases.yaml"))
    assert problem == "cases.yaml:9: metric: cost_per_million is computed from a price (name it in metrics instead)"


@pytest.mark.parametrize(("unit", "counts"), [("images/s", True), ("tokens/s", True), ("GB/s", False), ("ms", False)])
def test_time_and_batch_size_give_only_units_that_count_samples(unit, counts):
    assert counts_samples(unit) is counts


def test_what_a_case_expects_is_measured(write):
    planned = plan_of(write, CASE + "  metrics: []\n  expect: [final_loss < 7.5, log has ^finished]\n")
    assert planned.expect == ("final_loss < 7.5", "log has ^finished")
    assert [metric.id for metric in planned.metrics] == ["throughput", "final_loss"]


@pytest.mark.parametrize(
    ("expectation", "said"),
    [
        ("final_los < 7", "expect[0]: no final_los in metrics"),
        ("final_loss<7", "expect[0]: 'final_loss<7' is not allowed (a metric, one of < <= > >=, and a number"),
        ("__import__('os') < 7", "is not allowed (a metric, one of"),
        ("log holds finished", "expect[0]: 'log holds finished' is not allowed ("),
        ("log has", "or log has EXPRESSION, log lacks EXPRESSION)"),
        ("log has (loss", "expect[0]: invalid regular expression: missing ), unterminated subpattern at position 0"),
        (r"log lacks (.)\\1+x", "RE2 cannot run it"),
    ],
)
def test_an_expectation_that_means_nothing_is_refused(write, expectation, said):
    (problem,) = problems_of(write(f'{CASE}  expect: ["{expectation}"]\n', "cases.yaml"))
    assert said in problem


def test_an_unknown_metric_is_refused_with_its_line_and_the_known_ones(write):
    (problem,) = problems_of(write(CASE + "  metrics: [step_time, peak_memroy]\n", "cases.yaml"))
    assert problem.startswith("cases.yaml:9: metrics[1]: no peak_memroy in metrics (")


def test_the_name_of_a_metric_is_one_that_a_log_can_print(write):
    assert problems_of(write(BANDWIDTH.replace("bandwidth", "Band-width"), "metrics.yaml")) == [
        "metrics.yaml:1: id: 'Band-width' is not allowed (a name has 1 to 31 small letters, digits and underscores)"
    ]


@pytest.mark.parametrize(
    ("throughput", "unit"),
    [
        *(("tokens/s", "J/token"), ("images/s", "J/image"), ("sequences/s", "J/sequence"), ("samples/s", "J/sample")),
        *(("", "J/sample"), ("tokens/s/GPU", "J/sample"), ("batches/s", "J/sample"), ("s", "J/sample")),
    ],
)
def test_energy_is_per_what_throughput_counts(throughput: str, unit: str) -> None:
    planned = {metric.id: metric for metric in planned_metrics(throughput, None, load_catalog().metrics)}
    assert planned["energy_per_sample"].unit == unit


def test_every_metric_of_energy_needs_readings_of_power_to_be_compared():
    energies = [metric for metric in load_catalog().metrics.values() if metric.unit == "J/sample"]
    assert len(energies) == 3
    assert all(metric.needs == ("readings",) for metric in energies)
