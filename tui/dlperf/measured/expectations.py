"""Whether a trial measures and prints what its case expects."""

import operator
from collections.abc import Iterable, Mapping

from dlperf.catalog.patterns import expected_line
from dlperf.measured.model import MetricValue
from dlperf.messages import Message, message

_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def first_unmet(
    expectations: Iterable[str], metrics: Iterable[MetricValue], found: Mapping[str, str]
) -> Message | None:
    """Return why a trial does not count: the first expectation that it does not meet.

    Args:
        found: regular expression → the line of the trial's logs that it matches.
    """
    values = {metric.id: metric.value for metric in metrics}
    reasons = (
        _unmet_metric(text, values) if expected_line(text) is None else _unmet_line(text, found)
        for text in expectations
    )
    return next(filter(None, reasons), None)


def unlike_numerics(stated: Mapping[str, str], used: Mapping[str, str]) -> Message | None:
    """Return that a step computed with other data types than the plan states; None where neither tells otherwise."""
    names = (name for name in used if name in stated and used[name] != stated[name])
    name = next(names, None)
    return message("unlike_numerics", name=name, stated=stated[name], used=used[name]) if name else None


def _unmet_metric(text: str, values: Mapping[str, float]) -> Message | None:
    name, comparison, limit = text.split(" ")
    if name not in values:
        return message("expected_metric", expectation=text)
    if _COMPARISONS[comparison](values[name], float(limit)):
        return None
    return message("unexpected", expectation=text, value=values[name])


def _unmet_line(text: str, found: Mapping[str, str]) -> Message | None:
    _, relation, expression = text.split(" ", 2)
    if (relation == "has") == (expression in found):
        return None
    if relation == "has":
        return message("expected_line", expectation=text)
    return message("unexpected_line", expectation=text, line=found[expression])
