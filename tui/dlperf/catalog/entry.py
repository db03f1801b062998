"""What every catalogue entry is made of: an id, texts, and the types of its fields.

Every entry is one YAML mapping with an ``id``. Models are frozen, forbid unknown keys and do not
coerce types, so that a typing error in a file is reported.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dlperf.catalog.machines import Preparation, ShellLine, Word
from dlperf.catalog.plugins import LAUNCHERS, or_installed
from dlperf.messages import Code

Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{0,62}$")]
Scale = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,4}n[1-9][0-9]{0,2}g$")]
LauncherName = Literal[
    "plain",
    "torchrun",
    "multiproc",
    "mpirun",
    "horovodrun",
    "paddle",
    "paddle-ips",
    "paddle-cluster",
    "jax",
    "tensorflow",
]
"""How processes are started; each is a function of ``dlperf.render.launchers``."""
Launcher = Annotated[LauncherName, or_installed(LAUNCHERS)]
Device = Literal["gpu", "cpu"]
Option = str | int | float | bool
AxisName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,30}$")]
MetricId = AxisName
Unit = Annotated[str, StringConstraints(pattern=r"^\S.{0,29}$")]
AxisText = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+-]{0,40}$")]
AxisValues = Annotated[tuple[AxisText | int | float, ...], Field(min_length=1)]
PositiveInt = Annotated[int, Field(gt=0)]
VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Environment = dict[VariableName, str]
Command = Annotated[tuple[str, ...], Field(min_length=1)]
BuildLines = tuple[ShellLine, ...]
"""Lines of bash that run once on each node and content, before its first trial, in the folder ``{build}``."""
FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")]
PackageName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$")]
Seconds = Annotated[float, Field(gt=0)]


class Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Translation(Model):
    """An entry's texts in another language; where one is empty, the English text stands."""

    title: str = ""
    """Of the entry."""
    description: str = ""
    """Of the entry."""
    version: str = ""
    """Of a framework."""
    source: str = ""
    """Of the entry."""
    facts: dict[str, str] = {}
    """Values of the entry's facts, by name."""
    told_later: dict[str, dict[str, str]] = {}
    """The same of facts that became known later, by the beginning of the names of campaigns."""


class Entry(Model):
    """What every catalogue entry has."""

    id: Id
    """Its name in commands, files and references."""
    title: str
    """What readers see."""
    description: str = ""
    """A sentence or two for readers."""
    source: str = ""
    """Where the facts come from: report, paper, data sheet, commit."""
    zh: Translation | None = None
    """In Chinese; names of products stay as they are."""

    def localized(self, language: Code) -> Self:
        """The entry in a language, English where it has no translation."""
        if language == "en" or self.zh is None:
            return self
        texts = {name: getattr(self.zh, name) for name in ("title", "description", "version", "source")}
        return self.model_copy(update={name: text for name, text in texts.items() if text and hasattr(self, name)})


class PreparedEntry(Entry):
    """An entry that prepares the shell in which programs start."""

    modules: tuple[Word, ...] = ()
    """Environment modules (Lmod, environment-modules) that are loaded first, such as ``cuda/12.4``."""
    prologue: tuple[ShellLine, ...] = ()
    """Lines of bash that run next, as they are, without placeholders: ``source /opt/venv/bin/activate``.

    One that fails ends the trial. Hardware's come first and run on the node, before a container's runtime; a
    framework's run where its program does, in the container if it has one.
    """

    @property
    def preparation(self) -> Preparation:
        return Preparation(self.modules, self.prologue)
