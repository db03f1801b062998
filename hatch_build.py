"""Write the commit into what is built in a checkout, and a description that needs no files beside it."""

import re
import runpy
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

IMAGE, LINK = re.compile(r"!\[[^]]*\]\((?!https?:)[^)]*\)\n*"), re.compile(r"\[([^]]*)\]\((?!https?:)[^)]*\)")
"""Of a file of the repository: an index shows the README alone."""


class CommitHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add ``dlperf/commit.txt`` to a wheel; an editable install asks git when it runs."""
        root = Path(self.root)
        commit = runpy.run_path(str(root / "tui/dlperf/version.py"))["commit_of"](root)
        if commit and self.target_name == "wheel" and version != "editable":
            file = Path(tempfile.mkdtemp()) / "commit.txt"
            file.write_text(f"{commit}\n", "utf-8")
            build_data["force_include"][str(file)] = "dlperf/commit.txt"


class DescriptionHook(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        """Describe the package by the README, without its pictures and with the words of its links to files."""
        text = (Path(self.root) / "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": LINK.sub(r"\1", IMAGE.sub("", text))}
