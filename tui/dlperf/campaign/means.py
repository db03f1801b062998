"""What an engine needs beside the campaign itself: executors, and the formats of the workspace's catalogue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dlperf.catalog.load import load_formats
from dlperf.catalog.model import LogFormat
from dlperf.errors import RequestError
from dlperf.executors.base import Executor
from dlperf.formats.registry import format_ids
from dlperf.runs.paths import Workspace
from dlperf.runs.records import CampaignRecord

OpenExecutor = Callable[[str], Executor]
"""Name → executor; to be called once for each name."""


@dataclass(frozen=True)
class Means:
    """How trials are run and read."""

    open_executor: OpenExecutor
    formats: tuple[LogFormat, ...] = ()
    """Of the workspace's catalogue, beside the built-in ones."""


def means_of(workspace: Workspace, record: CampaignRecord) -> Means:
    """The means for a campaign of a workspace.

    The formats of the workspace's catalogue are read only where one of them is used: a mistake that is just being made
    there does not keep a campaign from being resumed.

    Raises:
        CatalogError: such a format is used, and something is wrong with it or another.
    """
    own = {item.format for item in record.configurations} - set(format_ids())
    formats = load_formats(workspace.catalog) if own else ()
    return Means(executors_of(workspace), formats)


def executors_of(workspace: Workspace) -> OpenExecutor:
    """Opens executors that find a workspace's own training programs."""

    def open_executor(name: str) -> Executor:
        if name == "direct":
            from dlperf.executors.direct import DirectExecutor

            return DirectExecutor(workspace.catalog)
        if name == "slurm":
            from dlperf.executors.slurm import SlurmExecutor

            return SlurmExecutor(workspace.catalog)
        raise RequestError(f"executor {name!r}: is not known")

    return open_executor
