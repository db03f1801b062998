"""A workspace with two measured campaigns, and commands in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_commands import Command, Done

from dlperf.cli import main
from dlperf.runs.paths import WorkspacePaths
from handmade_trials import measured_campaign, planned, workspace_in


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspacePaths:
    workspace = workspace_in(tmp_path / "w")
    measured_campaign(workspace, "a", [(planned(1), [100.0, 101.0, 99.0]), (planned(2), [190.0, 191.0, 189.0])])
    measured_campaign(workspace, "b", [(planned(1), [90.0, 91.0, 89.0])])
    return workspace


@pytest.fixture
def run(workspace: WorkspacePaths, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """``dlperf`` with these words, in the workspace."""
    monkeypatch.chdir(workspace.root)

    def command(*words: str) -> Done:
        with pytest.raises(SystemExit) as exit_:
            main(words)
        captured = capsys.readouterr()
        return Done(int(exit_.value.code or 0), captured.out, captured.err)

    return command
