"""Reading catalogues: layers, several files, and all that is wrong with them at once."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest
from entries import BOX, CASE, FRAMEWORK, problems_of

from dlperf.catalog.files.load import load_catalog, load_formats, read_programs
from dlperf.catalog.files.problem import CatalogError, Problem
from dlperf.errors import RequestError
from dlperf.measured.throughput.estimators import parse_estimator


def test_a_workspace_adds_entries_and_replaces_those_of_equal_id(write):
    folder = write(BOX + BOX.replace("box", "local").replace("Box", "Mine"))
    catalog = load_catalog(folder)
    assert catalog.hardware["box"].title == "Box"
    assert catalog.hardware["local"].title == "Mine"
    assert "numpy" in catalog.frameworks


def test_a_missing_catalogue_folder_is_an_empty_one(tmp_path):
    assert load_catalog(tmp_path / "nowhere") == load_catalog()


def test_a_file_holds_a_list_or_one_entry_and_a_folder_holds_files(write):
    write(BOX)
    write(BOX.replace("- id: box", "  id: one"), "hardware/one.yaml")
    folder = write("", "hardware/empty.yaml")
    assert {"box", "one"} <= load_catalog(folder).hardware.keys()


def test_a_program_that_is_nowhere_is_named():
    with pytest.raises(
        RequestError, match=r"^program lost\.py is neither in dlperf/workloads nor in catalog/workloads"
    ):
        read_programs(["lost.py"])


def test_the_formats_of_a_catalogue_can_be_read_whatever_else_is_wrong(write):
    folder = write("id: [", "hardware/broken.yaml")
    problems: list[Problem] = []
    assert load_formats(folder, problems.append) == ()
    assert problems == []
    write("id: mine\n", "formats/mine.yaml")
    assert load_formats(folder, problems.append) == ()
    assert [problem.message for problem in problems if problem.field == "record"] == ["is missing"]


def test_an_unknown_protocol_and_format_are_reported_where_formats_are_known(write):
    write(CASE + "  protocol: mine\n", "cases.yaml")
    folder = write(FRAMEWORK, "frameworks.yaml")
    assert load_catalog(write(CASE, "cases.yaml")).frameworks["mine"].format == "dlperf"
    write(CASE + "  protocol: dlperf-v2\n", "cases.yaml")
    problems = problems_of(folder, known_formats=[])
    assert any(line.startswith("cases.yaml:9: protocol: no dlperf-v2 in protocols (did you mean") for line in problems)
    assert any(line.startswith("frameworks.yaml:4: format: no dlperf in formats") for line in problems)


def test_a_program_must_lie_in_the_workspace_or_be_built_in(write):
    text = FRAMEWORK + "      files: [lenet_numpy.py, mine.py]\n"
    assert problems_of(write(text, "frameworks.yaml"))[0].startswith(
        "frameworks.yaml:9: recipes[0].files[1]: no mine.py in workloads ("
    )
    assert "mine" in load_catalog(write("print(1)", "workloads/mine.py")).frameworks


def test_an_estimator_is_checked_by_the_room_that_computes_it(write):
    folder = write("- {id: mine, title: Mine, estimator: skipmen(10)}\n", "protocols.yaml")
    (problem,) = problems_of(folder, parse_estimator=parse_estimator)
    assert problem.startswith("protocols.yaml:1: estimator: estimator 'skipmen(10)' is unknown: choose ")


def test_all_mistakes_of_all_files_are_reported_at_once(write):
    write(BOX.replace("title", "titel"))
    folder = write(CASE.replace("fp32", "fp31"), "cases.yaml")
    problems = problems_of(folder)
    assert [line.split(": ")[1] for line in problems] == ["precisions[0]", "title", "titel"]


def test_a_reference_to_an_entry_that_is_broken_itself_is_not_a_second_problem(write):
    write(CASE.replace("batch_sizes: [8]", "batch_sizes: []"), "cases.yaml")
    folder = write(FRAMEWORK.replace("lenet5", "small"), "frameworks.yaml")
    assert len(problems_of(folder)) == 1


@pytest.mark.parametrize("name", ["framework.yaml", "hardware.yml", "cases/one.yml"])
def test_a_file_that_nobody_would_read_is_reported(write, name):
    problems = problems_of(write(BOX, name))
    assert problems[0].startswith(f"{name}:1: not a catalogue file (accelerators.yaml, hardware.yaml")


MIXED = f"""\
cases:
{CASE}
frameworks:
  {FRAMEWORK[2:].replace("lenet5", "small")}
"""


def test_one_file_holds_entries_of_several_kinds(write):
    catalog = load_catalog(write(MIXED, "train.yaml"))
    assert catalog.frameworks["mine"].recipes[0].case == "small"


def test_mistakes_in_a_file_of_several_kinds_have_their_lines(write):
    folder = write(MIXED.replace("[8]", "[-8]").replace("title: Mine", "titel: Mine") + "formtas: []\n", "train.yaml")
    lines = [line.rpartition(" (")[0] or line for line in problems_of(folder)]
    assert lines == [
        "train.yaml:8: batch_sizes[0]: should be greater than 0",
        "train.yaml:11: title: is missing",
        "train.yaml:13: titel: unknown field",
        "train.yaml:21: formtas: no kind of entry",
    ]


def test_aliases_work_but_cannot_explode(write):
    folder = write(f"- &a\n{BOX[2:].replace('id: box', '  id: box')}", "hardware.yaml")
    load_catalog(folder)
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 12))
    problems = problems_of(write(f"l0: &l0 [lol]\n{levels}"))
    assert problems == ["hardware.yaml:1: is too large with its aliases resolved (write the entries out)"]


def test_a_pipe_in_place_of_a_file_does_not_hang(write):
    folder = write(BOX, "hardware/box.yaml")
    os.mkfifo(folder / "hardware" / "pipe.yaml")
    assert problems_of(folder) == ["hardware/pipe.yaml:1: cannot be read: not a regular file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read_is_reported(write):
    folder = write(BOX)
    (folder / "hardware.yaml").chmod(0)
    assert problems_of(folder) == ["hardware.yaml:1: cannot be read: Permission denied"]


def test_mistakes_are_the_same_when_they_come_from_another_process() -> None:
    error = CatalogError(
        [Problem(Path("b.yaml"), 2, "case", "is missing"), Problem(Path("a.yaml"), 1, "", "is no map")]
    )
    sent = pickle.loads(pickle.dumps(error))
    assert (sent.lines, str(sent), sent.problems) == (error.lines, str(error), error.problems)


def test_an_entry_has_its_chinese_texts_beside_the_english_ones(write):
    box = load_catalog(write(f"{BOX}  zh: {{title: 一台机器}}\n")).hardware["box"]
    assert box.localized("zh").title == "一台机器"
    assert box.localized("en").title == "Box"
