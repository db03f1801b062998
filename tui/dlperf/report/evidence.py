"""What a figure rests on, read from the run directory: script, environment and log lines of a trial."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from dlperf.plan import PlannedConfiguration, TrialKey
from dlperf.report.data import is_published
from dlperf.report.downloads import Download
from dlperf.results.logs import BUILTIN_FORMATS, LogReader
from dlperf.results.model import ConfigurationResult, TrialResult
from dlperf.results.timeline import Timeline, timeline
from dlperf.runs.paths import NodePaths, TrialPaths, Workspace

ENDS = 4
"""Lines shown from each end of the lines that gave a figure; the download has them all."""
AROUND = 2
"""Lines shown before and after them."""
LONGEST_LINE = 400


@dataclass(frozen=True)
class LogLines:
    """The first and the last of the log lines that gave a figure, and what stands around them."""

    head: tuple[str, ...] = ()
    left_out: int = 0
    tail: tuple[str, ...] = ()
    first_line: int = 1
    """Number of the first line of ``head``."""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """What one trial left, as far as a page shows it."""

    node: str = ""
    launch: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    lines: LogLines = LogLines()
    log: Path | None = None
    log_altered: bool = False
    """The bytes are not those that gave the figure."""
    files: tuple[Path, ...] = ()
    """What else can be downloaded: script, environment, telemetry."""
    downloads: tuple[Download, ...] = ()
    """The same, where the site offers them."""
    topology: str = ""
    timeline: Timeline = field(default_factory=Timeline)


NOTHING = Evidence()


def read_evidence(
    workspace: Workspace,
    result: ConfigurationResult,
    trial: TrialResult,
    planned: PlannedConfiguration | None = None,
    logs: LogReader = BUILTIN_FORMATS,
) -> Evidence:
    """The evidence of a trial; parts that are missing stay empty. Published figures have none.

    Args:
        planned: what was to run; without it there is no timeline.
        logs: knows the formats of the workspace's catalogue.
    """
    if is_published(result.campaign):
        return NOTHING
    paths = workspace.campaign(result.campaign).trial(TrialKey(result.configuration, trial.number))
    nodes = paths.nodes()
    node = nodes[0] if nodes else None
    log = _log(paths, trial)
    environment = _environment(node)
    return Evidence(
        node=node.directory.name if node else "",
        launch=_launch(paths, node),
        topology=environment.pop("topology", ""),
        environment=environment,
        lines=_lines(log, trial),
        log=log,
        files=_files(node),
        timeline=timeline(paths, planned, trial, logs) if planned else Timeline(),
    )


def flatten(value: Any, prefix: str = "") -> dict[str, str]:
    """Nested facts as one level, names joined by dots, in the order of the file."""
    if isinstance(value, Mapping):
        items = [(str(name), member) for name, member in value.items()]
    elif isinstance(value, list):
        items = [(str(position), member) for position, member in enumerate(value)]
    else:
        return {prefix: str(value)} if value not in (None, "") else {}
    flat: dict[str, str] = {}
    for name, member in items:
        flat.update(flatten(member, f"{prefix}.{name}" if prefix else name))
    return flat


def _log(paths: TrialPaths, trial: TrialResult) -> Path | None:
    """The log that gave the figure, if it lies inside the trial's folder."""
    if not trial.log:
        return None
    log = (paths.directory / trial.log).resolve()
    inside = log.is_relative_to(paths.directory.resolve())
    return log if inside and log.is_file() else None


def _files(node: NodePaths | None) -> tuple[Path, ...]:
    wanted = (node.launch, node.environment, node.telemetry) if node else ()
    return tuple(path for path in wanted if path.is_file() and not path.is_symlink())


def _launch(paths: TrialPaths, node: NodePaths | None) -> str:
    candidates = [node.launch] if node else []
    candidates += sorted(paths.rendered.glob("*/launch.sh"))
    found = next((path for path in candidates if path.is_file()), None)
    return found.read_text("utf-8", "replace") if found else ""


def _environment(node: NodePaths | None) -> dict[str, str]:
    try:
        probed = flatten(json.loads(node.environment.read_bytes())) if node else {}
    except (OSError, ValueError):
        return {}
    probed.pop("schema", None)
    return probed


def _lines(log: Path | None, trial: TrialResult) -> LogLines:
    if log is None or not trial.first_line or not trial.last_line:
        return LogLines()
    first, last = trial.first_line, trial.last_line
    with log.open("r", encoding="utf-8", errors="replace", newline="\n") as stream:
        before = tuple(map(_short, deque(islice(stream, first - 1), AROUND)))
        head = tuple(map(_short, islice(stream, min(ENDS, last - first + 1))))
        rest = deque(islice(stream, max(0, last - first + 1 - ENDS)), ENDS)
        after = tuple(map(_short, islice(stream, AROUND)))
    left_out = max(0, last - first + 1 - len(head) - len(rest))
    return LogLines(head, left_out, tuple(map(_short, rest)), first, before, after)


def _short(line: str) -> str:
    line = line.rstrip("\r\n")
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"
