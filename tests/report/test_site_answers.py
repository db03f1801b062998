"""Who is fastest and how sure that is, and how figures are written."""

from __future__ import annotations

from dataclasses import replace

import pytest
from html_text import Document
from site_rows import measured, published

from dlperf.measure.findings import Finding
from dlperf.messages import CHINESE, ENGLISH, message, quoted
from dlperf.report import figures
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.answer import answers
from dlperf.report.data import SiteData
from dlperf.report.pages.home import home, lead
from dlperf.report.pages.page import Page
from dlperf.report.templating import macro
from dlperf.results.model import ConfigurationResult, Status


def test_the_fastest_is_named_at_the_largest_scale_on_which_two_frameworks_have_a_figure() -> None:
    (answer,) = answers([measured("alpha", 1, 400.0), measured("beta", 1, 410.0), measured("alpha", 8, 3000.0)])
    assert (answer.best.framework, answer.best.gpus) == ("beta", 1)
    assert answer.lead == pytest.approx(0.025)


@pytest.mark.parametrize(
    ("best", "second", "sure"),
    [
        (measured("alpha", value=410.0, spread=0.004), measured("beta", value=400.0, spread=0.01), "clear"),
        (measured("alpha", value=402.0, spread=0.004), measured("beta", value=400.0, spread=0.01), "tie"),
        (measured("alpha", value=410.0, trials=1), measured("beta", value=400.0), "single"),
        (published("paddle", 1, 393.5), published("pytorch", 1, 370.2), "unknown"),
    ],
)
def test_how_sure_an_answer_is_follows_from_spread_and_trials(
    best: ConfigurationResult, second: ConfigurationResult, sure: str
) -> None:
    (answer,) = answers([second, best])
    assert answer.certainty == sure


@pytest.mark.parametrize(
    ("clock", "said"), [(1980.0, "GPUs ran at a 10.0\u00a0% higher clock"), (1830.0, ""), (1620.0, ""), (None, "")]
)
def test_a_lead_of_gpus_with_a_higher_clock_is_not_said_of_the_framework_alone(clock: float | None, said: str) -> None:
    (answer,) = answers([at_clock(measured("alpha", value=410.0), clock), at_clock(measured("beta"), 1800.0)])
    found = lead(Page(ENGLISH, SiteData(), at.HOME), answer)
    assert macro("certainty", ENGLISH)(found).partition(", but its ")[2] == said
    assert bool(said) == ("higher" in macro("certainty_in_cell", ENGLISH)(found))


def at_clock(row: ConfigurationResult, clock: float | None) -> ConfigurationResult:
    return replace(row, trials=tuple(replace(trial, sm_clock_mhz=clock) for trial in row.trials))


def test_figures_of_different_sequence_lengths_are_never_compared() -> None:
    short = measured("alpha", value=420.0, axes=(("sequence_length", 2048),))
    long = measured("beta", value=400.0, axes=(("sequence_length", 8192),))
    assert [answer.second for answer in answers([short, long])] == [None, None]


def test_figures_of_different_sources_are_never_compared() -> None:
    assert all(answer.second is None for answer in answers([measured("alpha"), published("paddle", 1, 393.5)]))


def test_a_title_goes_on_in_the_next_line_behind_a_dot() -> None:
    text = home(ENGLISH, SiteData((measured("alpha"), measured("beta", 1, 900.0))))
    assert "<span>resnet50-imagenet\u00a0·</span> <span>box\u00a0·</span>" in text


@pytest.mark.parametrize(
    ("value", "text"), [(393.561, "393.561"), (1888.2, "1888.2"), (22690.0, "22690"), (1e-7, "0.0000001")]
)
def test_a_published_figure_keeps_every_digit(value: float, text: str) -> None:
    assert figures.exact(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(400.123456, "400.12"), (39972.131, "39972"), (1234567.8, "1234568"), (0.0123456, "0.012346")]
)
def test_a_measured_figure_has_five_significant_digits(value: float, text: str) -> None:
    assert figures.five_digits(value) == text


@pytest.mark.parametrize(("ratio", "text"), [(0.0123, "1.2 %"), (0.0005, "0.1 %"), (0.00042, "0.04 %"), (None, "")])
def test_a_small_spread_is_not_said_to_be_none(ratio: float | None, text: str) -> None:
    assert figures.spread(ratio) == text


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
