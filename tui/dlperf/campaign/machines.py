"""Which trials may run at the same time: one on a machine, as many as configured under a scheduler."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from dlperf.executors.batch.jobs import nodes_at_once
from dlperf.nodes.transport import Machine
from dlperf.plan import PlannedConfiguration, TrialKey
from dlperf.runs.records import State, TrialStatus


@dataclass(frozen=True)
class Demand:
    """What a trial occupies of one machine while it runs."""

    machine: str
    amount: int = 1
    capacity: int = 1
    """1, or the nodes that may be requested from a cluster at the same time."""


def demands_of(planned: PlannedConfiguration) -> tuple[Demand, ...]:
    """Return the machines that a trial occupies; two nodes on one machine count once."""
    launch = planned.launch
    if launch.queued:
        machine = f"{launch.executor} at {Machine.of(launch.nodes[0])}"
        return (Demand(machine, planned.configuration.nodes, nodes_at_once(launch)),)
    return tuple(Demand(machine) for machine in sorted({str(Machine.of(node)) for node in launch.nodes}))


def demands_on(planned: PlannedConfiguration, nodes: Collection[str]) -> tuple[Demand, ...]:
    """Return what a trial occupies of the machines of some of its nodes; all of it where a scheduler has the nodes."""
    if planned.launch.queued:
        return demands_of(planned)
    machines = {str(Machine.of(node)) for node in planned.launch.nodes if node.name in nodes}
    return tuple(item for item in demands_of(planned) if item.machine in machines)


class Machines:
    """Occupied machines, and when free ones may be used again (seconds of a monotonic clock)."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}
        self._rests_until: dict[str, float] = {}
        self._claims: dict[TrialKey, Sequence[Demand]] = {}
        """Waiting trials → machines that they gave up and need again, in the order of the claims."""

    def free(self, demands: Sequence[Demand]) -> bool:
        """Whether the machines have room and no waiting trial claims them."""
        return self._has_room(demands) and not _overlap(demands, self._claims.values())

    def reclaim(self, key: TrialKey, demands: Sequence[Demand], now: float) -> bool:
        """Take machines that a waiting trial gave up, or keep them from others until they are free.

        A trial waits only for those that took its machines after it: two never wait for each other.
        """
        self._claims.setdefault(key, demands)
        earlier = [self._claims[other] for other in takewhile(lambda other: other != key, self._claims)]
        if _overlap(demands, earlier) or not self._has_room(demands) or self.rested_at(demands) > now:
            return False
        self.withdraw(key)
        self.take(demands)
        return True

    def withdraw(self, key: TrialKey) -> None:
        """Drop the claim of a trial, if it has one."""
        self._claims.pop(key, None)

    def _has_room(self, demands: Sequence[Demand]) -> bool:
        return all(self._taken.get(item.machine, 0) + item.amount <= item.capacity for item in demands)

    def rested_at(self, demands: Sequence[Demand]) -> float:
        """Return when the pause after the last trial ends."""
        return max((self._rests_until.get(item.machine, 0.0) for item in demands), default=0.0)

    def take(self, demands: Sequence[Demand]) -> None:
        for item in demands:
            self._taken[item.machine] = self._taken.get(item.machine, 0) + item.amount

    def release(self, demands: Sequence[Demand], rests_until: float) -> None:
        for item in demands:
            self._taken[item.machine] -= item.amount
            self._rests_until[item.machine] = max(rests_until, self._rests_until.get(item.machine, 0.0))


def _overlap(demands: Iterable[Demand], claims: Iterable[Iterable[Demand]]) -> bool:
    claimed = {item.machine for claim in claims for item in claim}
    return any(item.machine in claimed for item in demands)


def array_numbers(
    planned: PlannedConfiguration, key: TrialKey, trials: Mapping[TrialKey, TrialStatus]
) -> tuple[int, ...]:
    """Return the numbers of the trials in one Slurm job array with this one; empty for a job of its own.

    The array holds what is still planned when its first trial is submitted. A retry is a job of its own.
    """
    if not (planned.launch.queue or {}).get("array") or key.number > planned.rounds:
        return ()
    like = (State.PLANNED,) if trials[key].state is State.PLANNED else (State.SUBMITTED, State.RUNNING)
    keys = [TrialKey(key.configuration, number) for number in range(1, planned.rounds + 1)]
    return tuple(item.number for item in keys if trials[item].state in like)
