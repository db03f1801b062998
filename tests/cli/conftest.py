"""The command line as an operator types it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dlperf.cli import main

Typed = Callable[..., tuple[int, str, str]]


@pytest.fixture
def dlperf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Typed:
    """Run a command in an empty folder: exit code, standard output, standard error."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as leaving:
            main(arguments)
        out, err = capfd.readouterr()
        return int(leaving.value.code or 0), out, err

    return run
