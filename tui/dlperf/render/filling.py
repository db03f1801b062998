"""Filling the placeholders of a launch that only a starting trial knows. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from dlperf.catalog.placeholders import finish
from dlperf.errors import RequestError
from dlperf.plan.model import ContainerPlan, Launch


@dataclass(frozen=True)
class Filler:
    """Puts one node's values in the place of placeholders.

    Raises:
        RequestError: from every method, if a placeholder has no value.
    """

    values: Mapping[str, str]

    def text(self, template: str) -> str:
        try:
            return finish(template, self.values)
        except KeyError as error:
            raise RequestError(f"placeholder {{{error.args[0]}}} in {template!r} has no value: plan again") from error

    def texts(self, templates: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self.text, templates))

    def launch(self, launch: Launch) -> Launch:
        return replace(
            launch,
            interpreter=self.texts(launch.interpreter),
            command=self.texts(launch.command),
            launcher_options=self.texts(launch.launcher_options),
            env={name: self.text(value) for name, value in launch.env.items()},
            setup=tuple(map(self.texts, launch.setup)),
            workdir=launch.workdir and self.text(launch.workdir),
            container=launch.container and self.container(launch.container),
        )

    def container(self, container: ContainerPlan) -> ContainerPlan:
        return replace(
            container,
            image=self.text(container.image),
            mounts={self.text(source): self.text(target) for source, target in container.mounts.items()},
            workdir=container.workdir and self.text(container.workdir),
            options=self.texts(container.options),
        )
