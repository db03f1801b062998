"""Typing pages of the guide as a reader would."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from dlperf.cli import main

ROOT = Path(__file__).resolve().parent.parent
GUIDE = ROOT / "site" / "docs" / "guide"

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`((?:catalog/[^`]+|hello|train)\.(?:py|yaml))`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shown(page: Path) -> list[str]:
    """Every block, with the lines together that a backslash breaks."""
    return [text.replace("\\\n", "") for _, text in BLOCK.findall(page.read_text())]


def commands(page: Path) -> list[str]:
    typed = [text for language, text in BLOCK.findall(page.read_text()) if language == "sh"]
    return [line for text in typed for line in text.splitlines()]


@pytest.fixture
def typed(tmp_path, monkeypatch, capsys):
    """Type a line; its standard output."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    def run(line: str) -> str:
        for command in line.split(" && "):
            program, *words = shlex.split(command, comments=True)
            if program == "cd":
                monkeypatch.chdir(words[0])
                continue
            if program in ("git", "sed"):
                subprocess.run([program, *words], check=True)
                continue
            assert program == "dlperf"
            with pytest.raises(SystemExit) as leaving:
                main(words)
            code = int(command.rpartition("# ends with ")[2]) if "# ends with " in command else 0
            assert leaving.value.code == code, f"{command}: {capsys.readouterr().err}"
        return capsys.readouterr().out

    return run


def type_page(typed, folder: Path, page: Path) -> list[str]:
    """Type the commands of a page after writing its files; return what each but the first prints."""
    first, *others = commands(page)
    typed(first)
    for path, text in FILE.findall(page.read_text()):
        place = folder / "bench" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return [typed(line) for line in others]
