"""Files of other versions are read, or refused by name."""

from __future__ import annotations

import json

import pytest

from dlperf.errors import DlperfError
from dlperf.runs.records import Progress
from dlperf.runs.store import write_record
from kept_records import read_record


@pytest.mark.parametrize("schema", [99, 1, "1", None, True])
def test_a_schema_of_the_future_or_of_nonsense_is_refused(schema, tmp_path):
    path = tmp_path / "progress.json"
    path.write_text(json.dumps({"schema": schema, "updated": "t"}))
    with pytest.raises(DlperfError, match=r"progress\.json: not a Progress \((written by a newer dlperf|schema )"):
        read_record(path, Progress)


def test_a_record_comes_back_as_it_was_written(tmp_path):
    progress = Progress("t", done=1, total=2)
    write_record(tmp_path / "progress.json", progress)
    assert read_record(tmp_path / "progress.json", Progress) == progress


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b'{"updated": 3}'])
def test_a_file_that_is_no_record_is_named(content, tmp_path):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(DlperfError, match=r"x\.json: not a Progress"):
        read_record(tmp_path / "x.json", Progress)
