"""Every text of the code and the templates is in the Chinese catalogue, once, with the same placeholders."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from babel.messages.catalog import Catalog
from babel.messages.frontend import CommandLineInterface
from babel.messages.pofile import read_po

import dlperf
from dlperf.messages.language import CATALOGUES

SOURCE = Path(dlperf.__file__).parent
REPOSITORY = Path(__file__).parents[2]
CHINESE = CATALOGUES / "zh" / "LC_MESSAGES" / "dlperf.po"
EXTRACT = "extract -F pyproject.toml -k N_ --no-location --sort-output"
"""As in CONTRIBUTING.md."""

Key = tuple[str | None, str]
"""Context and English text."""


def chinese() -> dict[Key, tuple[str, ...]]:
    with CHINESE.open("rb") as stream:
        return translations(read_po(stream, locale="zh", abort_invalid=True))


def translations(catalogue: Catalog) -> dict[Key, tuple[str, ...]]:
    """English text (of a count: its singular) → its translations."""
    found = {}
    for message in catalogue:
        if message.id:
            english = message.id if isinstance(message.id, str) else message.id[0]
            texts = (message.string,) if isinstance(message.string, str) else tuple(message.string)
            found[message.context, english] = texts
    return found


@pytest.fixture(scope="module")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> set[Key]:
    template = tmp_path_factory.mktemp("texts") / "dlperf.pot"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(REPOSITORY)
        CommandLineInterface().run(["pybabel", "-q", *EXTRACT.split(), "-o", str(template), str(SOURCE)])
    with template.open("rb") as stream:
        return set(translations(read_po(stream)))


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_every_text_has_a_translation(extracted: set[Key]) -> None:
    known = chinese()
    assert [key for key in extracted if not all(known.get(key, ("",)))] == []


def test_every_translation_is_used(extracted: set[Key]) -> None:
    assert [key for key in chinese() if key not in extracted] == []


def test_a_translation_has_the_placeholders_of_the_text() -> None:
    assert [
        (english, text)
        for (_, english), texts in chinese().items()
        for text in texts
        if placeholders(text) != placeholders(english)
    ] == []


def test_texts_stand_where_babel_finds_them() -> None:
    """Babel does not look into f-strings."""
    inside = re.compile(r"""\{(?:N?_|\w*gettext)\(['"]""")
    assert [path.name for path in SOURCE.rglob("*.py") if inside.search(path.read_text())] == []


HALF_WIDTH_COLON = re.compile(r"[\u3000-\u9fff\uff08-\uff5e]:|(?<!\[):\s?[\u3000-\u9fff]")
CODE = re.compile("`[^`]*`")


def test_a_colon_between_chinese_words_is_a_full_width_one() -> None:
    texts = [CODE.sub("", text) for texts in chinese().values() for text in texts]
    assert [text for text in texts if HALF_WIDTH_COLON.search(text)] == []


def test_what_screens_put_together_has_the_colon_of_the_language() -> None:
    """An error is raised in English."""
    assert [
        f"{path.name}:{node.lineno}"
        for path in (SOURCE / "app").rglob("*.py")
        for node in _told(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(": ")
    ] == []


def _told(node: ast.AST) -> Iterator[ast.AST]:
    """A tree without what is raised."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.Raise):
            yield from _told(child)


def test_the_catalogue_is_sorted() -> None:
    with CHINESE.open("rb") as stream:
        texts = [message.id for message in read_po(stream, locale="zh") if message.id]
    assert texts == sorted(texts, key=lambda text: text if isinstance(text, str) else text[0])


def test_the_command_of_the_documentation_is_the_one_tested() -> None:
    assert f"pybabel {EXTRACT} " in (REPOSITORY / "CONTRIBUTING.md").read_text()


def test_a_term_is_translated_as_the_glossary_says() -> None:
    glossary = yaml.safe_load((CATALOGUES.parent / "glossary.yaml").read_text())
    terms = {english: texts for (context, english), texts in chinese().items() if context is None}
    assert {
        english: texts for english, texts in terms.items() if texts != (glossary.get(english.lower(), texts[0]),)
    } == {}
