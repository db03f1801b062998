"""Figures that others published, as data."""

import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from dlperf.errors import DlperfError
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.published import load_reports

REPOSITORY = WorkspacePaths(Path(__file__).parents[2])

WITH_FIGURES = {
    "dlperf-readme": 71,
    "dlperf-v1": 168,
    "fleetx-resnet50": 44,
    "fleetx-vgg16": 44,
    "maxtext-tpu-recipes": 92,
    "megatron-bridge": 584,
    "mlperf-training-5.1": 555,
    "nemo-automodel": 32,
    "nemo-rl": 19,
    "ngc-tensorflow-reproduction": 0,
    "perf-landing-page": 22,
    "perf-resnet50-2.2": 32,
    "perf-resnet50-2.2-others": 6,
    "perf-resnet50-2.3": 22,
    "perf-resnet50-2.4": 36,
    "perf-resnet50-2.5": 36,
    "perf-resnet50-2.5-others": 26,
    "perf-resnet50-draft": 6,
    "plsc-arcface": 40,
    "primus": 28,
    "torchtitan": 20,
}
LENGTHS = {"megatron-bridge": {4096, 8192}, "torchtitan": {8192, 32768, 65536, 131072, 262144}}
"""Tokens of a sample in the reports of language models."""


@pytest.fixture(scope="module")
def reports():
    return {report.id: report for report in load_reports(REPOSITORY)}


def test_every_report_carries_all_its_figures(reports) -> None:
    counts = {name: sum(f.value is not None for f in report.figures) for name, report in reports.items()}

    assert counts == WITH_FIGURES


def test_a_cell_that_was_not_run_has_no_value(reports) -> None:
    missing = Counter(name for name, report in reports.items() for f in report.figures if f.value is None)

    assert missing == {"ngc-tensorflow-reproduction": 24, "perf-resnet50-draft": 24, "perf-resnet50-2.5": 4}
    assert {f.rule for f in reports["ngc-tensorflow-reproduction"].figures} == {"not run"}


def test_a_value_keeps_its_printed_digits(reports) -> None:
    (figure,) = [
        figure
        for figure in reports["fleetx-vgg16"].figures
        if (figure.precision, figure.batch_size, figure.nodes, figure.gpus) == ("FP32", 128, 4, 32)
    ]

    assert (figure.printed, figure.value) == ("7848.70", 7848.7)


def test_every_figure_says_where_it_stands_and_how_it_was_made(reports) -> None:
    figures = [figure for report in reports.values() for figure in report.figures]

    assert all(figure.source and figure.unit and figure.gpus % figure.nodes == 0 for figure in figures)
    assert all(figure.rule for figure in figures if figure.log)


def test_figures_of_pure_fp16_logs_are_not_taken_for_mixed_precision(reports) -> None:
    figures = [figure for report in reports.values() for figure in report.figures if "pure_fp16" in figure.log]

    assert len(figures) > 15
    assert {figure.computed for figure in figures} == {"fp16-pure"}


def test_a_report_carries_its_environment_in_its_own_order(reports) -> None:
    report = reports["plsc-arcface"]
    system = report.environment[0]

    assert (system.title.en, system.title.zh) == ("System", "系统")
    assert [fact.value for fact in system.facts][:3] == [
        "Ubuntu 16.04.4 LTS (GNU/Linux 4.4.0-116-generic x86_64)",
        "Tesla V100-SXM2-16GB x 8",
        "NVIDIA 440.33.01",
    ]
    assert report.protocol == "plsc"


def test_every_text_of_a_report_is_in_both_languages(reports) -> None:
    for report in reports.values():
        texts = [report.title, report.summary, report.protocol_text, *report.notes]
        texts += [group.title for group in report.environment] + [step.title for step in report.steps]
        assert all(text.en and text.zh for text in texts), report.id
        assert all(bool(step.text.en) == bool(step.text.zh) for step in report.steps), report.id


def test_every_row_of_the_language_model_tables_is_there_with_its_line(reports) -> None:
    figures = [*reports["megatron-bridge"].figures, *reports["torchtitan"].figures]
    speeds = [figure for figure in figures if figure.metric == "throughput"]
    lines = {figure.source for figure in reports["megatron-bridge"].figures}

    assert (len(speeds), len(lines)) == (312, 278)
    assert all("#L" in line for line in lines)
    lengths = {name: {dict(f.axes)["sequence_length"] for f in reports[name].figures} for name in LENGTHS}
    assert lengths == LENGTHS


def test_one_model_has_one_name_in_all_reports(reports) -> None:
    """Another size, version sign or variant behind the name of a model is the same model, or is named as another."""
    printed = {figure.model for report in reports.values() for figure in report.figures}
    words = {name: re.sub(r"\bv(?=\d)|\(.*|[,]", "", name.lower()).replace("-", " ").split() for name in printed}
    twice = [(a, b) for a, b in combinations(sorted(printed), 2) if words[a] in (words[b], words[b][:-1])]
    assert twice == []


def test_a_workspace_without_reports_has_none(tmp_path: Path) -> None:
    assert load_reports(WorkspacePaths(tmp_path)) == ()


def test_a_malformed_figure_is_named_by_file_and_line(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "published" / "r"
    folder.mkdir(parents=True)
    (folder / "report.yaml").write_text((REPOSITORY.published / "dlperf-readme" / "report.yaml").read_text())
    header = (REPOSITORY.published / "dlperf-readme" / "figures.csv").read_text().splitlines()[0]
    (folder / "figures.csv").write_text(header + "\nRN50,TF,V100,one,1,FP32,128,throughput,images/s,1.0,a,b,c\n")

    with pytest.raises(DlperfError, match=r"figures\.csv, line 2: not a published figure .*'one'"):
        load_reports(WorkspacePaths(tmp_path))


@pytest.mark.parametrize("text", ["", "title: {en: a}", "schema: [", "- 1"])
def test_a_malformed_report_is_said_in_one_line(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "runs" / "published" / "r"
    folder.mkdir(parents=True)
    (folder / "report.yaml").write_text(text)
    (folder / "figures.csv").write_text("")

    with pytest.raises(DlperfError, match=r"report\.yaml: not a published report") as error:
        load_reports(WorkspacePaths(tmp_path))

    assert "\n" not in str(error.value)


@pytest.mark.parametrize("value", ["nan", "inf", "1e999"])
def test_a_figure_that_is_no_number_is_said_in_one_line(tmp_path: Path, value: str) -> None:
    folder = tmp_path / "runs" / "published" / "r"
    folder.mkdir(parents=True)
    (folder / "report.yaml").write_text("{}")
    header, row, *_ = (REPOSITORY.published / "dlperf-readme" / "figures.csv").read_text().splitlines()
    printed = row.split(",")[header.split(",").index("value")]
    (folder / "figures.csv").write_text(f"{header}\n{row.replace(printed, value)}\n")
    with pytest.raises(DlperfError, match=r"figures\.csv, line 2: not a published figure \(a number that is not"):
        load_reports(WorkspacePaths(tmp_path))
