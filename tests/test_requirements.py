"""``requirements.lock`` pins, with hashes, everything that an install of dlperf needs."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import requires
from pathlib import Path

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
