"""The languages that the pages are written in."""

from __future__ import annotations

from dataclasses import dataclass

from dlperf.report.words import WORDS
from dlperf.report.words.stored import SEVERITIES, STATES
from dlperf.sentences.chinese import in_chinese


@dataclass(frozen=True)
class Language:
    """One of the languages that the site is written in."""

    code: str
    column: int
    separator: str
    colon: str
    gap: str
    """Between two sentences."""

    def words(self, key: str) -> str:
        """The words for ``key``, with the places for values still in them."""
        return WORDS[key][self.column]

    def __call__(self, key: str, **values: str) -> str:
        """The words for ``key``; values are put in as they are, so they must be Markdown already."""
        words = self.words(key)
        return words.format(**values) if values else words

    def sentence(self, stored: str) -> str:
        """What dlperf said when it planned or measured, in the page's language, as plain text.

        What a program or a person said stays as it was.
        """
        return in_chinese(stored) if self.code == "zh" else stored

    def state(self, stored: str) -> str:
        """Where a trial stands, or how it ended, in the page's language."""
        return STATES.get(stored, stored) if self.code == "zh" else stored

    def severity(self, stored: str) -> str:
        return SEVERITIES.get(stored, stored) if self.code == "zh" else stored


ENGLISH = Language("en", 0, ", ", ": ", " ")
CHINESE = Language("zh", 1, "、", "：", "")
LANGUAGES = (ENGLISH, CHINESE)
