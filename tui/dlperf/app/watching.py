"""One campaign on a screen: its records, kept fresh by reading what was added to its files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dlperf.app.campaigns import modified
from dlperf.app.model.table import Row
from dlperf.app.model.trial_rows import Silences, configuration_text, group_row, trial_row
from dlperf.app.model.trials import by_configuration, nodes_of
from dlperf.errors import DlperfError
from dlperf.measured.model import TrialResult
from dlperf.messages import _
from dlperf.opening import is_regular, last_line
from dlperf.plan import Node, PlannedConfiguration, TrialKey
from dlperf.runs.journal import CampaignReader
from dlperf.runs.lock import engine_pid
from dlperf.runs.paths import LOG, CampaignPaths, NodePaths
from dlperf.runs.records import CampaignRecord, CampaignStatus, Progress, State, TrialProgress, TrialStatus
from dlperf.runs.store import read_record_if_whole
from dlperf.table.rows import value_of_trials
from dlperf.view.campaigns import stop_reason
from dlperf.view.text import number, printable

UNANSWERED_SECONDS = 10.0
"""Telemetry comes every second: after this time a node does not answer."""
SILENT_SECONDS = 60.0


@dataclass(frozen=True)
class WatchStream:
    node: str
    path: Path
    login: tuple[str, ...] = ()
    """Arguments of ssh; empty for this machine."""

    @property
    def label(self) -> str:
        return self.node if self.path.name.startswith(LOG) else f"{self.node} {self.path.name}"


class CampaignGoneError(DlperfError):
    """A campaign that a screen shows is not there any more."""

    def __init__(self, paths: CampaignPaths) -> None:
        super().__init__(_("{name} is no longer in this workspace: it was renamed or removed.", name=paths.name))


class WatchedCampaign:
    """The records of a campaign. The constructor reads the whole plan: call it in a thread.

    Raises:
        DlperfError: there is no such campaign, or its plan cannot be read.
    """

    def __init__(self, paths: CampaignPaths) -> None:
        self.paths = paths
        self._plan = _identity(paths.plan)
        self._reader = CampaignReader(paths)
        self.record: CampaignRecord = self._reader.record
        self._configurations = {item.configuration.id: item for item in self.record.configurations}
        self._results: dict[TrialKey, TrialResult | None] = {}
        self._unread: dict[TrialKey, float] = {}
        """When results were written that could not be read."""
        self._silences: dict[TrialKey, Silences] = {}
        """Found out since the engine was looked for."""
        self._progress_stamp = 0
        self.progress: Progress | None = None
        self.engine_pid: int | None = None
        self.stop_reason = ""
        self.status: CampaignStatus = self._reader.refresh()
        for configuration, trials in by_configuration(self.status).items():
            self.value_of(configuration, trials)  # reads results that a screen would wait for
        self.refresh()

    def refresh(self) -> bool:
        """Read what was added; return whether anything was.

        Raises:
            CampaignGoneError: it was renamed or removed, also where another of its name is there now.
        """
        if _identity(self.paths.plan) != self._plan:
            raise CampaignGoneError(self.paths)
        before, self.status = self.status, self._reader.refresh()
        return self._read_progress() or self.status is not before

    def refresh_engine(self) -> bool:
        """Look for the engine, and for silent nodes when they are asked for next; return whether the engine changed."""
        before, self.engine_pid = self.engine_pid, engine_pid(self.paths)
        self.stop_reason = "" if self.engine_pid is not None or self.status.finished else stop_reason(self.paths)
        self._silences.clear()
        return before != self.engine_pid

    def _read_progress(self) -> bool:
        try:
            stamp = self.paths.progress.stat().st_mtime_ns
        except OSError:
            return False
        if stamp == self._progress_stamp:
            return False
        self._progress_stamp = stamp
        progress = read_record_if_whole(self.paths.progress, Progress)
        self.progress = progress or self.progress
        return progress is not None

    @property
    def damaged_lines(self) -> int:
        return self._reader.damaged_lines

    def planned(self, configuration: str) -> PlannedConfiguration | None:
        return self._configurations.get(configuration)

    def name_of(self, key: TrialKey) -> str:
        return f"{self._configuration_of(key)} #{key.number}"

    def _configuration_of(self, key: TrialKey) -> str:
        planned = self.planned(key.configuration)
        return configuration_text(planned.configuration) if planned else key.configuration

    def progress_of(self, key: TrialKey) -> TrialProgress | None:
        return self.progress.trials.get(str(key)) if self.progress else None

    def result_of(self, key: TrialKey) -> TrialResult | None:
        trial = self.status.trials.get(key)
        if trial is None or not trial.state.finished:
            return None
        if (known := self._results.get(key)) is not None:
            return known
        path = self.paths.trial(key).result
        if self._unread.get(key) != (stamp := modified(path)):
            self._unread[key] = stamp
            self._results[key] = read_record_if_whole(path, TrialResult)
        return self._results[key]

    def nodes(self, key: TrialKey) -> list[NodePaths]:
        """Return the folders of a trial's nodes: those of the plan, then others that exist."""
        trial = self.paths.trial(key)
        planned = [trial.node(name) for name in nodes_of(self.record, key)]
        return planned + [node for node in trial.nodes() if node not in planned]

    def silences(self, key: TrialKey, now: float) -> Silences:
        """Return since when a running trial's nodes, and its logs, have sent nothing, where that is long."""
        if self.status.trials[key].state is not State.RUNNING or self.engine_pid is None:
            return Silences()
        if key not in self._silences:
            self._silences[key] = self._find_silences(key, now)
        return self._silences[key]

    def _find_silences(self, key: TrialKey, now: float) -> Silences:
        nodes, logs = {}, []
        for node in self.nodes(key):
            log = max(map(modified, (*node.logs(), node.log)))
            logs.append(log)
            age = now - max(log, modified(node.telemetry))
            if log > 0 and age >= UNANSWERED_SECONDS:
                nodes[node.directory.name] = age
        age = now - max(logs, default=0.0)
        return Silences(nodes, age if max(logs, default=0.0) > 0 and age >= SILENT_SECONDS and not nodes else None)

    def trial_row(self, key: TrialKey, asked: str | None, now: float) -> Row:
        trial, progress, result = self.status.trials[key], self.progress_of(key), self.result_of(key)
        return trial_row(trial, progress, result, asked, self.silences(key, now), now, self._building(key))

    def _building(self, key: TrialKey) -> str | None:
        """Return the last line of what is built before a trial; None where nothing is, or it has been."""
        progress = self.progress_of(key)
        if self.status.trials[key].state is not State.RUNNING or (progress and progress.step is not None):
            return None
        builds = (node.build_log for node in self.nodes(key) if not modified(node.log))
        return next((last_line(path) for path in builds if is_regular(path)), None)

    def value_of(self, configuration: str, trials: Sequence[TrialStatus]) -> float | None:
        """Return the value of a configuration with these trials, as its row of results has it; None without one."""
        planned = self.planned(configuration)
        # a trial of whose journal nothing is to be expected is not looked for again and again
        measured = [trial for trial in trials if trial.figure is None or trial.figure.value is not None]
        results = filter(None, (self.result_of(trial.key) for trial in measured))
        return value_of_trials(planned, list(results), trials) if planned else None

    def group_row(self, configuration: str, trials: Sequence[TrialStatus], share: float | None) -> Row:
        """Return the row of a configuration with these trials and this share of the best."""
        planned = self.planned(configuration)
        if planned is None:
            return Row((printable(configuration),), "group")
        value = self.value_of(configuration, trials)
        text = "" if value is None else number(value, planned.unit)
        said = _("median {value}", value=text) if text and planned.protocol.aggregate == "median" else text
        stopped = self.status.stopped_configurations.get(configuration)
        return group_row(planned.configuration, trials, stopped, said, share)

    def streams(self, key: TrialKey) -> list[WatchStream]:
        planned = self.planned(key.configuration)
        logins = {node.name: login_of(node) for node in planned.launch.nodes} if planned else {}
        found = []
        for node in self.nodes(key):
            name = node.directory.name
            found += [WatchStream(name, path, logins.get(name, ())) for path in node.logs() or [node.log]]
        return found

    def side_logs(self, key: TrialKey | None) -> dict[Path, str]:
        """Return the logs of a trial and of those that run, with their titles."""
        running = (trial.key for trial in self.status.trials.values() if trial.state is State.RUNNING)
        keys = dict.fromkeys([*filter(None, [key]), *running])
        return {
            stream.path: printable(f"#{key.number} · {stream.label} · {self._configuration_of(key)}")
            for key in keys
            for stream in self.streams(key)
        }


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what another file of the same name does not have; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def login_of(node: Node) -> tuple[str, ...]:
    """Return the arguments by which ``ssh`` logs in to a node; none for this machine."""
    if node.transport == "local" or not node.host:
        return ()
    port = ("-p", str(node.port)) if node.port else ()
    return *port, f"{node.user}@{node.host}" if node.user else node.host
