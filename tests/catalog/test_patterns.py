"""What is wrong with a log format's regular expressions is said before a log is read."""

from __future__ import annotations

import pytest
from entries import problems_of

from dlperf.catalog.patterns import line_problem, metadata_problem, record_problem, time_problem

FORMAT = """\
- id: mine
  title: Mine
  unit: samples/s
  scope: global
  window: step
  detect: speed
"""


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        (r"step (?P<step>\d+) ips: (?P<value>[\d.]+)", None),
        (r"(?P<seconds_per_step>[\d.]+) s", None),
        (r"(?P<value>[\d.]+", "invalid regular expression"),
        (r"ips: (?P<vlaue>[\d.]+)", "unknown group 'vlaue'"),
        (r"(step) (?P<value>[\d.]+)", "every group needs a name"),
        (r"step (?P<step>\d+)", "has no throughput group"),
        (r"(?P<step>\d+)/(?P<epoch_steps>\d+) (?P<value>\S+)", "the groups epoch and step are needed"),
        (r"(?P<interval_seconds>[\d.]+) from (?P<first_step>\d+)", "the time up to step"),
    ],
)
def test_a_record_says_how_fast_it_went_in_groups_with_known_names(pattern, problem):
    found = record_problem(pattern)
    assert found is None if problem is None else problem in (found or "")


@pytest.mark.parametrize(("pattern", "sound"), [(r"batch (\d+)", True), (r"batch \d+", False), (r"(a)(b)", False)])
def test_a_declared_field_is_one_group(pattern, sound):
    assert (metadata_problem(pattern) is None) == sound


def test_a_line_is_searched_for_any_regular_expression():
    assert line_problem("a|b") is None
    assert line_problem("(") is not None


@pytest.mark.parametrize("text", ["%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S,%f", "%m%d %H:%M:%S.%f", "seconds"])
def test_a_time_ends_with_minutes_and_seconds(text):
    assert time_problem(text) is None
    assert time_problem(text[:-1]) is not None


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (
            "  record: '(?P<time>.*) speed=(?P<value>[0-9.]+)'\n",
            "7: record: has a group `time`: add its time_format ('%Y-%m-%d %H:%M:%S', seconds)",
        ),
        (
            "  record: 'speed=(?P<value>[0-9.]+)'\n  time_format: seconds\n",
            "8: time_format: the record has no group `time`",
        ),
    ],
)
def test_a_time_that_is_read_and_how_it_is_written_go_together(write, lines, problem):
    assert problems_of(write(FORMAT + lines, "formats.yaml")) == [f"formats.yaml:{problem}"]


def test_an_expression_without_linear_time_is_named_by_file_and_line(write):
    (problem,) = problems_of(write(FORMAT + "  record: '(?P<value>\\d+) (?=a+b)a+b'\n", "formats.yaml"))
    assert problem.startswith(
        "formats.yaml:7: record: invalid regular expression: it may take more than linear time, and RE2 cannot run it"
    )
