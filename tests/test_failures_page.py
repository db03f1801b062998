"""The page on failures names a test for each of its rows, and codes that exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from dlperf.messages.texts import texts

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "failures.md"
ROW = re.compile(
    r"\| (?P<fails>.+?) \| (?P<says>.+?) \| (?P<follows>.+?) \| `(?P<file>[\w/]+\.py)::(?P<test>test_\w+)` \|"
)
LINES = [line for line in PAGE.read_text().splitlines() if re.match(r"\| (?!what fails|---)", line)]


@cache
def names_in(file: str) -> set[str]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.parse((TESTS / file).read_text()).body if isinstance(node, functions)}


def test_there_are_many_rows_and_each_is_about_something_else():
    assert len(LINES) >= 60
    assert len({line.partition(" | ")[0] for line in LINES}) == len(LINES)


def test_a_row_names_a_test_and_codes_that_exist():
    rows = {line: ROW.fullmatch(line) for line in LINES}
    assert [line for line, row in rows.items() if row is None or row["test"] not in names_in(row["file"])] == []
    codes = {code for row in rows.values() if row for code in re.findall(r"`([a-z_]+)`", row["says"])}
    assert codes <= texts().keys() | {"unreachable_since"}
