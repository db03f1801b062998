"""The README promises; here its promises are kept."""

from __future__ import annotations

import re
import shlex
from csv import DictReader
from pathlib import Path

import pytest

from dlperf.catalog.files.load import load_catalog
from dlperf.cli import main

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
KINDS = ("hardware", "frameworks", "cases", "formats")


def typed(*words: str) -> int:
    with pytest.raises(SystemExit) as leaving:
        main(words)
    return int(leaving.value.code or 0)


def test_the_examples_are_right_entries_of_a_catalogue(tmp_path):
    examples = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    assert len(examples) == len(KINDS)
    for kind, example in zip(KINDS, examples, strict=True):
        (tmp_path / f"{kind}.yaml").write_text(example)
    catalog = load_catalog(tmp_path)
    assert {"my-v100", "my-stack", "my-model", "my-format"} <= {
        *catalog.hardware,
        *catalog.frameworks,
        *catalog.cases,
        *catalog.formats,
    }


def test_the_commands_of_the_examples_run(tmp_path, monkeypatch):
    (block,) = (text for text in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) if "dlperf parse" in text)
    monkeypatch.chdir(tmp_path)
    records = (f"DLPERF 2026-01-31T12:00:{n}.000000Z step={n} samples={64 * n} throughput=64\n" for n in range(10, 60))
    Path("training.log").write_text("".join(records))
    for line in block.splitlines():
        words = shlex.split(line, comments=True)[1:]
        words[0] = words[0].replace("run", "plan")  # which needs neither PyTorch nor a minute
        assert typed(*words) == 0, line


@pytest.mark.parametrize("command", sorted(set(re.findall(r"`dlperf ([a-z-]+)", README))))
def test_a_command_that_is_named_exists(command):
    assert typed(command, "--help") == 0


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_a_file_that_is_linked_exists(target):
    assert (ROOT / target).exists()


def test_the_reports_are_counted_as_they_are():
    tables = [file.read_text().splitlines() for file in (ROOT / "runs/published").glob("*/figures.csv")]
    count = sum(any(row["value"] != "-" for row in DictReader(lines)) for lines in tables)
    assert f"results of {count} public reports" in README
