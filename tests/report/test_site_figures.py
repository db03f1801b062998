"""How figures and what stands beside them are written."""

from __future__ import annotations

from dataclasses import replace

import pytest
from html_text import Document
from site_rows import measured

from dlperf.app.model.results.table import figure_text
from dlperf.cli.output import format_cell
from dlperf.cli.results import figure_cell
from dlperf.messages import CHINESE, ENGLISH, message, quoted
from dlperf.messages.finding import Finding, warning
from dlperf.messages.numbers import four_digits
from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.answer import short_name
from dlperf.report.pages.results.trials import findings
from dlperf.report.templating import macro
from dlperf.table.model import MetricResult, Status
from dlperf.table.shown import shown_of_trial, shown_value
from dlperf.view.notebook.shown import Results


def test_code_in_a_caveat_is_set_as_code_on_pages_and_has_no_marks_in_tooltips() -> None:
    row = measured("alpha", findings=(warning("whole_model_compiled"),))
    assert " compile=regional, which compiles" in figures.caveat_text(ENGLISH, row)
    ((_, _, words),) = findings(ENGLISH, row)
    assert " <code>compile=regional</code>, which compiles" in macro("cell", ENGLISH)(words)


@pytest.mark.parametrize(
    ("readings", "text", "energy", "of_trial"),
    [
        *((0, "", None, None), (19, "", None, None)),
        *((20, "10.2 images/J", 0.0979, 0.098), (150, "10.2 images/J", 0.0979, 0.0979)),
        *((2000, "10.21 images/J", 0.097939, 0.09794), (20000, "10.21 images/J", 0.0979387, 0.097939)),
    ],
)
def test_energy_has_the_digits_that_the_readings_allow(
    readings: int, text: str, energy: float | None, of_trial: float | None
) -> None:
    """Of a result those of its five trials together."""
    row = measured(samples_per_joule=10.21047)
    row = replace(row, trials=tuple(replace(trial, telemetry_samples=readings) for trial in row.trials))
    metric = MetricResult("energy_per_sample", 1 / 10.21047, "J/image", "lower", needs=("readings",))
    assert figures.per_joule_text(row) == text
    assert bool(figures.kwh_text(row)) == bool(text)
    assert shown_value(row, metric) == energy
    (trial,) = row.trials[:1]
    assert shown_of_trial(trial, metric) == of_trial
    in_table = replace(row, metrics=(metric,), metric=metric.id, value=metric.value)
    shown = "-" if energy is None else four_digits(energy)
    assert format_cell(figure_cell(in_table)) == shown
    unit = "" if energy is None else " J/image"
    in_table = replace(in_table, unit=metric.unit)
    assert figure_text(in_table) == f"{shown}{unit}"
    assert f">{shown}{unit}<" in Results([in_table])._repr_html_()


@pytest.mark.parametrize(
    ("value", "text"), [(393.561, "393.561"), (1888.2, "1888.2"), (22690.0, "22690"), (1e-7, "0.0000001")]
)
def test_a_published_figure_keeps_every_digit(value: float, text: str) -> None:
    assert figures.exact(value) == text


def test_a_figure_of_which_a_reader_must_know_more_is_marked() -> None:
    note, warning = Finding(quoted("a cap"), "note"), Finding(quoted('it "rises" | *falls*'))
    rows = [measured(findings=found) for found in ((), (note,), (warning,))]
    marked = [macro("figure", ENGLISH)(figures.figure(ENGLISH, "index.md", row)) for row in rows]
    assert ["†" in cell for cell in marked] == [False, False, True]
    assert ("a", "title", 'it "rises" | *falls*') in Document(marked[2]).attributes
    assert "|" not in marked[2]


@pytest.mark.parametrize(
    ("status", "english", "chinese"),
    [
        (Status("not_run"), "not run", "未运行"),
        (Status("out_of_memory"), "out of memory", "显存不足"),
        (Status("failed", message("nccl_timeout")), "failed: NCCL timeout", "失败：NCCL 超时"),
        (
            Status("lost", message("unknown_trial")),
            "lost: the node has no record of the trial",
            "丢失：节点上没有该测试的任何信息",
        ),
        (Status("not_supported", quoted("no <AMP>")), "not supported: no &#60;AMP&#62;", "不支持：no &#60;AMP&#62;"),
    ],
)
def test_a_missing_figure_says_why(status: Status, english: str, chinese: str) -> None:
    assert md.text(status.text(ENGLISH)) == english
    assert md.text(status.text(CHINESE)) == chinese


@pytest.mark.parametrize(
    ("axis", "english", "chinese"),
    [
        (("attention", "cudnn"), "cuDNN attention", "cuDNN 注意力"),
        (("sequence_length", 8192), "sequence length 8,192", "序列长度 8,192"),
        (("tensor_parallel", 2), "2-way tensor parallelism", "2 路张量并行"),
        (("tensor_parallel", 1), "", ""),
        (("my_axis", "x"), "my axis x", "my axis x"),
    ],
)
def test_axes_are_said_in_words(axis: tuple[str, str | int], english: str, chinese: str) -> None:
    assert (figures.axes_text(ENGLISH, [axis]), figures.axes_text(CHINESE, [axis])) == (english, chinese)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("NVIDIA H100 SXM 80GB", "H100"),
        ("NVIDIA H100 PCIe 80GB", "H100 PCIe"),
        ("8 x H100 96GB 500W", "H100 96GB"),
        ("NVIDIA H200 NVL 141GB", "H200 NVL"),
        ("A box", ""),
    ],
)
def test_a_slower_form_of_an_accelerator_has_a_name_of_its_own(title: str, name: str) -> None:
    assert short_name(title) == name


def test_energy_of_a_million_is_that_of_what_is_no_padding_and_keeps_its_last_zero() -> None:
    row = measured(samples_per_joule=1 / 3.6)
    row = replace(row, trials=tuple(replace(trial, telemetry_samples=30) for trial in row.trials))
    assert figures.kwh_text(row) == "1.00"  # 10^6 × 3.6 J are 1 kWh
    assert figures.kwh_text(replace(row, findings=(warning("padded_tokens"),))) == "1.06"
    assert figures.kwh_text(replace(row, samples_per_joule=None)) == ""
