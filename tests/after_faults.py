"""What must be true of a campaign over many nodes after faults."""

from __future__ import annotations

import errno
import os
import re
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from dlperf.campaign.create import trial_id
from dlperf.nodes.supervisor.files import readable_json
from dlperf.runs.archive import TrialFiles
from dlperf.runs.journal import campaign_status
from dlperf.runs.records import CampaignRecord, State, TrialStatus
from dlperf.runs.store import read_campaign
from many_nodes import ManyNodes, mark_of_process, marked_processes


@dataclass(frozen=True)
class Verdict:
    """What was found at the end; every list is empty where all is well."""

    trials: int
    succeeded: int
    lost: int
    """Trials whose supervisor was killed or whose files were spoiled: found, said and tried again."""
    cancelled: int
    """Planned or running when the campaign was cancelled, or planned on a machine that was left out."""
    may_still_run: int
    """Of those that were cancelled: their machine did not answer at that moment."""
    left_out: int
    started_twice: list[str]
    unfinished: list[str]
    unexplained: list[str]
    """Ended without a figure, for no reason that a fault gave."""
    broken: list[str]
    """Said to have succeeded, but never started; said never to have started, but it was; its archive is not what the
    node wrote, or its seal is broken."""
    processes_left: list[int]
    folders_left: list[str]
    """Temporary folders of trials on nodes that did not die."""
    wrong_hosts: list[str]
    """Homes of impostors in which anything lies."""

    @property
    def good(self) -> bool:
        found = (self.started_twice, self.unfinished, self.unexplained, self.broken)
        return not any((*found, self.processes_left, self.folders_left, self.wrong_hosts))


@dataclass
class Damage:
    """What faults were done to, by which the end of a trial is explained."""

    bereft: set[str] = field(default_factory=set)
    """Trials whose supervisor was killed."""
    spoiled: set[str] = field(default_factory=set)
    """Trials whose files on the node may be anything, or whose node died."""
    filled: set[str] = field(default_factory=set)
    """Nodes whose disk took no more files for a while."""


def examine(here: ManyNodes, damage: Damage) -> Verdict:
    """Compare what the campaign says with what its nodes hold."""
    record, status = read_campaign(here.paths), campaign_status(here.paths)
    trials = status.trials
    outliving = _outliving(here, {trial_id(record, key) for key, trial in trials.items() if _may_still_run(trial)})
    starts = Counter(mark for server in here.servers for mark in _marks(server.home))
    return Verdict(
        trials=len(trials),
        succeeded=status.count(State.SUCCEEDED),
        lost=status.count(State.LOST),
        cancelled=status.count(State.CANCELLED),
        may_still_run=sum(_may_still_run(trial) for trial in trials.values()),
        left_out=len(status.left_out),
        started_twice=[mark for mark, count in starts.items() if count > 1],
        unfinished=[str(key) for key, trial in trials.items() if not trial.state.finished],
        unexplained=[
            f"{key}: {trial.cause}"
            for key, trial in trials.items()
            if not _explained(trial, trial_id(record, key), damage)
        ],
        broken=[
            f"{key}: {problem}"
            for key, trial in trials.items()
            if (problem := _broken(here, record, trial, starts, trial_id(record, key) in damage.spoiled))
        ],
        processes_left=outliving or _left(here),
        folders_left=_folders_left(here),
        wrong_hosts=[str(home) for home in here.impostor_homes() if any(home.iterdir())],
    )


def _marks(home: Path) -> list[str]:
    path = home / "starts"
    return path.read_text().split() if path.exists() else []


def _explained(trial: TrialStatus, name: str, damage: Damage) -> bool:
    """Only what a fault can have done – its supervisor was killed, or a machine did not answer for long, twice – and
    what was asked for at the end."""
    if trial.state is State.LOST:
        return name in damage.bereft | damage.spoiled
    if trial.state is State.SUCCEEDED or trial.cause is None:
        return trial.state is State.SUCCEEDED
    cancelled = ("cancelled", "cancelled_before", "cancelled_unanswered", "configuration_stopped")
    asked = trial.state is State.CANCELLED and trial.cause.mentions(*cancelled)
    spoiled = name in damage.spoiled and trial.cause.mentions(
        "bad_file", "folder_removed", "folder_closed", "no_exit_file", "overdue"
    )
    filled = _node(trial) in damage.filled and (
        trial.cause.mentions("files_short") or os.strerror(errno.ENOSPC) in str(trial.cause)
    )
    return asked or spoiled or filled or trial.cause.mentions("unreachable", "unreachable_since", "machine_left_out")


def _node(trial: TrialStatus) -> str:
    return trial.key.configuration.partition("_")[0]


def _may_still_run(trial: TrialStatus) -> bool:
    return trial.state is State.CANCELLED and trial.cause is not None and trial.cause.code == "cancelled_unanswered"


def _never_began(trial: TrialStatus) -> bool:
    never_began = ("cancelled_before", "machine_left_out", "configuration_stopped")
    return trial.state is State.CANCELLED and trial.cause is not None and trial.cause.code in never_began


def _broken(here: ManyNodes, record: CampaignRecord, trial: TrialStatus, starts: Counter[str], is_spoiled: bool) -> str:
    """What is wrong with a trial that ended, by its node and by its archive; empty where nothing is."""
    paths = here.paths.trial(trial.key)
    if not trial.state.finished or _may_still_run(trial):
        return ""
    node = _node(trial)
    name = trial_id(record, trial.key)
    started = starts[f"{name}/{node}"]
    if trial.state is State.SUCCEEDED and not started:
        return "never started"
    if _never_began(trial) and started:
        return "started, though it is said that it was not"
    written = here.servers[int(node[1:])].home / ".dlperf" / name / node / "out.log"
    archived = _bytes(paths.node(node).log)
    if is_spoiled:
        steps = [int(step) for step in re.findall(rb"step=(\d+)", archived)]
        if steps != list(range(10, 10 * len(steps) + 10, 10)):
            return "its log has a gap"
        if trial.state is State.SUCCEEDED and len(steps) != here.steps:
            return "its log is not whole"
    elif archived != _bytes(written):
        return "its log is not what the node wrote"
    return "; ".join(map(str, TrialFiles(paths).problems())) if paths.directory.exists() else ""


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _outliving(here: ManyNodes, excused: Collection[str]) -> list[int]:
    """Processes of the programs of trials that have ended while their machine answered."""
    trials = {pid: mark_of_process(pid).partition("/")[0] for pid in marked_processes(here.workspace.root.parent)}
    return [pid for pid, trial in trials.items() if trial and trial not in excused]


def _folders_left(here: ManyNodes) -> list[str]:
    alive = [server.home for server in here.servers if server.process is not None]
    records = [readable_json(str(path)) for home in alive for path in home.glob(".dlperf/*/*/supervisor.json")]
    return [path for record in records if (path := record.get("temporary")) and Path(path).exists()]


def _left(here: ManyNodes) -> list[int]:
    """Processes of trials that are there although everything has ended, after a while to go.

    A trial that was cancelled while its machine did not answer goes on to its own end.
    """
    folder = here.workspace.root.parent
    give_up = time.monotonic() + 60.0
    while (found := list(marked_processes(folder))) and time.monotonic() < give_up:
        time.sleep(0.2)
    return found
