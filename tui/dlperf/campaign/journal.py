"""The journal as the engine writes it, and the machines that are left out after repeated failures."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from dlperf.campaign.rules import trials_to_cancel
from dlperf.errors import DlperfError, RequestError
from dlperf.executors.base import UNREACHABLE, CheckItem, NodeObservation
from dlperf.messages import Message, message, quoted
from dlperf.nodes.transport import Machine
from dlperf.opening import size_of
from dlperf.plan import PlannedConfiguration, TrialKey
from dlperf.runs.journal import CampaignFold, trial_key
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.records import CampaignRecord, Event, Request, State, TrialStatus, utc_now
from dlperf.runs.store import append_records, read_records

MOST_FAILURES = 2
"""Consecutive failures after which a machine is left out."""

MACHINE_CHECKS = frozenset(
    {
        *("reachable", "python", "clock", "disk", "port", "gpu_count", "gpu_model", "gpu_idle", "driver", "cuda"),
        *("nvlink", "nvlink_equal", "infiniband_equal"),
    }
)
"""Checks of the machine itself; others (image, files, ssh) concern what is to run there."""


def faults_in_checks(items: Iterable[CheckItem]) -> dict[str, Message]:
    """Return node → its fault, from failed checks of machines."""
    failed = [item for item in items if not item.ok and item.check in MACHINE_CHECKS]
    return {item.node: _unfit(item) for item in reversed(failed)}


def _unfit(item: CheckItem) -> Message:
    if item.check == "reachable":
        return message("unreachable", cause=item.message)
    return message("and_more", subject=item.title, more=item.message)


def faults_of_nodes(nodes: Iterable[NodeObservation]) -> dict[str, Message]:
    """Return node → its fault: it lost its part of the trial, or did not answer for too long."""
    return {
        node.node: node.cause or quoted(node.state)
        for node in nodes
        if node.state is State.LOST or (node.state is State.FAILED and node.cause and node.cause.mentions(*UNREACHABLE))
    }


class Reliability:
    """Consecutive failures of each machine, and which are left out; folded from the journal.

    Nodes of a scheduler are not counted: it drains them itself.
    """

    def __init__(self, configurations: Sequence[PlannedConfiguration]) -> None:
        self._reached = {
            item.configuration.id: {node.name: str(Machine.of(node)) for node in item.launch.nodes}
            for item in configurations
        }
        """Configuration id → node → machine."""
        queued = {item.configuration.id for item in configurations if item.launch.queued}
        self._machines = {name: {} if name in queued else nodes for name, nodes in self._reached.items()}
        """The same, without those of schedulers."""
        self._answered: set[str] = set()
        self._submissions = 0
        self._turns: dict[str, int] = {}
        """Trial that was submitted and has not ended → how many had been submitted before it."""
        self._failures: defaultdict[str, list[int]] = defaultdict(list)
        """Machine → the turns of the trials that failed since its last success."""
        self._left_out: set[str] = set()

    def take(self, event: Event) -> None:
        match event.event:
            case "state" if event.trial:
                configuration = trial_key(event.trial).configuration
                if event.state == State.SUBMITTED:  # which follows a check of all of them
                    self._answered.update(self._reached.get(configuration, {}).values())
                    self._turns[event.trial] = self._submissions
                    self._submissions += 1
                elif event.state and State(event.state).finished:
                    self._count_end(self._machines.get(configuration, {}), event)
            case "node_left_out":
                self._left_out.add(str(event.data.get("machine")))
            case "node_taken_back":
                machine = str(event.data.get("machine"))
                self._left_out.discard(machine)
                self._failures.pop(machine, None)

    def note_success(self, key: TrialKey) -> None:
        """Count a trial that has succeeded and is not archived yet, while its machines have the next one."""
        self._forget_failures(self._machines[key.configuration], self._turn(str(key)))

    def note_answer(self, key: TrialKey, node: str) -> None:
        self._answered.add(self._machine(key, node))

    def answered(self, key: TrialKey, node: str) -> bool:
        """Whether the machine has answered in this campaign."""
        return self._machine(key, node) in self._answered

    def _machine(self, key: TrialKey, node: str) -> str:
        # Under Slurm only the login node is reached, whatever the nodes of the job are called.
        nodes = self._reached[key.configuration]
        return nodes.get(node) or next(iter(nodes.values()))

    def _turn(self, trial: str) -> int:
        return self._turns.get(trial, self._submissions)

    def _count_end(self, machines: Mapping[str, str], event: Event) -> None:
        turn, blamed = self._turn(event.trial or ""), event.data.get("blamed", {})
        self._turns.pop(event.trial or "", None)
        if event.state == State.SUCCEEDED:
            self._forget_failures(machines, turn)
            return
        for node, machine in machines.items():
            if node in blamed:
                self._failures[machine].append(turn)

    def _forget_failures(self, machines: Mapping[str, str], turn: int) -> None:
        """Forget failures before a success, and none of a later trial that ended before the success was journaled."""
        for machine in machines.values():
            self._failures[machine] = [failed for failed in self._failures[machine] if failed > turn]

    def leave_out(self, trials: Mapping[TrialKey, TrialStatus], end: Event) -> list[Event]:
        """Return the events that leave out machines after one failure too many, and cancel what is planned on them."""
        machines = self._machines[trial_key(end.trial or "").configuration]
        out: list[Event] = []
        for node, why in end.data.get("blamed", {}).items():
            machine = machines.get(node)
            if machine is not None and (count := len(self._failures[machine]) + 1) >= MOST_FAILURES:
                cause = message("failed_in_a_row", count=count, why=Message.from_json(why))
                out.append(Event(end.time, "node_left_out", cause=cause, data={"node": node, "machine": machine}))
        return out + self._not_run(trials, out, end) if out else []

    def _not_run(self, trials: Mapping[TrialKey, TrialStatus], out: list[Event], end: Event) -> list[Event]:
        causes = {
            str(event.data["machine"]): message("machine_left_out", node=event.data["node"], cause=event.cause)
            for event in out
            if event.cause
        }
        follow = []
        for key, status in trials.items():
            machines = self._machines[key.configuration].values() if status.state is State.PLANNED else ()
            cause = next((causes[machine] for machine in machines if machine in causes), None)
            if cause:
                follow.append(Event(end.time, "state", str(key), State.CANCELLED, cause))
        return follow

    def restore_machines(self, events: Iterable[Event]) -> list[Event]:
        """Return the events that restore left-out machines which newly planned trials need."""
        planned = [event for event in events if event.event == "planned" and event.trial]
        names = {trial_key(event.trial or "").configuration for event in planned}
        wanted = {machine: node for name in names for node, machine in self._machines[name].items()}
        return [
            Event(planned[0].time, "node_taken_back", source="viewer", data={"node": node, "machine": machine})
            for machine, node in sorted(wanted.items())
            if machine in self._left_out
        ]


def abandoned_trials(paths: CampaignPaths, trials: Mapping[TrialKey, TrialStatus]) -> set[TrialKey]:
    """Return the trials that an engine which ended was checking, or had not archived after they were cancelled."""

    def is_abandoned(status: TrialStatus) -> bool:
        trial = paths.trial(status.key)
        if status.state is State.CANCELLED:
            return trial.directory.exists() and not trial.result.exists()
        return status.state is State.PLANNED and trial.directory.exists()

    return {key for key, status in trials.items() if is_abandoned(status)}


class EngineJournal(CampaignFold):
    """Write every state change and decision before it is acted on.

    Events that belong together are one append: a crash leaves all of them or none.
    """

    def __init__(self, paths: CampaignPaths, record: CampaignRecord) -> None:
        super().__init__(record)
        self._paths = paths
        self.reliability = Reliability(record.configurations)
        self.requests_read = 0
        """Bytes of ``control.jsonl`` that have been handled."""
        self.cancelling: set[TrialKey] = set()
        """Trials that were running when their cancellation was requested."""
        for event in read_records(paths.journal, Event)[0]:
            self.take(event)

    def write(self, *events: Event, durable: bool = True) -> None:
        """Append events and update the state.

        Args:
            durable: wait for the disk; an observation that a crash loses is made again.

        Raises:
            StorageError: the journal cannot be written.
        """
        append_records(self._paths.journal, events, durable)
        for event in events:
            self.take(event)

    def new_requests(self) -> list[tuple[Request, int]]:
        """Return what was asked since, each with the bytes that are handled after it.

        A file that cannot be read asks nothing, and a shorter one is another one.
        """
        with suppress(OSError, DlperfError):
            if size_of(self._paths.control) < self.requests_read:
                self.requests_read = 0
            requests, end = read_records(self._paths.control, Request, self.requests_read)
            return [(one, self.requests_read) for one in requests[:-1]] + [(one, end) for one in requests[-1:]]
        return []

    def note_silence(self, key: TrialKey, node: str, why: Message | None) -> None:
        """Journal that a node answers again (None) or why it does not, unless that is known."""
        if (why is None) == (node in self.unreachable):
            event = "node_reachable" if why is None else "node_unreachable"
            self.write(Event(utc_now(), event, str(key), cause=why, data={"node": node}))

    def note(self, cause: Message, key: TrialKey | None = None) -> None:
        self.write(Event(utc_now(), "note", str(key) if key else None, cause=cause))

    def take(self, event: Event) -> None:
        if event.event == "request":
            self.requests_read = int(event.data.get("offset", self.requests_read))
            if "refused" not in event.data:
                asked = Request(event.time, str(event.data.get("action")), event.trial)
                with suppress(RequestError):  # a line that names no trial of this campaign
                    self.cancelling.update(trials_to_cancel(asked, self.trials))
        super().take(event)
        with suppress(ValueError):  # the same
            self.reliability.take(event)
