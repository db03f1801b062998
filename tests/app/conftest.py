"""A workspace for every test, and a clock in UTC."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from builder import make_workspace

from dlperf.messages import use_language
from dlperf.runs.paths import WorkspacePaths
from sshd import sshd

__all__ = ["sshd"]


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspacePaths:
    return make_workspace(tmp_path)


@pytest.fixture(autouse=True)
def _times_in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()
    use_language("en")


@pytest.fixture(autouse=True)
def _questions_listen_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pilot needs no time to read them; the real terminal's tests have the real patience."""
    monkeypatch.setattr("dlperf.app.dialogs.confirm.PATIENCE_SECONDS", 0.0)


@pytest.fixture(autouse=True)
def _notices_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, a test finds a notice that came."""
    monkeypatch.setattr("dlperf.app.screens.base.REFUSAL_SECONDS", 600.0)
    monkeypatch.setattr("dlperf.app.app.DlperfApp.NOTIFICATION_TIMEOUT", 600.0)
