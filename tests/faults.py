"""Faults by a seed, done to a campaign over many nodes."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from after_faults import Damage
from dlperf.nodes.supervisor.processes import SUPERVISOR_NAME, working_folder
from dlperf.runs.journal import CampaignReader
from dlperf.runs.lock import engine_pid
from dlperf.runs.records import Event
from dlperf.runs.store import read_records
from many_nodes import ManyNodes, marked_processes
from spoils import SPOILS, remove_everything, replace_agent, running_trial, take_every_file, trials_of
from sshd import Sshd

KILLS = {"connection": 40, "server": 10, "engine": 2, "supervisor": 3}
"""What is killed → how often, of so many faults as these together."""
OTHERS = {**dict.fromkeys(SPOILS, 2), "agent": 4, "home": 2, "node": 1}
"""What happens to files of a running trial; an agent answers garbage; ``~/.dlperf`` is removed; a node stays dead."""
TRUST = {"impostor": 6, "stalled": 6, "files": 4, "lease": 4, "lease_of_nobody": 4}
"""Another machine answers at the address of a node; a link carries nothing for a while; a disk takes no more files; the
lease is removed, or names a process that is none."""
NOBODY = '{"trial": "none/none", "user": "nobody", "pid": 999999, "start_ticks": 1, "boot_id": "x"}\n'
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong, at a time after the campaign's start."""

    seconds: float
    kind: str
    node: int
    down_seconds: float
    """For which a server listens no more, or an agent answers garbage."""


def schedule(seed: int, nodes: int, seconds: float, every: float, faults: Mapping[str, int] = KILLS) -> list[Fault]:
    """The same seed gives the same faults."""
    chance = random.Random(seed)
    kinds = [kind for kind, count in faults.items() for _ in range(count)]
    count = int(seconds / every)
    times = sorted(chance.uniform(0.0, seconds) for _ in range(count))
    return [Fault(t, chance.choice(kinds), chance.randrange(nodes), chance.uniform(0.5, 5.0)) for t in times]


@dataclass
class Meter:
    """What engines took, one after the other."""

    cpu: dict[int, float] = field(default_factory=dict)
    """Engine's process id → processor seconds."""
    peak_kb: int = 0

    def look(self, pid: int | None) -> None:
        with contextlib.suppress(OSError, StopIteration):
            words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            self.cpu[pid or 0] = (int(words[11]) + int(words[12])) / TICK
            status = Path(f"/proc/{pid}/status").read_text()
            peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
            self.peak_kb = max(self.peak_kb, int(peak.split()[1]))


