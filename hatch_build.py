"""Write the commit into what is built in a checkout, so that a development build can say it."""

import runpy
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add ``dlperf/commit.txt`` to a wheel; an editable install asks git when it runs."""
        root = Path(self.root)
        commit = runpy.run_path(str(root / "tui/dlperf/version.py"))["commit_of"](root)
        if commit and self.target_name == "wheel" and version != "editable":
            file = Path(tempfile.mkdtemp()) / "commit.txt"
            file.write_text(f"{commit}\n", "utf-8")
            build_data["force_include"][str(file)] = "dlperf/commit.txt"
