"""What there is to say is said whole where there is room for it."""

from __future__ import annotations

from builder import POINTS

from dlperf.app.model.curve import Series, draw
from dlperf.app.model.text import packed
from dlperf.app.model.trials import trial_row
from dlperf.plan import TrialKey
from dlperf.runs.records import State, TrialProgress, TrialStatus

KEY = TrialKey(POINTS[0].id, 1)


def test_a_trial_without_numbers_leaves_its_room_to_the_note():
    assert trial_row(TrialStatus(KEY, State.FAILED, cause="out of memory"), None, None).merged == 2
    running = TrialProgress(71, 120, 3010.4, "images/s")
    assert trial_row(TrialStatus(KEY, State.RUNNING), running, None).merged is None


def test_parts_are_packed_into_lines_and_none_is_broken():
    assert packed(["about 2h20 left", "3 running", "中位数 12"], 26) == ["about 2h20 left  3 running", "中位数 12"]
    assert packed(["longer than the line"], 5) == ["longer than the line"]


def test_warm_up_and_measured_window_are_told_apart_without_colours():
    rows = draw(Series(range(1, 101), [100.0] * 100, "images/s"), 69, 12, 20.0, (20.0, 100.0))
    axis = next("".join(piece.text for piece in row) for row in rows if "└" in row[0].text)
    assert axis.count("░") == 12
    assert axis.count("═") == 48
    legend = " ".join(row[0].text for row in rows[-2:])
    assert "░░ warm-up to step 20" in legend
    assert "══ measured: steps 20 to 100" in legend
