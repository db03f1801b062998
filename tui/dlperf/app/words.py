"""The words of the screens in English and Chinese. The English text is the key, as in gettext."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

_TRANSLATIONS: dict[Language, str] = {"zh": "chinese.toml"}
"""Files beside this one, by language; English needs none."""
_current: Mapping[str, str] = {}
_language: Language = "en"


def translation(language: Language) -> Mapping[str, str]:
    """English text → the same in a language."""
    file = _TRANSLATIONS.get(language)
    return tomllib.loads((Path(__file__).parent / file).read_text("utf-8")) if file else {}


def use_language(language: Language) -> None:
    """Say everything from now on in this language."""
    global _current, _language
    _current, _language = translation(language), language


def say(text: str, /, **values: Any) -> str:
    """``text`` in the current language, its placeholders in braces filled."""
    translated = _current.get(text, text)
    return translated.format(**values) if values else translated


def told(stored: str) -> str:
    """What dlperf said in English when it planned or measured, in the current language; any other text as it is."""
    if _language == "en":
        return stored
    from dlperf.sentences.chinese import in_chinese

    return in_chinese(stored)


def language() -> Language:
    """What the screens speak now."""
    return _language


def preferred_language(environment: Mapping[str, str] = os.environ) -> Language:
    """The language that the environment asks for: ``DLPERF_LANGUAGE``, else the locale."""
    for name in ("DLPERF_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = environment.get(name, "")[:2].lower()
        if value:
            return value if value in LANGUAGES else "en"
    return "en"
