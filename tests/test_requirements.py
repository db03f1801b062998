"""``requirements.lock`` pins, with hashes, everything that an install of dlperf needs."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCKED = (ROOT / "requirements.lock").read_text()
ENVIRONMENT = {"extra": ""}


def locked() -> dict[str, str]:
    """Return the pinned version of each package that is installed here."""
    lines = [line.rstrip(" \\") for line in LOCKED.splitlines() if re.match(r"\w", line)]
    pins = [pin for pin in map(Requirement, lines) if pin.marker is None or pin.marker.evaluate()]
    return {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in pins}


def test_every_dependency_is_pinned_in_the_range_that_the_project_allows():
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    pins = locked()
    for requirement in map(Requirement, stated):
        assert pins[canonicalize_name(requirement.name)] in requirement.specifier, f"{requirement}: make the lock anew"


def test_what_dependencies_depend_on_is_pinned_too():
    pins = locked()
    for name in pins:
        for needed in map(Requirement, requires(name) or ()):
            if needed.marker is None or needed.marker.evaluate(ENVIRONMENT):
                assert canonicalize_name(needed.name) in pins, f"{needed} of {name}: make the lock anew"


def test_every_pin_has_hashes():
    entries = re.split(r"\n(?=\w)", LOCKED)[1:]
    assert len(entries) > 30
    assert all("--hash=sha256:" in entry for entry in entries)


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda path: path.name)
def test_a_workflow_uses_actions_by_their_commit(path: Path):
    used = re.findall(r"uses: (\S+)", path.read_text())
    assert used
    assert [name for name in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", name)] == []


def test_the_site_is_built_from_the_lock_and_after_verification():
    lines = re.findall(r"- run: (.*)", (ROOT / ".github" / "workflows" / "site.yml").read_text())
    first = next(line for line in lines if "pip install" in line)
    assert first.startswith("pip install --require-hashes -r requirements.lock")
    assert lines.index("dlperf verify") < lines.index("dlperf build-site --strict")
