"""What there is to say is said whole where there is room for it."""

from __future__ import annotations

import pytest
from builder import POINTS, CampaignBuilder, planned
from rich.cells import cell_len

from dlperf.app.model.curve import Series, draw
from dlperf.app.model.table import group_line, packed
from dlperf.app.model.trial_pages import NAME_WIDTH, figure_lines
from dlperf.app.model.trial_rows import trial_row
from dlperf.app.watching import WatchedCampaign
from dlperf.measured.model import MetricValue, TrialResult
from dlperf.messages import message, quoted, use_language
from dlperf.plan import TrialKey
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import State, TrialProgress, TrialStatus

KEY = TrialKey(POINTS[0].id, 1)


def test_a_trial_without_numbers_leaves_its_room_to_the_note():
    assert trial_row(TrialStatus(KEY, State.FAILED, cause=message("out_of_memory")), None, None).merged == 2
    running = TrialProgress(71, 120, 3010.4, "images/s")
    assert trial_row(TrialStatus(KEY, State.RUNNING), running, None).merged is None


def test_what_is_built_before_a_trial_is_shown(workspace: WorkspacePaths):
    builder = CampaignBuilder(workspace, "one", [planned(POINTS[0], 1)])
    builder.state(builder.trials[0], State.RUNNING, 1)
    watched = WatchedCampaign(builder.paths)
    node = watched.nodes(builder.trials[0])[0]
    node.build_log.parent.mkdir(parents=True)
    node.build_log.write_text("Collecting torch\nInstalling torch\n")
    assert watched.trial_row(builder.trials[0], None, 0.0).cells[-1] == "building: Installing torch"
    node.log.write_text("step 1\n")
    assert "building" not in watched.trial_row(builder.trials[0], None, 0.0).cells[-1]


def test_a_trial_shows_its_other_metrics_with_their_units():
    metrics = MetricValue("throughput", 64.0, "images/s"), MetricValue("step_time", 0.125, "s", "lower")
    lines = figure_lines(TrialStatus(KEY, State.SUCCEEDED), TrialResult(1, "succeeded", value=64.0, metrics=metrics))
    assert [line.split() for line in lines[lines.index("Other metrics") + 1 :]] == [["step_time", "0.1250", "s"]]


def test_energy_of_a_trial_has_the_digits_that_pages_give_it():
    metrics = MetricValue("throughput", 64.0, "images/s"), MetricValue("energy_per_sample", 0.07631, "J/image", "lower")
    trial = TrialResult(1, "succeeded", value=64.0, metrics=metrics, telemetry_samples=40)
    lines = figure_lines(TrialStatus(KEY, State.SUCCEEDED), trial)
    assert lines[-1].split() == ["energy_per_sample", "0.076", "J/image"]


def test_a_cost_stands_with_its_price_source_and_date():
    cost = MetricValue(
        "cost_per_million", 31.25, "EUR/million images", "lower", basis="3.6 EUR/GPU-hour (x, 2026-11-01)"
    )
    metrics = MetricValue("throughput", 64.0, "images/s"), cost
    lines = figure_lines(TrialStatus(KEY, State.SUCCEEDED), TrialResult(1, "succeeded", value=64.0, metrics=metrics))
    assert lines[-1].split(maxsplit=1) == [
        "cost_per_million",
        "31.25 EUR/million images  3.6 EUR/GPU-hour (x, 2026-11-01)",
    ]


def test_the_name_of_a_group_gives_way_to_its_results():
    assert group_line(("resnet50 · amp · bs256", "3 of 3  ★ best"), 32) == "resnet50 · amp …  3 of 3  ★ best"
    assert group_line(("resnet50", "3 of 3"), 20) == "resnet50  3 of 3    "
    assert group_line(("resnet50 · amp", "stopped: a long reason"), 20) == "resnet50 …  stopped…"


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


def drawing(values: list[float], warm_up: float | None, window: tuple[float, float] | None) -> tuple[list[str], str]:
    """The rows of a curve, and what is written below it."""
    rows = [
        "".join(piece.text for piece in row) for row in draw(Series(range(1, 101), values), 89, 20, warm_up, window)
    ]
    axis = next(index for index, row in enumerate(rows) if "└" in row)
    return rows[:axis], " ".join(rows[axis + 2 :])


SLOW_START = [0.5] * 5 + [100.0 + 3.0 * (step % 2) for step in range(95)]


@pytest.mark.parametrize("window", [(20.0, 100.0), None])
def test_slow_first_steps_do_not_flatten_what_is_measured(window: tuple[float, float] | None):
    rows, legend = drawing(SLOW_START, 20.0, window)
    drawn = [row for row in rows if any("\u2801" <= char <= "\u28ff" for char in row[40:])]
    assert len(drawn) >= 3
    assert "▼" in rows[-1][9:15]
    assert "▼" not in rows[-1][20:]
    assert "▼ cut off: down to 0.500" in legend


def test_a_peak_beyond_what_is_measured_is_marked_at_the_top():
    rows, legend = drawing([9000.0, *[100.0] * 99], 20.0, (20.0, 100.0))
    assert rows[0][9] == "▲"
    assert "▲ cut off: up to 9,000" in legend


def test_every_value_that_is_measured_is_drawn():
    rows, legend = drawing([*[100.0] * 60, 20.0, *[100.0] * 39], 20.0, (20.0, 100.0))
    assert "cut off" not in legend
    assert not any("▼" in row or "▲" in row for row in rows)


def test_the_figure_is_drawn_beside_the_printed_rates():
    rows = draw(Series(range(1, 101), [100.0] * 100, "images/s", 103.0), 69, 12, 20.0, (20.0, 100.0))
    text = ["".join(piece.text for piece in row) for row in rows]
    assert sum("╌" * 60 in row for row in text) == 1
    assert "╌╌ figure: 103.0 images/s" in " ".join(text)


def test_the_last_step_is_written_whole_in_chinese():
    use_language("zh")
    rows = draw(Series(range(1, 101), [100.0] * 100), 69, 12)
    numbers = next(row[0].text for row in rows if "100 步" in row[0].text)
    assert cell_len(numbers) == 69


def test_names_and_values_stand_in_columns_in_chinese():
    use_language("zh")
    lines = figure_lines(TrialStatus(KEY, State.FAILED, cause=quoted("TIMED OUT")), None)
    assert {cell_len(line.partition("TIMED")[0]) for line in lines if "TIMED" in line} == {NAME_WIDTH}


def test_what_a_program_printed_is_shown_unchanged_in_chinese():
    use_language("zh")
    said = "RuntimeError: rank 3 cannot be reached (timeout)"
    for cause in (quoted(said), message("last_output", cause=message("exit_code", code_value=1), lines=said)):
        assert said in trial_row(TrialStatus(KEY, State.FAILED, cause), None, None).cells[-1]


def test_other_trials_are_drawn_in_grey_within_the_steps_of_the_curve():
    own = Series(range(20, 101), [100.0] * 81, "images/s")
    others = [Series(range(1, 121), [value] * 120, "images/s") for value in (97.0, 103.0)]
    rows = draw(own, 69, 12, None, (20.0, 100.0), others)
    grey = [[piece for piece in row if piece.tone == "dim"] for row in rows]
    assert sum(bool(pieces) for pieces in grey) >= 2
    assert "in grey: other trials, 2" in " ".join(row[0].text for row in rows)
