"""Evidence of a result from the run directory: script, environment, timeline and log of a trial."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from dlperf.derived.health import CASE, Fleet, diagnosis_of
from dlperf.derived.profiles import Profile, read_profile
from dlperf.derived.timeline import Timeline, derive_timeline, log_of, origin_of, write_timeline
from dlperf.errors import DlperfError
from dlperf.evidence.facts import flattened
from dlperf.evidence.logs import LogReader, log_reader
from dlperf.measured.model import TrialResult
from dlperf.opening import read_bytes
from dlperf.plan import PlannedConfiguration, TrialKey
from dlperf.report.data import is_published
from dlperf.report.files.downloads import Download
from dlperf.report.site.locations import ReportGroup
from dlperf.runs.archive import RENDERED, TrialFiles, sha256_if_readable
from dlperf.runs.bounded import load_json
from dlperf.runs.paths import NodePaths, TrialPaths, WorkspacePaths
from dlperf.runs.store import Complain, read_record_if_whole
from dlperf.table.model import ConfigurationResult


@dataclass(frozen=True)
class HashedFile:
    name: str
    sha256: str
    source: Path | bytes
    """Path or bytes."""

    def read(self) -> bytes:
        return self.source if isinstance(self.source, bytes) else read_bytes(self.source)


@dataclass(frozen=True)
class TrialEvidence:
    """The files and facts of one trial that a page shows."""

    node: str = ""
    launch: str = ""
    """Script, as an example: only of the first trial of a page."""
    environment: Mapping[str, str] = field(default_factory=dict)
    log: HashedFile | None = None
    log_altered: bool = False
    """Whether the bytes differ from those that gave the value."""
    files: tuple[HashedFile, ...] = ()
    """Other files to download: script, environment, telemetry."""
    downloads: tuple[Download, ...] = ()
    """The same files on the site."""
    sent: tuple[HashedFile, ...] = ()
    """Training programs as they were sent to the node."""
    programs: tuple[Download, ...] = ()
    """The same programs on the site."""
    topology: str = ""
    timeline: Timeline = field(default_factory=Timeline)


PlanOf = Callable[[ConfigurationResult], PlannedConfiguration | None]
NOTHING = TrialEvidence()


class EvidenceReader:
    """Reader of the evidence of trials of one workspace."""

    def __init__(self, workspace: WorkspacePaths, damaged: Complain | None = None) -> None:
        """Report each unreadable timeline, which is made again, to ``damaged``."""
        self._workspace = workspace
        self._damaged = damaged
        self._environments: dict[str, dict[str, str]] = {}
        self._sound: dict[tuple[str, str], bool] = {}

    def of_group(
        self, results: Iterable[ConfigurationResult], plan_of: PlanOf
    ) -> Iterator[tuple[ConfigurationResult, TrialResult, TrialEvidence]]:
        """Yield each trial of a page with its evidence, the script only once."""
        shown = False
        for row in results:
            planned = plan_of(row)
            for trial in row.trials:
                found = self.read(row, trial, planned, with_launch=not shown)
                shown = shown or bool(found.launch)
                yield row, trial, found

    def diagnosis(self, group: ReportGroup) -> list[Fleet]:
        """Return what a diagnosis found in the machines; nothing for other cases."""
        found = group.case == CASE and not is_published(group.campaign)
        return diagnosis_of(self._workspace.campaign(group.campaign), self._logs) if found else []

    def profile(
        self, row: ConfigurationResult, planned: PlannedConfiguration | None
    ) -> tuple[Profile, HashedFile | None] | None:
        """Return the profile of a configuration and its trace; None where there is none."""
        found = planned and read_profile(self._workspace.campaign(row.campaign), planned.configuration, self._damaged)
        if not found:
            return None
        profile, trace = found
        digest = trace and sha256_if_readable(trace)
        return profile, HashedFile(trace.name, digest, trace) if trace and digest else None

    def read(
        self,
        row: ConfigurationResult,
        trial: TrialResult,
        planned: PlannedConfiguration | None,
        *,
        with_launch: bool = True,
    ) -> TrialEvidence:
        """Return the evidence of a trial; parts that are missing stay empty.

        Args:
            planned: needed for the timeline.
        """
        if is_published(row.campaign):
            return NOTHING
        paths = self._workspace.campaign(row.campaign).trial(TrialKey(row.id, trial.number))
        kept = TrialFiles(paths)
        node = _first_node(paths, planned, kept.nodes())
        if node is None:
            return NOTHING
        log, probed = _hashed(kept, log_of(paths, trial)), _hashed(kept, node.environment)
        offered = (_hashed(kept, node.launch), probed, _hashed(kept, node.telemetry))
        environment = dict(self._environment(probed))
        altered = log is not None and log.sha256 != trial.log_sha256
        return TrialEvidence(
            node=node.directory.name,
            launch=_launch(kept, node) if with_launch else "",
            topology=environment.pop("topology", ""),
            environment=environment,
            log=log,
            log_altered=altered,
            files=tuple(file for file in offered if file),
            sent=tuple(self._programs(kept, paths, node)),
            timeline=self._timeline(kept, paths, planned, trial, log) if planned and not altered else Timeline(),
        )

    def _programs(self, kept: TrialFiles, paths: TrialPaths, node: NodePaths) -> Iterator[HashedFile]:
        """Yield the programs that were sent to a node and are still what was sent."""
        folder = f"{RENDERED}/{node.directory.name}/files/"
        for name, digest in kept.digests().items():
            source = kept.source(paths.directory / name) if name.startswith(folder) else None
            if source is not None and self._is_sound(source, digest):
                yield HashedFile(name.removeprefix(folder), digest, source)

    def _is_sound(self, source: Path | bytes, digest: str) -> bool:
        """Whether a file has this hash; of files that many trials share it is found out once."""
        key = (str(source), digest) if isinstance(source, Path) else ("", digest)
        if key not in self._sound or isinstance(source, bytes):
            self._sound[key] = _hash_of(source) == digest
        return self._sound[key]

    def _report_timeline(self, problem: str) -> None:
        self._report(f"{problem}: made again from log and telemetry; nothing is to do")

    def _report(self, problem: str) -> None:
        if self._damaged is not None:
            self._damaged(problem)

    @cached_property
    def _logs(self) -> LogReader:
        return log_reader(self._workspace)

    def _environment(self, probed: HashedFile | None) -> dict[str, str]:
        if probed is None:
            return {}
        if probed.sha256 not in self._environments:
            self._environments[probed.sha256] = _read_environment(probed)
        return self._environments[probed.sha256]

    def _timeline(
        self,
        files: TrialFiles,
        paths: TrialPaths,
        planned: PlannedConfiguration,
        trial: TrialResult,
        log: HashedFile | None,
    ) -> Timeline:
        """Return the stored timeline, or make and store it if missing, damaged or of other files."""
        kept = read_record_if_whole(paths.timeline, Timeline, self._report_timeline)
        nodes = {node.name: paths.node(node.name) for node in planned.launch.nodes}
        nodes |= {name: paths.node(name) for name in kept.origin.telemetry_sha256} if kept else {}
        telemetry = {name: file.sha256 for name, node in nodes.items() if (file := _hashed(files, node.telemetry))}
        if kept and kept.origin == origin_of(trial, log.sha256 if log else None, telemetry):
            return kept
        try:
            made = derive_timeline(paths, planned, trial, self._logs)
        except DlperfError as error:  # the log is gone, or is no file
            self._report(f"{error}: the page shows what was kept of it; restore it from a copy of the campaign")
            return kept or Timeline()
        with suppress(DlperfError):  # a read-only workspace is published without a stored timeline
            write_timeline(paths, made, durable=False)
        return made


def _hashed(kept: TrialFiles, path: Path | None) -> HashedFile | None:
    """Return the file with its hash; None if it is missing, unreadable or a link."""
    source = kept.source(path) if path else None
    digest = source if source is None else _hash_of(source)
    return HashedFile(path.name, digest, source) if path and source is not None and digest else None


def _hash_of(source: Path | bytes) -> str | None:
    return sha256(source).hexdigest() if isinstance(source, bytes) else sha256_if_readable(source)


def _first_node(
    paths: TrialPaths, planned: PlannedConfiguration | None, nodes: Sequence[NodePaths]
) -> NodePaths | None:
    """Return node 0 of the plan, else the first with files."""
    first = paths.node(planned.launch.nodes[0].name) if planned and planned.launch.nodes else None
    return first if first in nodes else next(iter(nodes), None)


def _launch(kept: TrialFiles, node: NodePaths) -> str:
    sent = (path for path in kept.sent() if path.name == node.launch.name)
    for path in (node.launch, *sent):
        if kept.has(path):
            return kept.read(path).decode("utf-8", "replace")
    return ""


def _read_environment(file: HashedFile) -> dict[str, str]:
    try:
        probed = dict(flattened(load_json(file.read())))
    except (OSError, ValueError):
        return {}
    probed.pop("schema", None)
    return probed
