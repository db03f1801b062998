"""What all doors show of a row in text; files hold every digit. Pure."""

from dlperf.measured.model import MetricValue, TrialResult
from dlperf.table.model import ConfigurationResult, MetricResult
from dlperf.table.rows import NEEDS_BEFORE

LEAST_READINGS = 20
"""Of power in the measured window, of each trial."""


def by_readings(result: ConfigurationResult, value: float | None) -> float | None:
    """Round a value to the digits that its readings of power allow; None where they allow none."""
    return _rounded(value, digits_by_readings(result))


def digits_by_readings(result: ConfigurationResult) -> int:
    """Return how many digits the readings of all trials together allow: 2 from 20, 3 from 100; 0 if one has fewer."""
    readings = [trial.telemetry_samples for trial in result.usable_trials]
    return _digits(sum(readings)) if min(readings, default=0) >= LEAST_READINGS else 0


def _digits(readings: int) -> int:
    return len(str(readings)) if readings >= LEAST_READINGS else 0


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None or not digits else float(f"{value:.{digits}g}")


def shown_value(result: ConfigurationResult, of: ConfigurationResult | MetricResult) -> float | None:
    """Return the value of a row, or of one of its metrics, with the digits that it has; None where it has none."""
    return by_readings(result, of.value) if "readings" in of.needs else of.value


def shown_of_trial(trial: TrialResult, metric: MetricValue) -> float | None:
    """Return the value of a metric of one trial as ``shown_value`` does."""
    needs_readings = "readings" in NEEDS_BEFORE.get(metric.id, ())
    return _rounded(metric.value, _digits(trial.telemetry_samples)) if needs_readings else metric.value


def speed_up(result: ConfigurationResult) -> str:
    """Return the speed-up as ``3.84×``; empty without one, and of one GPU, of which it says nothing."""
    return "" if result.speedup is None or result.gpus_total == 1 else f"{result.speedup:.2f}×"
