"""Texts in the language that a person chose, and the language that the environment asks for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from dlperf.messages import _, preferred_language, use_language


@pytest.fixture(autouse=True)
def _english_afterwards() -> Iterator[None]:
    yield
    use_language("en")


def test_texts_are_in_the_language_chosen() -> None:
    use_language("zh")
    assert _("{count} running", count=3) == "3 个运行中"
    use_language("en")
    assert _("{count} running", count=3) == "3 running"


def test_a_text_without_a_translation_stays_english() -> None:
    use_language("zh")
    assert _("rank 3 cannot be reached (timeout)") == "rank 3 cannot be reached (timeout)"


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "DLPERF_LANGUAGE": "zh"}, "zh"),
    ],
)
def test_the_language_is_that_of_the_locale(environment: dict[str, str], language: str) -> None:
    assert preferred_language(environment).code == language


def test_english_screens_start_without_babel() -> None:
    program = "import sys, dlperf.app.app; from dlperf.messages import _; _('Campaigns'); print('babel' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ended.stdout.strip() == "False"
