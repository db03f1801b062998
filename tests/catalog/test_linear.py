"""Expressions of log formats are searched for in linear time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dlperf
from dlperf.catalog.files.load import load_catalog
from dlperf.catalog.linear import compile_linear, is_any_found
from dlperf.formats.dllogger import declarations as dllogger_declarations
from dlperf.formats.programs import own, paddleclas

ROOT = Path(dlperf.__file__).parent
FORMATS = load_catalog().formats.values()
CODE = (
    *(
        text
        for texts in (*paddleclas._DATA["launcher"].values(), *dllogger_declarations.ECHOED.values())
        for text in texts
    ),
    *("".join(record["pattern"]) for record in paddleclas._DATA["records"]),
    *(paddleclas._EPOCH_END, paddleclas._EPOCH_MEANS, own._RECORD),
)
BUILTIN = {
    *CODE,
    *(entry.detect for entry in FORMATS),
    *(entry.end for entry in FORMATS if entry.end),
    *(dialect.record for entry in FORMATS for dialect in (entry, *entry.dialects, *entry.unfinished)),
    *(text for entry in FORMATS for texts in entry.metadata.values() for text in texts),
}


def test_builtin_expressions_are_proven_linear_and_keep_their_groups():
    assert [pattern for pattern in BUILTIN if not compile_linear(pattern).backtracks] == []
    groups = {pattern: compile_linear(pattern).groupindex for pattern in BUILTIN}
    assert groups == {pattern: re.compile(pattern).groupindex for pattern in BUILTIN}


@pytest.mark.parametrize(
    ("pattern", "proven"),
    [
        (r"step (\d+), loss ([^,]+), ips ([\d.]+)", True),
        (r"step (\d+) .*? loss (\S+) .*?ips ([\d.]+)", True),
        (r"a.*b", True),
        (r"^\d+/\d+ a", True),
        (r"\d+ a", False),
        (r"a.*b.*c", False),
        (r"a[^x]*x", False),
        (r"xa[^x]*x", True),
        (r"x\d+\d+ a", False),
        (r"x(?:\d+,)?\d+ a", True),
        (r"x(?:\d+,)*\d+ a", False),
        (r"(a+)+b", False),
        (r"(?:a|aa)*b", False),
        (r"(?i)x[^X]*x", False),
        (r"x(?i:[^X]*x)", False),
        (r"x\w+\b\w+", False),
        (r"x(.*?)y", False),
    ],
)
def test_only_expressions_without_backtracking_over_the_same_bytes_run_in_pythons_engine(pattern, proven):
    assert compile_linear(pattern).backtracks == proven


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (
            r"step (?P<step>\d+) .*? loss (?P<loss>\S+) .*?ips (?P<value>\d+)",
            b"x step 1 a loss b step 2 ips 3 loss 4 ips 5",
        ),
        (r"\bstep.*?ips (?P<value>\d+)", b"xstep ips 1 step step ips 2"),
        (r"a(?P<epoch>\d).*b(?P<value>\d)", b"a1 b2 b3 a4 b5 b"),
        (r"^a(?P<value>\d).*?x|b(?P<step>\d).*?x", b"a1 b2 x a3"),
        (r"^a(?P<value>\d).*?x|b(?P<step>\d).*?x", b"ba1 b2 x a3"),
        (r"\d+ a(?: (?P<step>\d+))? (?P<value>\d+)", b"123 a 4"),
        (r"(?P<value>\d+) \S+", b"12 \xff"),
    ],
)
def test_a_search_finds_what_a_backtracking_search_finds(pattern, line):
    found, expected = compile_linear(pattern).search(line), re.compile(pattern.encode()).search(line)
    assert found.groups(b"none") == expected.groups(b"none")


@pytest.mark.parametrize(
    "pattern", [r"a(?=\d+).*b.*c", r"(a+)\1b", r"(?!.*x)y", r"x(?!)\d+\d+", r"(?:(?:[ab]{64}){64}){64}"]
)
def test_an_expression_that_no_engine_searches_for_in_linear_time_is_refused(pattern):
    with pytest.raises(re.error, match=r"may take more than linear time, and RE2 cannot run it \(invalid"):
        compile_linear(pattern)


def test_a_name_that_repeats_what_an_expression_repeats_is_searched_in_linear_time():
    assert not is_any_found(["(a+)+$", "(", "(x|x)*y"], "a" * 5000 + "b")
    assert is_any_found(["nothing", "H100"], "NVIDIA H100 80GB")


def test_no_expression_of_a_catalogue_is_searched_for_in_another_way():
    searching = re.compile(r"\bre\.\w+\((?:pattern|one\.match|\w+\.match|expected)\b")
    rooms = ("app", "executors", "plan", "render", "report", "table", "verdicts")
    found = [path.name for room in rooms for path in (ROOT / room).rglob("*.py") if searching.search(path.read_text())]
    assert found == []
