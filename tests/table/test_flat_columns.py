"""Tables of results as files for other programs."""

from __future__ import annotations

import csv

import pytest

from dlperf.table.columns import csv_lines, csv_text


@pytest.mark.parametrize("text", ["=1+1", "+1", "-x", "@x", "\t=1", "\r=1", "\n=1", "-\r=1"])
def test_no_cell_and_no_name_of_csv_is_a_formula_of_a_spreadsheet(text: str):
    for written in (csv_text({text: [text]}), csv_lines([[text], [text]])):
        assert list(csv.reader(written.splitlines(keepends=True))) == [["'" + text.replace("\r", "\n")]] * 2


def test_numbers_in_csv_stay_numbers():
    assert csv_text({"a": [-1.5, None, 2], "b": ["x-1", "1=1", ""]}) == "a,b\n-1.5,x-1\n,1=1\n2,\n"
