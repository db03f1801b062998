"""What all doors show of a row in text; files hold every digit. Pure."""

from dlperf.measured.model import MetricValue, TrialResult
from dlperf.table.model import ConfigurationResult, MetricResult
from dlperf.table.rows import NEEDS_BEFORE

LEAST_READINGS = 20
"""Of power in the measured window, of each trial."""


def by_readings(result: ConfigurationResult, value: float | None) -> float | None:
    """Round a value to the digits that its readings of power allow: 2 from 20, 3 from 100; None under 20."""
    readings = min((trial.telemetry_samples for trial in result.usable_trials), default=0)
    return _rounded(value, readings)


def _rounded(value: float | None, readings: int) -> float | None:
    return None if value is None or readings < LEAST_READINGS else float(f"{value:.{len(str(readings))}g}")


def shown_value(result: ConfigurationResult, of: ConfigurationResult | MetricResult) -> float | None:
    """Return the value of a row, or of one of its metrics, with the digits that it has; None where it has none."""
    return by_readings(result, of.value) if "readings" in of.needs else of.value


def shown_of_trial(trial: TrialResult, metric: MetricValue) -> float | None:
    """Return the value of a metric of one trial as ``shown_value`` does."""
    needs_readings = "readings" in NEEDS_BEFORE.get(metric.id, ())
    return _rounded(metric.value, trial.telemetry_samples) if needs_readings else metric.value


def speed_up(result: ConfigurationResult) -> str:
    """Return the speed-up as ``3.84×``; empty without one, and of one GPU, of which it says nothing."""
    return "" if result.speedup is None or result.gpus_total == 1 else f"{result.speedup:.2f}×"
