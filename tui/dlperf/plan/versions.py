"""Plan two versions of a program, a commit or an environment each, side by side in one campaign. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import PurePosixPath

from dlperf.catalog.axes import REVISION
from dlperf.errors import RequestError
from dlperf.plan.model import Launch, Plan, PlannedConfiguration, Version

ACTIVATE = "bin/activate"
"""What sources a Python environment, below its folder."""


def plan_versions(plan: Plan, versions: Iterable[Version], repeats: int, uncounted: int = 0) -> Plan:
    """Return a plan of each configuration in each version, which run in turns.

    Args:
        repeats: trials of each that count.
        uncounted: trials of each before those.

    Raises:
        RequestError: a configuration runs in a container or has the axis ``revision`` already.
    """
    chosen = tuple(versions)
    sides = (_of_version(item, version) for item in plan.configurations for version in chosen)
    found = (replace(item, repeats=repeats, uncounted=uncounted) for item in sides)
    return replace(plan, configurations=tuple(found))


def _of_version(item: PlannedConfiguration, version: Version) -> PlannedConfiguration:
    point = item.configuration
    if item.launch.container or REVISION in dict(point.axes):
        why = "runs in a container" if item.launch.container else f"has an axis {REVISION}"
        raise RequestError(f"{point.id}: {why}: versions are of programs that run directly, under other axes")
    return replace(
        item,
        configuration=replace(point, axes=(*point.axes, (REVISION, version.label))),
        launch=_launch(item.launch, version),
        version=version,
        facts=item.facts | ({"commit": version.commit} if version.commit else {}),
    )


def _launch(launch: Launch, version: Version) -> Launch:
    activation = ((".", f"{version.environment}/{ACTIVATE}"),) if version.environment else ()
    changed = launch.with_texts(_change(version))
    build = tuple(_moved_line(line, version) for line in launch.build)
    return replace(changed, setup=(*activation, *changed.setup), build=build)


def _moved_line(line: str, version: Version) -> str:
    """Replace the checkout's path in a line of a build, so that each commit has a build of its own."""
    if not version.moved:
        return line
    before, after = version.moved
    return re.sub(rf"{re.escape(before)}(?![\w.-])", lambda _: after, line)


def _change(version: Version) -> Callable[[str], str]:
    """Return a function that moves paths of the checkout and programs of another environment to those of a version."""

    def change(text: str) -> str:
        path = PurePosixPath(text)
        if version.environment and path.is_absolute() and path.name in version.programs:
            return f"{version.environment}/bin/{path.name}"
        if version.moved and path.is_relative_to(version.moved[0]):
            return str(PurePosixPath(version.moved[1]) / path.relative_to(version.moved[0]))
        return text

    return change


def plan_version_again(plan: Plan, original: PlannedConfiguration, repeats: int) -> Plan:
    """Return a plan of the version of a program that a result was measured with.

    Raises:
        RequestError: the program lies elsewhere now.
    """
    version = original.version
    assert version is not None
    again = plan_versions(plan, [version], repeats)
    for item in again.configurations:
        if item.launch.workdir != original.launch.workdir:
            folder = version.moved[0] if version.moved else original.launch.workdir
            raise RequestError(f"{item.configuration.framework}: measured in {folder}: name it as `workdir` again")
    return again
