"""What each command loads: a command that reads files starts without the libraries of those that do more."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {"asyncssh", "pandas", "textual", "mkdocs", "numpy", "rich"}
PARSING = HEAVY | {"pydantic", "yaml", "asyncio"}

PROBE = """
import json, sys
from dlperf.cli import main
try:
    main(sys.argv[1:])
except SystemExit as leaving:
    code = leaving.code
print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]), file=sys.stderr)
"""


def loaded(counting, *words: str) -> set[str]:
    """The top-level modules in memory after a command."""
    command = [sys.executable, "-c", PROBE, "--workspace", str(counting.workspace.root), *words]
    done = subprocess.run(command, env=counting.environment, capture_output=True, text=True, check=True)
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    return set(modules)


def test_help_loads_no_library_but_typer(counting):
    assert loaded(counting, "--help") & PARSING == set()


@pytest.mark.parametrize("words", [["run", "--help"], ["catalog", "--help"]])
def test_the_help_of_a_command_loads_what_typer_loads_and_no_more(counting, words):
    assert loaded(counting, *words) & PARSING == {"pydantic"}


@pytest.mark.parametrize(
    "words",
    [
        ["status"],
        ["status", "try", "--json"],
        ["logs", "32_1n1g/1"],
        ["catalog", "cases"],
        ["plan", "-H", "local", "-f", "counting"],
        ["parse", "LOG"],
        ["results", "--json"],
    ],
)
def test_commands_that_read_files_reach_no_machine_and_draw_nothing(measured, words):
    log = (
        measured.campaign("try").directory
        / "local_counting_lenet5_fp32_bs32_1n1g"
        / "1"
        / "nodes"
        / "local"
        / "out.log"
    )
    assert loaded(measured, *[str(log) if word == "LOG" else word for word in words]) & HEAVY == set()


def test_the_engine_on_this_machine_needs_no_ssh_and_draws_nothing(counting):
    modules = loaded(counting, "run", "-H", "local", "-f", "counting", "-c", "lenet5", "-b", "32", "--repeats", "1")
    assert modules & HEAVY == set()
