"""Every word of the screens can be said in Chinese, with the same values filled in."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

import dlperf.app
from dlperf.app.actions import ACTIONS, EVERYWHERE
from dlperf.app.model.comparison import VERDICTS
from dlperf.app.model.presets import PRESETS
from dlperf.app.model.trials import WORDS
from dlperf.app.screens.campaigns import CampaignsScreen
from dlperf.app.screens.choose import TITLES, ChooseScreen
from dlperf.app.screens.help import LISTS
from dlperf.app.screens.publish import PublishScreen
from dlperf.app.screens.results import ResultsScreen
from dlperf.app.screens.trial import PAGES, TrialScreen
from dlperf.app.screens.watch import WatchScreen
from dlperf.app.words import preferred_language, say, told, translation, use_language
from dlperf.view.campaigns import Standing

CHINESE = translation("zh")
SOURCE = Path(dlperf.app.__file__).parent
SCREENS = (CampaignsScreen, ChooseScreen, WatchScreen, TrialScreen, ResultsScreen, PublishScreen)
FIRST_ARGUMENTS = {"say", "_line", "_range"}
"""Functions that say their first argument."""


def texts_in_code() -> Iterator[str]:
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FIRST_ARGUMENTS:
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    yield first.value


def texts_in_tables() -> Iterator[str]:
    for action in (*EVERYWHERE, *(action for actions in ACTIONS.values() for action in actions)):
        yield from (action.text, action.help)
    yield from (screen.about for screen in SCREENS)
    yield from (title for _, title in PAGES)
    yield from (words for _, words in LISTS)
    yield from (preset.about for preset in PRESETS)
    yield from (standing.value for standing in Standing)
    yield from WORDS.values()
    yield from VERDICTS
    yield from TITLES.values()


ALL_TEXTS = sorted({*texts_in_code(), *texts_in_tables()})


def placeholders(text: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.fixture(autouse=True)
def _english_afterwards() -> Iterator[None]:
    yield
    use_language("en")


def test_every_text_has_a_translation():
    assert [text for text in ALL_TEXTS if text not in CHINESE] == []


def test_a_translation_fills_the_same_values():
    assert [text for text, chinese in CHINESE.items() if placeholders(text) != placeholders(chinese)] == []


def test_words_are_said_in_the_language_chosen():
    use_language("zh")
    assert say("{count} running", count=3) == "3 个运行中"
    use_language("en")
    assert say("{count} running", count=3) == "3 running"


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
def test_the_language_is_that_of_the_locale(environment: dict[str, str], language: str):
    assert preferred_language(environment) == language


def test_what_was_stored_in_english_is_told_in_the_language_of_the_screens() -> None:
    stored = "the speed falls by 3.1% over the measured window: no steady state"
    assert told(stored) == stored
    use_language("zh")
    assert told(stored) == "测量窗口内速度下降 3.1%：未达到稳态"
    assert told("exited with 1: RuntimeError: boom") == "exited with 1: RuntimeError: boom"
    assert told("not ready: n1: disk: 0.4 GiB free in the home directory") == "未就绪：n1：磁盘：主目录剩余 0.4 GiB"
