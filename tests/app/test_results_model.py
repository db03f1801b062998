"""Rows of results: sorted, filtered, compared between campaigns, with their peers; without a screen."""

from __future__ import annotations

from dataclasses import replace

from claimable import claimable
from dlperf.app.model.results.comparison import ComparisonView, comparable, comparison_of
from dlperf.app.model.results.side_by_side import side_by_side
from dlperf.app.model.results.table import ResultsView, about_result, by_peers, peers_key, version_lines
from dlperf.app.model.table import columns_that_fit, has_words
from dlperf.measured.findings.program_faults import FAULTS
from dlperf.measured.model import TrialResult
from dlperf.messages.finding import note, warning
from dlperf.table.model import ConfigurationResult, Status


def result(campaign: str, value: float | None, **others: object) -> ConfigurationResult:
    axes = {
        "hardware": "h200",
        "framework": "pytorch",
        "case": "resnet50",
        "precision": "amp",
        "batch_size": 256,
        "nodes": 1,
        "gpus": 8,
        "unit": "images/s",
        "spread": 0.01,
        "n": 5,
        "speedup": None,
        "efficiency": None,
        "mfu": None,
        "protocol": "dlperf",
        "status": Status("measured" if value is not None else "out_of_memory"),
    }
    return ConfigurationResult(campaign=campaign, value=value, **(axes | others))


FAST, SLOW, NONE = result("a", 200.0), result("b", 100.0, framework="paddle"), result("c", None)


def values(view: ResultsView) -> list[float | None]:
    return [row.value for row in view.shown()]


def test_missing_figures_sort_last_in_both_directions():
    view = ResultsView(rows=(NONE, FAST, SLOW)).sorted_by(6)
    assert values(view) == [200.0, 100.0, None]
    assert values(view.sorted_by(6)) == [100.0, 200.0, None]


def test_a_bar_shows_the_share_of_the_best_of_the_same_case_and_the_best_is_marked():
    half, other = result("b", 100.0, framework="paddle"), result("c", 20.0, case="vgg16")
    view = ResultsView(rows=(FAST, half, other, NONE))
    assert [view.cells(row).cells[7].strip() for row in view.items()] == ["best", "████░░░░", "best", "-"]
    assert values(view.sorted_by(7)) == [20.0, 200.0, 100.0, None]


def test_a_result_that_reports_leave_out_is_not_the_best():
    assert "stem_not_trained" in FAULTS
    for code in ("superseded", "stem_not_trained"):
        view = ResultsView(rows=(replace(FAST, value=300.0, findings=(warning(code),)), FAST, SLOW))
        assert [view.cells(row).cells[7].strip() for row in view.items()] == ["-", "best", "████░░░░"]
        alone = ResultsView(rows=view.rows[:1])
        assert alone.share(alone.rows[0]) is None


def test_what_follows_an_exclamation_mark_is_filtered_out():
    texts = ["resnet50 paddle failed", "resnet50 pytorch", "vgg16 pytorch"]
    assert [has_words(text, "resnet50 !failed") for text in texts] == [False, True, False]
    assert all(has_words(text, "!") for text in texts)


def test_every_word_of_a_filter_must_be_found():
    view = ResultsView(rows=(FAST, SLOW, NONE), matching="paddle 1n8g")
    assert values(view) == [100.0]


def test_published_figures_can_be_hidden():
    rows = (FAST, result("published/report", 150.0, status=Status("published")))
    assert values(ResultsView(rows=rows)) == [200.0, 150.0]
    assert values(ResultsView(rows=rows, published=False)) == [200.0]


def trials_of(*values: float) -> tuple[TrialResult, ...]:
    return tuple(TrialResult(number, "succeeded", value=value) for number, value in enumerate(values, start=1))


def compared(*rows: ConfigurationResult) -> list[tuple[str, str, str]]:
    """Batch size, change and verdict of each point, from the top; "new" is compared with "old"."""
    view = comparison_of(rows, "old", "new")
    assert view is not None
    cells = [view.cells(point).cells for point in view.shown()]
    return [(row[3], row[8], row[11]) for row in cells]


OLD = [result("old", 100.0, batch_size=size, trials=trials_of(99.0, 100.0, 101.0)) for size in (32, 64, 128, 256)]


