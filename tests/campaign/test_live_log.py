"""What the engine reads of a log while its trial runs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from scripted import LOG, planned

from dlperf.campaign.live import LiveLog
from dlperf.plan import PlannedMetric


def test_a_log_that_was_truncated_is_read_from_its_new_beginning(tmp_path):
    path = tmp_path / "out.log"
    live = LiveLog(path, planned("a"))
    path.write_bytes(LOG)
    live.read()
    path.write_bytes(LOG[: len(LOG) // 12].replace(b"throughput=320", b"throughput=640"))
    live.read()
    assert live.progress.recent[-1] == 640.0


def test_rates_are_not_shown_in_the_unit_of_another_metric(tmp_path):
    path = tmp_path / "out.log"
    path.write_bytes(LOG)
    plan = planned("a")
    live = LiveLog(
        path, replace(plan, unit="s", metrics=(PlannedMetric("step_time", "s", "lower", "global", "step_time"),))
    )
    live.read()
    assert live.progress.step is not None
    assert (live.progress.value, live.progress.recent) == (None, ())


@pytest.mark.parametrize(
    ("unit", "declared", "shown"),
    [
        ("tokens/s", {"unit": "sequences/s", "sequence_length": 128}, (40960.0, "tokens/s")),
        ("tokens/s", {"unit": "sequences/s"}, (320.0, "sequences/s")),
        ("images/s", {"unit": "samples/s"}, (320.0, "images/s")),
    ],
)
def test_rates_are_shown_in_the_unit_of_the_case_where_they_can_be_converted(tmp_path, unit, declared, shown):
    path = tmp_path / "out.log"
    path.write_bytes(b"DLPERF 2026-01-01T00:00:00.000000Z run %s\n" % json.dumps(declared).encode() + LOG)
    live = LiveLog(path, replace(planned("a"), unit=unit))
    live.read()
    assert (live.progress.value, live.progress.unit) == shown
