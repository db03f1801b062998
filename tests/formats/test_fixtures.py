"""Each small log gives what the JSON file beside it says."""

from __future__ import annotations

import json

import pytest
from expectation import described
from fixtures import FIXTURES, LOGS, name, parsed

from dlperf.formats.registry import detect, format_ids


@pytest.mark.parametrize("log", LOGS, ids=name)
def test_a_log_gives_the_runs_it_holds(log):
    expected = json.loads(log.with_suffix(".json").read_text("utf-8"))
    assert described(parsed(log.parent.name, log.read_bytes())) == expected


@pytest.mark.parametrize("log", LOGS, ids=name)
def test_a_log_is_recognised_by_its_content(log):
    assert detect(log.read_bytes()) == log.parent.name


@pytest.mark.parametrize("log", LOGS, ids=name)
def test_every_column_has_one_entry_for_each_sample(log):
    for run in parsed(log.parent.name, log.read_bytes()).runs:
        assert {len(column) for column in vars(run.samples).values()} == {len(run.samples)}


def test_every_format_has_a_fixture():
    assert {folder.name for folder in FIXTURES.iterdir()} == set(format_ids())
