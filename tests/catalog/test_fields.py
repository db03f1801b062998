"""The page of all fields says what the models say."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from pathlib import Path

import pytest

from dlperf.catalog.files.entries import KINDS
from dlperf.catalog.files.load import load_catalog
from dlperf.catalog.patterns import RECORD_GROUPS
from dlperf.formats.declarations import FIELDS

DOCS = Path(__file__).parents[2] / "docs"
SPEC = importlib.util.spec_from_file_location("fields", DOCS / "fields.py")
assert SPEC
assert SPEC.loader
fields = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(fields)
HEAD = """\
# Fields of the catalogue

Every field of every kind of entry: its type, its default, what it means, and one example. A blank default means that
the field may be absent. `dlperf catalog show ID` prints a whole entry. This page is made from the models in
`tui/dlperf/catalog`: after a change there,
`DLPERF_UPDATE_FIELDS=1 pytest tests/catalog/test_fields.py` writes it again.

"""


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("catalog")
    shutil.copy(DOCS / "fields.yaml", folder / "examples.yaml")
    catalog = load_catalog(folder, complain=lambda problem: pytest.fail(str(problem)))
    entries = [entry for kind in KINDS for entry in getattr(catalog, kind).values()]
    return HEAD + fields.described(KINDS, entries) + "\n" + fields.reference()


def test_the_page_is_current(text):
    path = DOCS / "fields.md"
    if os.environ.get("DLPERF_UPDATE_FIELDS"):
        path.write_text(text)
    assert path.read_text() == text


def test_the_page_holds_all_names_and_refers_to_no_source_code(text):
    assert (set(fields.NAMES["groups"]), set(fields.NAMES["declared"])) == (RECORD_GROUPS, FIELDS)
    assert re.findall(r"`dlperf\.[\w.]+`", text) == []


def entries_of(text: str) -> str:
    """The page without the tables of names at its end."""
    return text.partition("\n## Placeholders\n")[0]


def test_every_field_has_a_type_and_a_meaning(text):
    rows = [line.replace("\\|", "/").split("|") for line in entries_of(text).splitlines() if line.startswith("| `")]
    assert len(rows) > 150
    assert [row[1] for row in rows if not (row[2].strip() and row[4].strip())] == []


def test_every_field_that_is_not_for_readers_has_an_example(text):
    for_readers = {"`description`", "`source`", "`zh`"}
    sections = entries_of(text).split("\n## ")
    rows = [line.replace("\\|", "/").split("|") for part in sections for line in part.splitlines() if line[:3] == "| `"]
    without = {row[1].strip() for row in rows if not row[5].strip()}
    assert without - for_readers <= {"`queue`", "`facts`", "`told_later`"}
