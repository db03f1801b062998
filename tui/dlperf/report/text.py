"""The languages that the pages are written in."""

from __future__ import annotations

from dataclasses import dataclass

from dlperf.report.words import WORDS


@dataclass(frozen=True)
class Language:
    """One of the languages that the site is written in."""

    code: str
    column: int
    separator: str

    def words(self, key: str) -> str:
        """The words for ``key``, with the places for values still in them."""
        return WORDS[key][self.column]

    def __call__(self, key: str, **values: str) -> str:
        """The words for ``key``; values are put in as they are, so they must be Markdown already."""
        words = self.words(key)
        return words.format(**values) if values else words


ENGLISH = Language("en", 0, ", ")
CHINESE = Language("zh", 1, "、")
LANGUAGES = (ENGLISH, CHINESE)
