"""Plan two versions of a program side by side in one campaign: commits, environments, locks or images. Pure."""

import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import PurePosixPath

from dlperf.catalog.axes import REVISION
from dlperf.errors import RequestError
from dlperf.plan.launch import INSTALLER
from dlperf.plan.model import Launch, Plan, PlannedConfiguration, Version

ACTIVATE = "bin/activate"
"""What sources a Python environment, below its folder."""
FACTS = ("commit", "image", "packages")
"""What a version states of itself, among the facts of its configurations."""


def plan_versions(plan: Plan, versions: Iterable[Version], repeats: int, uncounted: int = 0) -> Plan:
    """Return a plan of each configuration in each version, which run in turns.

    Args:
        repeats: trials of each that count.
        uncounted: trials of each before those.

    Raises:
        RequestError: a configuration has not what a version replaces, or has the axis ``revision`` already.
    """
    chosen = tuple(versions)
    sides = (_of_version(item, version) for item in plan.configurations for version in chosen)
    found = (replace(item, repeats=repeats, uncounted=uncounted) for item in sides)
    return replace(plan, configurations=tuple(found))


def _of_version(item: PlannedConfiguration, version: Version) -> PlannedConfiguration:
    point = item.configuration
    if why := _unfit(item, version):
        raise RequestError(f"{point.id}: {why}")
    return replace(
        item,
        configuration=replace(point, axes=(*point.axes, (REVISION, version.label))),
        launch=_launch(item.launch, version),
        version=version,
        facts=item.facts | {name: text for name in FACTS if (text := getattr(version, name))},
    )


def _unfit(item: PlannedConfiguration, version: Version) -> str | None:
    """Return why a configuration has no such version."""
    launch = item.launch
    if REVISION in dict(item.configuration.axes):
        return f"has an axis {REVISION} already"
    if version.image:
        return None if launch.container else "runs in no container: name its image as `container`"
    if version.requirements and launch.requirements:
        return None
    return "runs in a container: compare its images (image:NAME)" if launch.container else None


def _launch(launch: Launch, version: Version) -> Launch:
    if version.image and launch.container:
        return replace(launch, container=replace(launch.container, image=version.image))
    if version.requirements:
        return _with_lock(launch, version.requirements)
    activation = ((".", f"{version.environment}/{ACTIVATE}"),) if version.environment else ()
    changed = launch.with_texts(_change(version))
    build = tuple(_moved_line(line, version) for line in launch.build)
    return replace(changed, setup=(*activation, *changed.setup), build=build)


def _with_lock(launch: Launch, lock: str) -> Launch:
    """Install a lock in place of the one that the framework names, or before the packages of the node's Python."""
    before = launch.requirements
    if not before:
        install = shlex.join(((*launch.interpreter, "python3")[0], INSTALLER, "install", lock, "site"))
        path = ":".join(filter(None, ("{build}/site", launch.env.get("PYTHONPATH"))))
        env = launch.env | {"PYTHONPATH": path}
        files, build = (*launch.files, lock, INSTALLER), (install, *launch.build)
        return replace(launch, files=files, build=build, requirements=lock, env=env)
    files = tuple(lock if name == before else name for name in launch.files)
    build = (launch.build[0].replace(before, lock), *launch.build[1:])  # the first line installs it
    return replace(launch, files=files, build=build, requirements=lock)


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
