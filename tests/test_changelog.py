"""The changelog is for users: one short section for each release, the newest of which is this one."""

from __future__ import annotations

import re
from pathlib import Path

from dlperf.version import RELEASE

ROOT = Path(__file__).parents[1]
MOST_LINES = 60


def test_each_release_has_a_section_of_at_most_60_lines() -> None:
    _, *sections = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)
    names = [section.split()[0] for section in sections]
    assert names[0] == RELEASE
    assert names == sorted(names, key=lambda name: tuple(map(int, name.split("."))), reverse=True)
    lines_of = {name: section.count("\n") for name, section in zip(names, sections, strict=True)}
    assert [name for name, lines in lines_of.items() if lines > MOST_LINES] == []


def test_every_place_says_the_same_version() -> None:
    assert f"\nversion: {RELEASE}\n" in (ROOT / "CITATION.cff").read_text()
