"""Presets of the user: what else is in their file is one line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dlperf.app.presets import save_preset, saved_presets
from dlperf.errors import RequestError
from dlperf.runs.paths import WorkspacePaths


@pytest.mark.parametrize(
    "text", ["{", "[]", "[" * 100_000, '{"a": null}', '{"a": ["x"]}', '{"a": "--repeats x"}', "\udcff"]
)
def test_a_damaged_file_is_said_in_one_line_and_not_replaced(tmp_path: Path, text: str) -> None:
    workspace = WorkspacePaths(tmp_path)
    workspace.presets.write_text(text, "utf-8", "surrogateescape")
    for use in (lambda: saved_presets(workspace), lambda: save_preset(workspace, "b", "--repeats 5")):
        with pytest.raises(RequestError, match=r"presets\.json: it holds names with options of `dlperf run`") as found:
            use()
        assert "\n" not in str(found.value)
    assert workspace.presets.read_text("utf-8", "surrogateescape") == text


def test_a_pipe_in_its_place_does_not_block(tmp_path: Path) -> None:
    workspace = WorkspacePaths(tmp_path)
    os.mkfifo(workspace.presets)
    with pytest.raises(RequestError, match="not a regular file"):
        saved_presets(workspace)
