"""The languages of screens, pages and commands: one gettext catalogue for each, English in the code itself."""

import gettext
import io
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from dlperf.messages.message import QUOTED, Message, Value
from dlperf.messages.numbers import four_digits
from dlperf.messages.texts import texts

Code = Literal["en", "zh"]
CODES: tuple[Code, ...] = get_args(Code)
HAN = "[\u4e00-\u9fff]"
BEGINS_HAN = re.compile(rf"(?:<[^<>]*>)*(?:{HAN}|（)")
ENDS_HAN = re.compile(rf"(?:{HAN}|）)(?:</\w+>)*$")
CATALOGUES = Path(__file__).parent / "locale"
"""``<language>/LC_MESSAGES/dlperf.po``: English message → its translation."""


@dataclass(frozen=True)
class Language:
    """A language that readers may choose. Texts are looked up by their English words, as in gettext."""

    code: Code
    separator: str = ", "
    """Between the items of a list."""
    colon: str = ": "
    gap: str = " "
    """Between two sentences."""
    semicolon: str = "; "
    """Between several messages."""

    def gettext(self, english: str, /, **values: Any) -> str:
        """The translation of a text, its placeholders in braces filled; the English text where there is none."""
        text = _translations(self.code).gettext(english) if english else english
        return self.tight(text, values).format(**values) if values else text

    def pgettext(self, context: str, english: str, /, **values: Any) -> str:
        """As ``gettext``, for an English text whose translation depends on its place."""
        text = _translations(self.code).pgettext(context, english)
        return text.format(**values) if values else text

    def form(self, singular: str, plural: str, count: int, /) -> str:
        """The translation of the form for a count, its placeholders not filled."""
        return _translations(self.code).ngettext(singular, plural, count)

    def ngettext(self, singular: str, plural: str, count: int, /, **values: Any) -> str:
        """As ``gettext``, by count; ``{count}`` is filled."""
        return self.form(singular, plural, count).format(count=count, **values)

    def render(self, message: Message) -> str:
        """The text of a message. One whose code is unknown, or that lacks parameters, shows code and parameters."""
        if message.code == QUOTED:
            return str(message.parameters.get("text", ""))
        values = {name: self._rendered(value) for name, value in message.parameters.items()}
        try:
            return self.tight(self.gettext(texts()[message.code]), values).format(**values)
        except (KeyError, ValueError, IndexError):
            return " ".join([message.code, *(f"{name}={value}" for name, value in values.items())])

    def tight(self, text: str, values: Mapping[str, object]) -> str:
        """Remove the space between a Chinese text and the place of a Chinese value: it is there for Latin words."""
        for name, value in values.items() if self.code == "zh" else ():
            if BEGINS_HAN.match(str(value)):
                text = re.sub(rf"(?<={HAN}) (?={{{name}}})", "", text)
            if ENDS_HAN.search(str(value)):
                text = re.sub(rf"(?<={{{name}}}) (?={HAN})", "", text)
        return text

    def _rendered(self, value: Value) -> str | int | float:
        if isinstance(value, tuple):
            return self.semicolon.join(map(self.render, value))
        if isinstance(value, float):
            return _Number(value)
        return self.render(value) if isinstance(value, Message) else value


class _Number(float):
    """Accepts ``{value:amount}`` in a text: as ``four_digits``. A ``%`` gives ``1.3 %``."""

    def __format__(self, specification: str) -> str:
        if specification == "amount":
            return four_digits(float(self), aligned=True)
        return format(float(self), specification).replace("%", " %")


ENGLISH = Language("en")
CHINESE = Language("zh", "、", "：", "", "；")
LANGUAGES: Mapping[Code, Language] = {"en": ENGLISH, "zh": CHINESE}


def preferred_language(environment: Mapping[str, str] = os.environ) -> Language:
    """The language that the environment asks for: ``DLPERF_LANGUAGE``, else the locale."""
    for name in ("DLPERF_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = environment.get(name, "")[:2].lower()
        if value:
            return next((language for language in LANGUAGES.values() if language.code == value), ENGLISH)
    return ENGLISH


@cache
def _translations(code: Code) -> gettext.NullTranslations:
    """The catalogue, compiled in memory: there is no compiled file that could be out of date."""
    path = CATALOGUES / code / "LC_MESSAGES" / "dlperf.po"
    if code == "en":
        return gettext.NullTranslations()
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with path.open("rb") as stream:
        catalogue = read_po(stream, locale=code)
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)
