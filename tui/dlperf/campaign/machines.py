"""Which trials may run side by side: one on a machine at a time, as many as asked for under Slurm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlperf.nodes.transport import Machine
from dlperf.plan import PlannedConfiguration


@dataclass(frozen=True)
class Demand:
    """What a trial takes of one machine while it runs."""

    machine: str
    amount: int = 1
    capacity: int = 1
    """What the machine has: 1, or the nodes that may be asked of a Slurm cluster at once."""


def demands_of(planned: PlannedConfiguration) -> tuple[Demand, ...]:
    """The machines that a trial of this configuration takes; two nodes that share a machine's GPUs are one machine."""
    launch = planned.launch
    if launch.executor == "slurm":
        nodes = planned.configuration.nodes
        capacity = max(nodes, int((launch.slurm or {}).get("max_nodes") or nodes))
        return (Demand(f"slurm at {Machine.of(launch.nodes[0])}", nodes, capacity),)
    return tuple(Demand(machine) for machine in sorted({str(Machine.of(node)) for node in launch.nodes}))


class Machines:
    """What is taken now, and since when the rest is free. Times are seconds of a monotonic clock."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}
        self._rests_until: dict[str, float] = {}

    def free(self, demands: Sequence[Demand]) -> bool:
        """Whether nothing else has what is asked for."""
        return all(self._taken.get(item.machine, 0) + item.amount <= item.capacity for item in demands)

    def rested_at(self, demands: Sequence[Demand]) -> float:
        """When the pause after the last trial there is over."""
        return max((self._rests_until.get(item.machine, 0.0) for item in demands), default=0.0)

    def take(self, demands: Sequence[Demand]) -> None:
        """A trial begins there."""
        for item in demands:
            self._taken[item.machine] = self._taken.get(item.machine, 0) + item.amount

    def release(self, demands: Sequence[Demand], rests_until: float) -> None:
        """A trial ended there; the next one waits until then."""
        for item in demands:
            self._taken[item.machine] -= item.amount
            self._rests_until[item.machine] = max(rests_until, self._rests_until.get(item.machine, 0.0))
