"""Render the script that builds what a trial runs: once on each node, as long as what goes into it is the same."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePosixPath

BUILD = "build.sh"
"""The script that the supervisor runs with ``bash`` before the trial starts; its output is ``ranks/build.log``."""
_KEY_DIGITS = 16


@dataclass(frozen=True)
class Build:
    """What a trial needs to be built on a node, and from what."""

    prepared: tuple[str, ...]
    """Lines of bash that prepare the shell."""
    lines: tuple[str, ...]
    """Of the catalogue."""
    files: Mapping[str, bytes]
    """Name → content of the recipe's files."""

    @property
    def inputs(self) -> dict[str, bytes]:
        """The files that the lines name."""
        text = "\n".join(self.lines)
        return {
            name: data
            for name, data in self.files.items()
            if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text)
        }

    def folder(self, trial_folder: str) -> str:
        """Return its folder on the node, named by the content of all that goes into it."""
        digests = {name: sha256(data).hexdigest() for name, data in self.inputs.items()}
        content = json.dumps([self.prepared, self.lines, digests])
        key = sha256(content.encode()).hexdigest()[:_KEY_DIGITS]
        return str(PurePosixPath(trial_folder).parents[1] / "builds" / key)


def build_script(build: Build, trial_folder: str, comment: str) -> bytes:
    """Return the script, which does nothing where the folder is complete.

    A build that was cut off starts again, and of two at once the second waits: nodes may share their home folder. Where
    a line fails, ``build.failed`` gets the command.
    """
    folder = shlex.quote(build.folder(trial_folder))
    parent = shlex.quote(str(PurePosixPath(build.folder(trial_folder)).parent))
    lines = [
        *("#!/bin/bash", f"# build for {comment}", "set -eu"),
        *(f"mkdir -p {parent}", f"exec 9>{folder}.lock", "flock 9"),
        f"if [ -e {folder}.done ]; then echo used again: {folder}; exit; fi",
        *(f"rm -rf {folder}", f"mkdir {folder}", f"cd {folder}"),
        *(f"cp -- {shlex.quote(f'{trial_folder}/files/{name}')} ." for name in build.inputs),
        *build.prepared,
        f"dlperf_failed={shlex.quote(f'{trial_folder}/build.failed')}",
        """trap 'code=$?; [ $code = 0 ] || printf %s "$BASH_COMMAND" >"$dlperf_failed"' EXIT""",
        *build.lines,
        f"touch {folder}.done",
    ]
    return ("\n".join(lines) + "\n").encode()
