"""Causes and findings that were stored as English sentences, in the language of the screens."""

from __future__ import annotations

from dlperf.messages import language


def told(stored: str) -> str:
    """What dlperf said in English when it planned or measured, in the current language; any other text as it is."""
    if language().code == "en":
        return stored
    from dlperf.sentences.chinese import in_chinese

    return in_chinese(stored)
