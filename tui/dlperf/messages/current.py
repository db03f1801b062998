"""The language that this program writes in now, for texts that are made where they are shown."""

from typing import Any

from dlperf.messages.language import ENGLISH, LANGUAGES, Code, Language
from dlperf.messages.message import Message

_current = ENGLISH


def use_language(code: Code) -> None:
    """Write everything from now on in this language."""
    global _current
    _current = LANGUAGES[code]


def language() -> Language:
    """The current language."""
    return _current


def _(english: str, /, **values: Any) -> str:
    """The text in the current language, its placeholders in braces filled."""
    return _current.gettext(english, **values)


def pgettext(context: str, english: str, /, **values: Any) -> str:
    """As ``_``, for an English text whose translation depends on its place."""
    return _current.pgettext(context, english, **values)


def render(message: Message) -> str:
    """The text of a message in the current language."""
    return _current.render(message)
