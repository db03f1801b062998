"""ARCHITECTURE.md names what exists, each class name means one thing, and no room is crowded."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache, reduce
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tui" / "dlperf"
TEXT = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
WALKS = dict(re.findall(r"^\*\*(.+?)\*\*\n\n((?:\|.*\n)+)", TEXT, re.MULTILINE))
STEPS = [step for table in WALKS.values() for step in re.findall(r"^\| `(\S+)` \| `(\S+)` \| (.+) \|$", table, re.M)]
MOST_FILES = (10, 16, 12)
"""Of each walk."""
MOST_IN_ROOM = 15


def classes() -> Iterator[str]:
    """Yield the classes of modules, without those of programs, which run alone."""
    for path in PACKAGE.rglob("*.py"):
        if "workloads" not in path.relative_to(PACKAGE).parts:
            body = ast.parse(path.read_text("utf-8")).body
            yield from (item.name.lstrip("_") for item in body if isinstance(item, ast.ClassDef))


@cache
def names() -> Counter[str]:
    return Counter(classes())


@pytest.mark.parametrize(("file", "function", "form"), STEPS, ids=lambda text: text[:40])
def test_each_step_of_a_walk_exists(file: str, function: str, form: str) -> None:
    module = import_module("dlperf." + file.removesuffix(".py").replace("/", "."))
    assert callable(reduce(getattr, function.split("."), module))
    assert [name for name in re.findall(r"`([A-Z]\w+)`", form) if name not in names()] == []


def test_the_walks_are_short() -> None:
    files = [len(set(re.findall(r"^\| `(\S+\.py)`", table, re.MULTILINE))) for table in WALKS.values()]
    assert len(files) == len(MOST_FILES)
    assert all(count <= most for count, most in zip(files, MOST_FILES, strict=True))


def test_every_file_and_package_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*/?[a-z_]+\.py)`", TEXT))
    assert [name for name in named if not (ROOT / name).exists() and not list(PACKAGE.rglob(name))] == []


def test_each_class_name_means_one_thing() -> None:
    assert [name for name, count in names().items() if count > 1] == []


def test_no_room_has_more_files_than_one_sees_at_once() -> None:
    rooms = Counter(path.parent for path in PACKAGE.rglob("*.py"))
    assert {str(room) for room, count in rooms.items() if count > MOST_IN_ROOM} == set()
