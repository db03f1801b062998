"""The words of the screens in English and Chinese. The English text is the key, as in gettext."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal, get_args

from dlperf.app.chinese import CHINESE

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

_TRANSLATIONS: dict[Language, Mapping[str, str]] = {"en": {}, "zh": CHINESE}
_current: Mapping[str, str] = _TRANSLATIONS["en"]


def use_language(language: Language) -> None:
    """Say everything from now on in this language."""
    global _current
    _current = _TRANSLATIONS[language]


def say(text: str, /, **values: Any) -> str:
    """``text`` in the current language, its placeholders in braces filled."""
    translated = _current.get(text, text)
    return translated.format(**values) if values else translated


def preferred_language(environment: Mapping[str, str] = os.environ) -> Language:
    """The language that the environment asks for: ``DLPERF_LANGUAGE``, else the locale."""
    for name in ("DLPERF_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = environment.get(name, "")[:2].lower()
        if value:
            return value if value in LANGUAGES else "en"
    return "en"
