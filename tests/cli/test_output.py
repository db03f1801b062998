"""What commands print."""

from __future__ import annotations

import io
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import dlperf.cli
from dlperf.cli.output import (
    LiveLines,
    display_width,
    fit_table,
    format_cell,
    format_table,
    print_json,
    print_note,
    print_remarks,
    print_table,
    print_text,
    truncate,
)
from dlperf.runs.records import State
from dlperf.view.text import one_line

COMMANDS = Path(dlperf.cli.__file__).parent


class FakeTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@dataclass(frozen=True)
class Row:
    path: Path
    state: State
    value: float | None = None


def test_json_is_one_document_of_plain_values(capsys):
    print_json([Row(Path("a/b"), State.FAILED)])
    assert json.loads(capsys.readouterr().out) == [{"path": "a/b", "state": "failed", "value": None}]


def test_json_refuses_a_number_that_json_has_not():
    with pytest.raises(ValueError, match="not JSON compliant"):
        print_json({"value": float("nan")})


def test_numbers_stand_to_the_right_and_missing_ones_are_a_dash():
    table = format_table(["name", "n", "value"], [["a", 3, 12.34567], ["long name", 10, None]])
    assert table.splitlines() == ["name        n  value", "a           3  12.35", "long name  10      -"]


def test_wide_characters_count_two_columns():
    assert display_width("数据 ok") == 7
    assert format_table(["a", "b"], [["数据", "x"], ["abcd", "y"]]).splitlines()[1:] == ["数据  x", "abcd  y"]


def test_control_characters_cannot_reach_a_terminal():
    assert one_line("a\n\x1b[31mb") == "a b"


STEERING = "\x1b]0;x\x07\x9b2J\x00\u202e"


def test_nothing_that_is_printed_steers_a_terminal(capsys: pytest.CaptureFixture[str]):
    print_text(f"a{STEERING}\n\tb\n")
    print_note(STEERING)
    print_json({STEERING: STEERING})
    print_table([f"a{STEERING}", "b"], [(STEERING, 1)])
    print_remarks(STEERING, [STEERING])
    printed = capsys.readouterr()
    assert printed.out.startswith("a")
    assert "\n\tb\n{" in printed.out
    assert all(char.isprintable() or char in "\n\t\u202e" for char in printed.out + printed.err)


def test_every_command_prints_through_these_functions():
    bare = re.compile(r"(?<![\w.])print\(|typer\.echo\(|std(out|err)\.write\(")
    found = {path.name for path in COMMANDS.rglob("*.py") if bare.search(path.read_text())}
    assert found == {"output.py", "__init__.py", "root.py", "follow.py"}


@pytest.mark.parametrize(
    ("value", "text"), [(12345.678, "12,346"), (0.123456, "0.1235"), (0.00012345, "0.0001234"), (None, "-"), (7, "7")]
)
def test_cells_keep_four_significant_digits(value, text):
    assert format_cell(value) == text


def test_a_long_line_is_cut_at_the_column():
    assert truncate("数据数据", 5) == "数据…"
    assert truncate("abc", 3) == "abc"


def test_what_is_redrawn_is_erased_from_its_first_column(monkeypatch):
    """A ^C that the terminal echoes leaves the cursor in the middle of the line."""
    terminal = FakeTerminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    live = LiveLines()
    live.draw(["one", "two"])
    terminal.truncate(0)
    live.clear()
    assert terminal.getvalue().lstrip("\0") == "\r\x1b[2A\x1b[J"


HEADERS = ("trial", "state", "unit", "left", "cause")
WIDE = [("a/1", "failed", "images/s", "", "out of memory"), ("a/2", "failed", "images/s", "", "no space left")]


def test_a_table_that_fits_is_left_as_it_is():
    assert fit_table(HEADERS, WIDE, 80) == format_table(HEADERS, WIDE)


def test_a_table_that_is_too_wide_says_once_what_is_the_same_in_every_row():
    assert fit_table(HEADERS, WIDE, 32).splitlines() == [
        "state: failed; unit: images/s",
        "",
        "trial  cause",
        "a/1    out of memory",
        "a/2    no space left",
    ]


def test_what_is_the_same_in_every_row_is_said_above_also_where_it_is_the_first_column():
    rows = [("try", "a", 1.0), ("try", "b", 20.0)]
    assert fit_table(("campaign", "trial", "value"), rows, 16).splitlines() == [
        "campaign: try",
        "",
        "trial  value",
        "a      1.000",
        "b      20.00",
    ]


def test_a_row_that_is_still_too_wide_goes_on_in_further_lines_below_its_first_cell():
    rows = [("logs/of/a/folder/a", "fp32", 1.0, "images/s"), ("b", "amp", 20.0, "tokens/s")]
    assert fit_table(("log", "precision", "value", "unit"), rows, 18).splitlines() == [
        "log",
        "  precision  value",
        "  unit",
        "logs/of/a/folder/a",
        "  fp32       1.000",
        "  images/s",
        "b",
        "  amp        20.00",
        "  tokens/s",
    ]


def test_rows_with_a_cell_that_is_wider_than_the_terminal_are_paragraphs_and_leave_nothing_out():
    assert fit_table(HEADERS, [*WIDE[:1], ("b/1", "lost", "", "", "")], 14).splitlines() == [
        "a/1",
        "  state  failed",
        "  unit   images/s",
        "  cause  out",
        "         of",
        "         memory",
        "",
        "b/1",
        "  state  lost",
    ]


def test_a_table_is_fitted_to_a_terminal_only(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "32")
    print_table(HEADERS, WIDE)
    assert capsys.readouterr().out == format_table(HEADERS, WIDE) + "\n"