@dataclass
class Chaos:
    """A run: faults are done as they come due and find something to hit; a killed engine is followed by the next."""

    here: ManyNodes
    faults: Sequence[Fault]
    meter: Meter = field(default_factory=Meter)
    done: Counter[str] = field(default_factory=Counter)
    repairs: list[tuple[float, Callable[[], object]]] = field(default_factory=list)
    """When a server listens again or an agent is put back (monotonic), and what does it."""
    damage: Damage = field(default_factory=Damage)
    engines_killed: set[int] = field(default_factory=set)
    unhealed: list[str] = field(default_factory=list)
    """Why ``dlperf resume`` did not start the next engine."""
    lasted: float = 0.0
    """Seconds from the campaign's start to the last fault."""

    def run(self, repeats: int, patience: float, seconds: float = math.inf) -> float:
        """Start the campaign, do what is planned, wait for its end; how long it took, in seconds.

        Args:
            repeats: of the one configuration of each node.
            patience: seconds in which it must have ended.
            seconds: after which what is left is cancelled.
        """
        self._start(*self.here.run_words(repeats), "-H", ",".join(f"m{n}" for n in range(len(self.here.servers))))
        started = time.monotonic()
        waiting, reader, cancelled = list(self.faults), CampaignReader(self.here.paths), False
        while not reader.refresh().finished:
            now = time.monotonic() - started
            assert now < patience, "the campaign did not end"
            for fault in [fault for fault in waiting if fault.seconds <= now]:
                if self._do(fault):
                    waiting.remove(fault)
                    self.done[fault.kind] += 1
                self.lasted = now
            self._repair(everything=now >= seconds)
            self._keep_engine(reader)
            if now >= seconds and not cancelled:
                cancelled = self.here.dlperf("cancel", self.here.paths.name).returncode == 0
            time.sleep(0.1)
        self._repair(everything=True)
        early = [fault for fault in waiting if fault.seconds > self.lasted]
        states = Counter(f"{trial.state}: {trial.cause}" for trial in reader.refresh().trials.values())
        assert not early, f"it ended before some were due: more trials ({states})"
        return time.monotonic() - started

    def _start(self, *words: str) -> None:
        done = self.here.dlperf(*words, "--detach")
        assert done.returncode == 0, done

    def _keep_engine(self, reader: CampaignReader) -> None:
        pid = engine_pid(self.here.paths)
        self.meter.look(pid)
        if pid is None and not reader.refresh().finished:
            done = self.here.dlperf("resume", self.here.paths.name, "--detach")
            if done.returncode and not reader.refresh().finished:
                self.unhealed.append(done.stderr.strip())

    def _do(self, fault: Fault) -> bool:
        """Whether there was something to hit."""
        server = self.here.servers[fault.node]
        if fault.kind == "engine":
            return self._kill_engine()
        if fault.kind == "supervisor":
            return self._kill_supervisor(server)
        if server.process is None:
            return False
        if fault.kind == "connection":
            return server.drop_connections() > 0
        if fault.kind == "server":
            server.stop()
            return self._repair_later(fault, server.start)
        if fault.kind in TRUST:
            return self._betray(fault, server)
        if fault.kind == "agent":
            put_back = replace_agent(server.home)
            server.drop_connections()
            return put_back is not None and self._repair_later(fault, put_back)
        return self._spoil(fault.kind, server)

    def engines_ended(self) -> list[int]:
        """Return the engines that ended, although nobody killed them, before the one that finished the campaign."""
        events = read_records(self.here.paths.journal, Event)[0]
        started = [int(event.data["pid"]) for event in events if event.event == "campaign_started"]
        return [pid for pid in started[:-1] if pid not in self.engines_killed]

    def _kill_engine(self) -> bool:
        pid = engine_pid(self.here.paths)
        killed = kill(pid)
        self.engines_killed |= {pid} if killed and pid else set()
        return killed

    def _kill_supervisor(self, server: Sshd) -> bool:
        pid = next(iter(supervisors(server.home)), None)
        name = Path(working_folder(pid or 0)).parent.name
        killed = kill(pid)
        self.damage.bereft |= {name} if killed else set()
        return killed

    def _betray(self, fault: Fault, server: Sshd) -> bool:
        lease = server.folder / "lease"
        match fault.kind:
            case "impostor":
                server.stop()
                other = self.here.impostor(server)
                other.start()
                return self._repair_later(fault, partial(self._put_back, other, server))
            case "stalled":
                sessions = server.sessions()
                signal_all(sessions, signal.SIGSTOP)
                return bool(sessions) and self._repair_later(fault, lambda: signal_all(sessions, signal.SIGCONT))
            case "files":
                self.damage.spoiled |= trials_of(server.home)
                self.damage.filled.add(f"m{fault.node}")
                return self._repair_later(fault, take_every_file(server.home))
            case "lease":
                lease.unlink(missing_ok=True)
            case _:
                with contextlib.suppress(OSError):
                    lease.write_text(NOBODY)
        return True

    def _put_back(self, other: Sshd, server: Sshd) -> None:
        """Let the machine answer again, to a new engine: one waits ten minutes after it was given a wrong key."""
        other.stop()
        server.start()
        self.done["engine"] += self._kill_engine()

    def _spoil(self, kind: str, server: Sshd) -> bool:
        folder = running_trial(server.home)
        if folder is None:
            return False
        if kind in SPOILS:
            if kind != "endless_line":
                self.damage.spoiled.add(folder.parent.name)
            try:
                SPOILS[kind](folder)
            except OSError as error:  # it has just ended and was removed, or its disk takes no more files
                if error.errno not in (errno.ENOENT, errno.ENOSPC):
                    raise
                return error.errno == errno.ENOENT
            return True
        self.damage.spoiled |= trials_of(server.home)
        if kind == "home":
            remove_everything(server.home)
        else:
            server.stop()
            for pid in marked_processes(server.home):
                kill(pid)
        return True

    def _repair_later(self, fault: Fault, repair: Callable[[], object]) -> bool:
        self.repairs.append((time.monotonic() + fault.down_seconds, repair))
        return True

    def _repair(self, everything: bool = False) -> None:
        for item in [item for item in self.repairs if everything or time.monotonic() >= item[0]]:
            item[1]()
            self.repairs.remove(item)


def kill(pid: int | None) -> bool:
    """Whether there was somebody to kill."""
    if pid is None:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def signal_all(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def supervisors(home: Path) -> list[int]:
    """Supervisors that run trials of a node, by the home that they have."""
    found = []
    for pid in marked_processes(home):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text().strip() == SUPERVISOR_NAME:
                found.append(pid)
    return sorted(found)
