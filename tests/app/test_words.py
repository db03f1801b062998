"""What was stored in English is shown in the language of the screens."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dlperf.app.words import told

from dlperf.messages import use_language


@pytest.fixture(autouse=True)
def _english_afterwards() -> Iterator[None]:
    yield
    use_language("en")


def test_what_was_stored_in_english_is_told_in_the_language_of_the_screens() -> None:
    stored = "the speed falls by 3.1% over the measured window: no steady state"
    assert told(stored) == stored
    use_language("zh")
    assert told(stored) == "测量窗口内速度下降 3.1%：未达到稳态"
    assert told("exited with 1: RuntimeError: boom") == "exited with 1: RuntimeError: boom"
    assert told("not ready: n1: disk: 0.4 GiB free in the home directory") == "未就绪：n1：磁盘：主目录剩余 0.4 GiB"