def test_regressions_come_first_and_what_one_side_lacks_last():
    slower = result("new", 90.0, batch_size=128, trials=trials_of(89.0, 90.0, 91.0))
    equal = result("new", 100.5, batch_size=64, trials=trials_of(99.5, 100.5, 101.5))
    assert compared(*OLD, equal, slower, result("new", None, batch_size=32), result("new", 70.0, batch_size=512)) == [
        ("32", "not comparable", "out of memory"),
        ("128", "-10.0 %", "cannot tell"),
        ("64", "+0.5 %", "cannot tell"),
        ("256", "missing", "only in old"),
        ("512", "new", "only in new"),
    ]


def test_what_neither_campaign_could_measure_is_no_difference():
    both = (result("old", None, batch_size=8), result("new", None, batch_size=16))
    assert compared(*OLD[:1], result("new", 100.0, batch_size=32), *both) == [("32", "0.0 %", "cannot tell")]


def test_a_change_is_coloured_where_it_may_be_claimed_and_what_is_missing_is_named():
    pairs = [(200.0, 32), (100.0, 64)]
    before = [claimable(result("old", 100.0, batch_size=size)) for _, size in pairs]
    after = [claimable(result("new", value, batch_size=size), turn=1) for value, size in pairs]
    view = comparison_of([*before, *after, *OLD[2:3], result("new", 90.0, batch_size=128)], "old", "new")
    assert view is not None
    tones = {point.verdict: view.cells(point).tones[-1] for point in view.shown()}
    assert tones == {"better": "good", "same": "", "cannot_tell": ""}
    unsure = next(point for point in view.shown() if point.result.batch_size == 128)
    assert "  one side has a single trial, so that its run-to-run variation is not known" in view.about(unsure)


def test_a_narrow_comparison_keeps_what_tells_rows_apart_and_their_verdict():
    columns = ComparisonView().columns()
    shown = columns_that_fit(columns, 78, (6, 5, 4, 3, 4, 5, 5, 5, 6, 5, 1, 11))
    left_out = {column.title for column in columns} - {columns[index].title for index, _width in shown}
    assert left_out == {"baseline", "spread", "n"}


def test_campaigns_on_one_machine_each_are_compared_across_machines():
    view = comparison_of([OLD[0], result("new", 200.0, batch_size=32, hardware="b200")], "old", "new")
    assert view is not None
    assert [point.ratio for point in view.shown()] == [2.0]


def test_campaigns_without_a_common_configuration_are_not_offered():
    assert comparable([*OLD, result("new", 1.0, batch_size=32), result("else", 1.0, case="vgg16")], "new").keys() == {
        "old"
    }


def test_beside_a_figure_stand_those_of_the_same_case_precision_and_gpus():
    published = result("published/report", 300.0, hardware="v100", status=Status("published"))
    other = result("x", 900.0, precision="fp32")
    assert by_peers((FAST, published, other, NONE, SLOW))[peers_key(FAST)] == [published, FAST, SLOW]


def test_details_name_axes_caveats_first_and_the_version_that_a_lock_pins():
    findings = (note("sw_power_cap", gpus="0", share=1.0), warning("measured_once"))
    row = result("one", 5.0, axes=(("compile", "yes"),), findings=findings)
    _name, _figure, axes, caveat, _note = about_result(row)
    assert (axes, caveat) == ("compile=yes", "† The figure has caveats: warning: a single trial")
    assert ResultsView(rows=(row,), matching="compile=yes").shown() == [row]
    waiting = replace(row, value=None, status=Status("not_run"))
    failed = replace(waiting, status=Status("failed"))
    assert [ResultsView().cells(each).tone for each in (waiting, failed)] == ["dim", "bad"]
    assert version_lines({"facts.version": "2.9", "framework_version": "2.11"}) == ["version 2.11"]
    assert version_lines({"facts.version": "0.2.5", "options.stack": "True"}) == ["version 0.2.5"]


def test_results_that_differ_in_an_axis_of_their_recipe_are_headed_by_it():
    rows = [result("one", value, axes=(("compile", compiled),)) for value, compiled in ((4.0, "yes"), (5.0, "no"))]
    columns, lines = side_by_side(rows, [{}, {}])
    assert [column.title for column in columns] == ["", "compile yes", "compile no"]
    assert lines["compile"].cells == ("compile", "yes", "no")
    assert lines["ratio, unlike settings"].cells[1:] == ("1.000×", "1.250×")
