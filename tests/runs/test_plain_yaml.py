"""Plain data is read as PyYAML's safe loader reads it, and nothing but plain data."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dlperf.runs.plain_yaml import load_plain

FILES = sorted((Path(__file__).parents[2] / "runs").glob("**/*.yaml"))

TEXT = """\
# a comment
numbers: [1, -2.5, 1e3, 0x1F, .inf, '7']
words: {yes: true, no: false, none: null, tilde: ~, empty: , "quoted": "true", day: 2026-01-31}
long: |
  two
  lines
folded: >-
  one
  line
shared: &same [a, {b: c}]
again: *same
1: a number as key
"""


@pytest.mark.parametrize("text", ["", "a", "- 1", "{}", "--- {a: b}", TEXT])
def test_plain_data_is_what_the_safe_loader_gives(text):
    assert load_plain(text.encode()) == yaml.safe_load(text)


def test_every_plan_and_report_of_this_repository_is_what_the_safe_loader_gives():
    assert FILES
    for path in FILES:
        assert load_plain(path.read_bytes()) == yaml.safe_load(path.read_bytes())


@pytest.mark.parametrize(
    "text",
    [
        "a: !!python/object/apply:os.system [true]",
        "!!binary aGk=",
        "a: *nobody",
        "[a, b]: c",
        "? {a: b}\n: c",
        "a: b\n--- \nc: d",
        "trials: [",
        "a: b: c",
        "<<: {a: b}",
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises(yaml.YAMLError):
        load_plain(text.encode())
