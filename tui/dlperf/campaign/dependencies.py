"""What an engine needs besides the campaign: executors, log formats, timeouts."""

from collections.abc import Callable
from dataclasses import dataclass

from dlperf.catalog.files.load import load_formats
from dlperf.catalog.files.problem import CatalogError, Problem
from dlperf.catalog.log_format import LogFormat
from dlperf.executors.base import Executor
from dlperf.formats.registry import format_ids
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import CampaignRecord


@dataclass(frozen=True)
class Timeouts:
    """How long the engine waits, in seconds."""

    tick: float = 0.2
    """Between two passes over requests and queue."""
    requests: float = 0.05
    """Between two looks for new requests."""
    progress: float = 1.0
    """Between two versions of ``progress.json``."""
    machine_rest: float = 5.0
    """Before a machine that failed gets its next trial."""
    busy: float = 300.0
    """For GPUs in use by others, before the trial fails."""
    silence: float = 300.0
    """Before a trial fails whose machine has answered in this campaign, such as one that reboots."""
    first_answer: float = 20.0
    """The same for a machine that has not answered yet, such as one with a wrong address. It is left out after the
    second time: at ten seconds a connection in under a minute."""
    late: float = 120.0
    """After a trial's deadline, before machines that answer are asked to end it; after twice as long it is given up.
    A supervisor needs a minute at most to end a payload that resists."""
    reconnect: float = 3.0
    """Between two tries to reach an unreachable or busy machine; clients back off further."""
    collect: float = 300.0
    """For a silent machine that holds files of an unsuccessful trial; those of a successful one are waited for."""


OpenExecutor = Callable[[str], Executor]
"""Name → executor; called once for each name."""


@dataclass(frozen=True)
class EngineDependencies:
    """What the engine is given: executors and log formats."""

    open_executor: OpenExecutor
    formats: tuple[LogFormat, ...] = ()
    """Formats of the workspace's catalogue, besides the built-in ones."""


def engine_dependencies(workspace: WorkspacePaths, record: CampaignRecord) -> EngineDependencies:
    """Return the dependencies for a campaign of a workspace.

    Raises:
        CatalogError: a format of the workspace is used and is invalid.
    """
    problems: list[Problem] = []
    formats = load_formats(workspace.catalog, problems.append)
    if problems and {item.format for item in record.configurations} - set(format_ids(formats)):
        raise CatalogError(problems)
    return EngineDependencies(executor_opener(workspace), formats)


def executor_opener(workspace: WorkspacePaths) -> OpenExecutor:
    """Return a function that opens executors which find the workspace's own training programs."""

    def open_executor(name: str) -> Executor:
        if name == "direct":
            from dlperf.executors.direct import DirectExecutor

            return DirectExecutor(workspace.catalog)
        from dlperf.executors.batch.executor import BatchExecutor
        from dlperf.executors.scheduler import find_scheduler

        return BatchExecutor(find_scheduler(name), workspace.catalog)

    return open_executor
