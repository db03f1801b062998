"""The page of the benchmarks: one section is made anew, the others keep what was measured."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from dlperf.table.load import load_results

FOLDER = Path(__file__).parents[1] / "benchmarks"


def program(name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(f"{name}_benchmark", FOLDER / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    # classes look their module up
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def page() -> ModuleType:
    """The program that writes the page."""
    return program("run")


@pytest.mark.parametrize(("false", "missed"), [(10, False), (15, False), (25, True)])
def test_a_simulation_fails_where_a_share_is_beyond_its_limit_by_more_than_chance(false: int, missed: bool):
    simulations = program("verdicts")
    row = simulations.Row("one", lambda seed: ("worse", seed), "worse", {"right": 95}, {"better,worse": 1})
    counts = Counter(worse=false, right=1000 - false)
    assert row.reach == "≥ 95 % right, ≤ 1 % better or worse"
    assert row.missed(counts, 1000) is missed
    assert row.missed(Counter(right=900), 1000)


def test_a_section_is_replaced_and_the_others_stay(page: ModuleType):
    before = page.README.read_text()
    after = page.replaced(before, "parse", "words\n\nfigures")
    old, new = before.splitlines(), after.splitlines()
    start = old.index("## parse")
    assert new[: start + 4] == [*old[:start], "## parse", "", "words", ""]
    assert new[start + 4 : start + 6] == ["figures", ""]
    assert new[start + 6 :] == old[old.index("## orchestration") :]


def test_a_section_that_was_not_there_comes_at_its_place(page: ModuleType):
    whole = page.replaced(page.replaced("", "tui", "last"), "startup", "first")
    assert [line for line in whole.splitlines() if line.startswith("## ")] == ["## startup", "## tui"]
    assert whole.index("first") < whole.index("last")


def test_a_section_tells_what_was_found_and_under_which_conditions(page: ModuleType):
    assert page.formatted('{"lag_s": 0.123456, "lines": 10}\n') == "- lag s: 0.1235\n- lines: 10\n"
    assert re.match(r"Taken on 20\d\d-.* cores of .*, Python 3.*, load 0\.5 at the start, ", page.conditions(0.5))


def test_a_benchmark_that_does_not_exist_is_refused():
    done = subprocess.run([sys.executable, FOLDER / "run.py", "speed"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no benchmark speed: they are startup, parse" in done.stderr


def test_the_workspace_that_sites_are_timed_on_has_values(tmp_path: Path):
    (row,) = load_results(program("site").make_workspace(tmp_path, 1, 5))
    assert (row.n, row.findings) == (5, ())
