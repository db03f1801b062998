"""What the engine reads of a log while its trial runs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from scripted import LOG, planned

from dlperf.campaign.live import LiveLog
from dlperf.catalog.files.load import load_catalog
from dlperf.plan import PlannedMetric


def test_a_log_that_was_truncated_is_read_from_its_new_beginning(tmp_path):
    path = tmp_path / "out.log"
    live = LiveLog(path, planned("a"))
    path.write_bytes(LOG)
    live.read()
    path.write_bytes(LOG[: len(LOG) // 12].replace(b"throughput=320", b"throughput=640"))
    live.read()
    assert live.progress.recent[-1] == 640.0


def test_what_a_launcher_puts_before_lines_is_found_behind_lines_without_records(tmp_path):
    path = tmp_path / "out.log"
    live = LiveLog(path, replace(planned("a"), format="nanochat"), list(load_catalog().formats.values()))
    record = b"step %d/600 (0.1%%) | loss: 10.9 | lrm: 1.00 | dt: 500.00ms | tok/sec: 1,000 | mfu: 1.37\n"
    for lines in ([b"loading\n"] * 40, [record % step for step in range(9)]):
        with path.open("ab") as stream:
            stream.write(b"".join(b"2024-06-14 21:07:00,004 train.py " + line for line in lines))
        live.read()
    assert live.progress.recent[-1] == 1000.0


def test_the_time_left_counts_down_between_two_records_of_a_log(tmp_path, monkeypatch: pytest.MonkeyPatch):
    path, now = tmp_path / "out.log", [100.0]
    monkeypatch.setattr("dlperf.campaign.live.time.monotonic", lambda: now[0])
    path.write_bytes(b"".join(LOG.splitlines(keepends=True)[:4]))
    live = LiveLog(path, planned("a"))
    live.read()
    begun = live.progress_now().seconds_left
    now[0] += 1.5
    assert begun is not None
    assert live.progress_now().seconds_left == pytest.approx(begun - 1.5)
    now[0] += 1e6
    assert live.progress_now().seconds_left == 0.0


def test_the_pace_of_a_log_without_times_is_that_of_its_reading(tmp_path, monkeypatch: pytest.MonkeyPatch):
    path, now = tmp_path / "out.log", [100.0]
    monkeypatch.setattr("dlperf.campaign.live.time.monotonic", lambda: now[0])
    record = b"step %d/600 (0.1%%) | loss: 10.9 | lrm: 1.00 | dt: 500.00ms | tok/sec: 1,000 | mfu: 1.37\n"
    plan = replace(planned("a"), format="nanochat")
    live = LiveLog(path, plan, list(load_catalog().formats.values()))
    for step in (1, 3):
        with path.open("ab") as stream:
            stream.write(record % step)
        live.read()
        now[0] += 10.0
    steps = plan.protocol.skip_steps + plan.protocol.take_steps
    assert live.progress.seconds_left == pytest.approx((steps - 3) * 5.0)


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
