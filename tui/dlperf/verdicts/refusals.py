"""What two results need before a difference of them means anything: one protocol, and what the metric says. Pure."""

from collections.abc import Iterator

from dlperf.messages import Message, message
from dlperf.table.families import family_of
from dlperf.table.model import ConfigurationResult
from dlperf.table.rows import FAILED
from dlperf.table.shown import LEAST_READINGS


def refusals(a: ConfigurationResult, b: ConfigurationResult) -> Iterator[Message]:
    """Yield why these results may not be compared: protocols differ, or what the catalogue says of their metric.

    A third-party result has a protocol of its own, which a reproduction names.
    """
    if a.protocol != b.protocol and not (a.is_third_party or b.is_third_party):
        yield message("unequal_setting", name="protocol", a=str(a.protocol), b=str(b.protocol))
    if any(value <= 0 for row in (a, b) for value in (*row.values, *((row.value,) if row.value is not None else ()))):
        yield message("not_positive", metric=b.metric)
    trials = [trial for row in (a, b) for trial in row.usable_trials]
    needs = {*a.needs, *b.needs}
    if "one_framework" in needs and family_of(a.framework) != family_of(b.framework):
        yield message("needs_one_framework", metric=b.metric)
    if "equal_steps" in needs and len(steps := {trial.last_step for trial in trials}) != 1:
        known = sorted(step or 0 for step in steps) or [0]
        yield message("needs_equal_steps", metric=b.metric, least=known[0], most=known[-1])
    readings = min((trial.telemetry_samples for trial in trials), default=0)
    if "readings" in needs and readings < LEAST_READINGS:
        yield message("needs_readings", metric=b.metric, count=readings, least=LEAST_READINGS)


def failures(row: ConfigurationResult) -> Iterator[Message]:
    """Yield that trials of a result failed: those that are left may show that it is worse, but not that it is none."""
    yield from (finding.message for finding in row.findings if finding.code == FAILED)
